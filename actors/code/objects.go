package code

// ObjectKind is the kind of a Git object, with its number in Git's packs.
type ObjectKind uint8

// Kinds in a workspace's repository.
const (
	CommitObject ObjectKind = 1
	TreeObject   ObjectKind = 2
	BlobObject   ObjectKind = 3
)

// String returns the kind as in the header that Git hashes with the content.
func (k ObjectKind) String() string {
	switch k {
	case CommitObject:
		return "commit"
	case TreeObject:
		return "tree"
	}
	return "blob"
}

// Object is a Git object, named by the hash of its content.
type Object struct {
	Kind    ObjectKind
	Name    string
	Content []byte
}

// Repository reads the Git objects of a workspace, for one goroutine, which closes it.
type Repository interface {
	// Files calls fn with the trees of a commit and the blobs in them, each once, blobs
	// without their content.
	Files(commit string, fn func(Object) error) error
	// Blob returns the content of a blob that Files returned.
	Blob(name string) ([]byte, error)
	// Find looks for an object in the history of commits; ok is false if it is missing.
	Find(name string, commits []string) (o Object, ok bool, err error)
	Close() error
}

// Objects are Git objects from elsewhere, whose names match their contents.
type Objects interface {
	// Stat describes an object; ok is false if it is missing.
	Stat(name string) (kind ObjectKind, size int64, ok bool)
	// Content returns the content of an object.
	Content(name string) ([]byte, error)
}
