package code

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
	"unicode/utf8"
)

// Bounds of a tree: the number of its files, the bytes of a file, and the bytes of all files
// together.
const (
	MaxFiles = 2_000
	MaxFile  = 8 << 20
	MaxTree  = 64 << 20
)

// ErrNotFound means that the workspace, tree or file does not exist.
var ErrNotFound = errors.New("not found")

// ErrMissing is the ErrNotFound for a workspace or tree. A recorded tree is always stored, so this
// error means damage if the caller has a record of the tree.
var ErrMissing = fmt.Errorf("%w: the workspace or tree is not stored", ErrNotFound)

// Kind is the way in which a workspace stores its trees.
type Kind string

// The kinds.
const (
	Git   Kind = "git"
	Plain Kind = "plain"
)

// Head is a name and the tree that the name refers to.
type Head struct{ Name, Tree string }

// Recorded is a workspace as recorded by its codelab.
type Recorded struct {
	Kind  Kind
	Heads []Head
}

// Mode states whether a file can be executed.
type Mode uint8

// Modes. A file written with KeptMode keeps its current mode; a new file becomes regular.
const (
	KeptMode Mode = iota
	Regular
	Executable
)

// String returns the mode in Git's notation.
func (m Mode) String() string {
	if m == Executable {
		return "100755"
	}
	return "100644"
}

// File is a file to be written.
type File struct {
	Path    string
	Content []byte
	Mode    Mode
}

// Info describes a stored file.
type Info struct {
	Path   string
	Mode   Mode // Regular or Executable
	Size   int64
	Binary bool // as reported by the function Binary
}

// Binary reports whether content is not text, because it contains a NUL or is not valid UTF-8.
func Binary(content []byte) bool { return bytes.IndexByte(content, 0) >= 0 || !utf8.Valid(content) }

// Archive is an archive format.
type Archive uint8

// The archives.
const (
	TarGz Archive = iota
	Zip
)

// Change describes how a tree is created from another tree. Files are first removed, then written.
type Change struct {
	Write  []File
	Delete []string
	// Replace removes all files that are not written.
	Replace bool
	// Message and Author describe the change, if the workspace's kind stores them.
	Message, Author string
	At              time.Time
}

// Store stores workspaces' trees, on a disk or elsewhere. An error whose text is meant for the
// caller is a *Problem, or wraps ErrNotFound without wrapping ErrMissing. Safe for concurrent use.
type Store interface {
	// Lock is for writing and publishing, RLock for reading published trees. Both take a key chosen
	// by the caller. A caller must not hold two locks. Instead, LockReading combines Lock of one
	// key with RLock of another.
	Lock(key string) (unlock func())
	RLock(key string) (unlock func())
	LockReading(key, read string) (unlock func())

	// Make creates an empty workspace.
	Make(id string, kind Kind) error
	// Copy creates a workspace with the heads of another workspace and their trees, and publishes
	// the heads. The new workspace is stored when Copy returns, and removing either workspace
	// leaves the other intact. The caller holds RLock of the other workspace.
	Copy(from, to string, kind Kind, heads []Head) error
	// Remove removes a workspace, if it exists.
	Remove(id string)
	// Write creates a tree from a change to another tree, or to an empty tree. The new tree is
	// stored when Write returns. The caller holds the lock.
	Write(id string, kind Kind, base string, c Change) (tree string, err error)
	// Publish sets the current trees and their names. The caller holds the lock.
	Publish(id string, kind Kind, heads []Head) error

	// List returns the paths of a tree's files, sorted.
	List(id string, kind Kind, tree string) (paths []string, err error)
	// Describe describes the files of a tree, sorted by path.
	Describe(id string, kind Kind, tree string) (files []Info, err error)
	// Read returns one file of a tree, and its description.
	Read(id string, kind Kind, tree, path string) (content []byte, about Info, err error)
	// Pack returns a workspace as tar.gz, and its size in bytes. The archive of a Git workspace
	// contains the first head's files and the repository itself. The archive of a plain one
	// contains one folder per head. The parameter at is the date of the files in the archive. In a
	// Git workspace, it is the date of the latest commit of the heads, if that is later. The caller
	// holds RLock, and closes content.
	Pack(id string, kind Kind, heads []Head, at time.Time) (content io.ReadCloser, size int64, err error)
	// PackTree returns the files of one tree as an archive, and the archive's size in bytes. The
	// parameter at is the date of the files. The caller holds RLock, and closes content.
	PackTree(id string, kind Kind, tree string, how Archive, at time.Time) (content io.ReadCloser, size int64, err error)

	// Commit returns a commit of a repository in Git's format. The caller must not
	// modify content.
	Commit(id, tree string) (content []byte, err error)
	// Repository opens the Git objects of a workspace. The caller holds RLock while the Repository
	// is open.
	Repository(id string) (Repository, error)
	// Receive stores the commits in tips and their ancestors, except those already stored, and
	// returns the number of commits that it stored. from contains the received objects. Trees and
	// files that from lacks are looked up in the history of the commits in heads, which are the
	// current ones, and of the stored parents. If err is nil, everything is stored; after a
	// *Problem, nothing is. The caller holds the lock.
	Receive(id string, heads, tips []string, from Objects) (commits int, err error)
	// Scratch creates a temporary file on this node. Closing the file removes it.
	Scratch() (*os.File, error)
}
