package code

// ObjectKind is the kind of an object of a Git repository, with the numbers that Git's packs
// have for them.
type ObjectKind uint8

// The kinds that a repository of a workspace has.
const (
	CommitObject ObjectKind = 1
	TreeObject   ObjectKind = 2
	BlobObject   ObjectKind = 3
)

// String is the kind as Git writes it before the content that it hashes.
func (k ObjectKind) String() string {
	switch k {
	case CommitObject:
		return "commit"
	case TreeObject:
		return "tree"
	}
	return "blob"
}

// Object is an object of a Git repository: its name is the hash of its content.
type Object struct {
	Kind    ObjectKind
	Name    string
	Content []byte
}

// Repository reads the Git objects of a workspace. For one goroutine, which closes it.
type Repository interface {
	// Files calls fn with the trees of a commit and the blobs in them, each once, blobs
	// without their content.
	Files(commit string, fn func(Object) error) error
	// Blob returns the content of a blob that Files returned.
	Blob(name string) ([]byte, error)
	// Find looks for an object in the history of commits; ok is false when there is none.
	Find(name string, commits []string) (o Object, ok bool, err error)
	Close() error
}

// Objects are Git objects that came from elsewhere, and are what their names say.
type Objects interface {
	// Stat describes one; ok is false when it did not come.
	Stat(name string) (kind ObjectKind, size int64, ok bool)
	// Content returns the content of one that came.
	Content(name string) ([]byte, error)
}
