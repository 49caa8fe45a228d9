package code

// ObjectKind is the kind of a Git object, numbered as in Git's pack files.
type ObjectKind uint8

// Kinds in a workspace's repository.
const (
	CommitObject ObjectKind = 1
	TreeObject   ObjectKind = 2
	BlobObject   ObjectKind = 3
)

// String returns the kind as it appears in the header that Git hashes together with the content.
func (k ObjectKind) String() string {
	switch k {
	case CommitObject:
		return "commit"
	case TreeObject:
		return "tree"
	}
	return "blob"
}

// Object is a Git object. Its name is the hash of its header and content.
type Object struct {
	Kind    ObjectKind
	Name    string
	Content []byte
}

// Repository reads the Git objects of a workspace. It is used by a single goroutine, which must
// close it.
type Repository interface {
	// Files calls fn once for each tree and each blob of a commit. It passes blobs without their
	// content.
	Files(commit string, fn func(Object) error) error
	// Blob returns the content of a blob that Files has passed to fn.
	Blob(name string) ([]byte, error)
	// Find looks for an object in the history of the given commits; ok is false if it is missing.
	Find(name string, commits []string) (o Object, ok bool, err error)
	Close() error
}

// Objects gives access to received Git objects, for example those of a push. They are not read from
// the repository. Each object's name was verified against its content.
type Objects interface {
	// Stat describes an object; ok is false if it is missing.
	Stat(name string) (kind ObjectKind, size int64, ok bool)
	// Content returns the content of an object.
	Content(name string) ([]byte, error)
}
