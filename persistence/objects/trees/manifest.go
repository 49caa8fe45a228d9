package trees

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"regexp"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"atelier/actors/code"
	"atelier/actors/durable"
)

const (
	firstLine = "atelier-tree 1 %08d %x\n"
	lineBytes = int64(len("atelier-tree 1 00000000 \n") + 2*sha256.Size)
	// maxManifest bounds a manifest, in bytes. The maximum number of files with the longest paths
	// needs half of this size.
	maxManifest = 16 << 20
	// maxBundles is the maximum number of trees to which a commit can refer.
	maxBundles = 1 << 16
)

var (
	idForm   = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	treeForm = map[code.Kind]*regexp.Regexp{code.Git: regexp.MustCompile(`^[0-9a-f]{40}$`), code.Plain: regexp.MustCompile(`^[0-9a-f]{32}$`)}
)

// manifest lists the contents of a tree. It is immutable once it has been read or written.
type manifest struct {
	Kind code.Kind `json:"kind"`
	Tree string    `json:"tree"`
	// Commit is the commit's Git object. Only repositories have it.
	Commit []byte `json:"commit,omitempty"`
	// Bundles lists the other trees whose objects contain files of this tree.
	Bundles []bundle `json:"bundles,omitempty"`
	Files   []file   `json:"files"` // sorted by path

	start  int64 // offset of the contents in the tree's object
	byPath map[string]*file
}

// bundle is another tree, and the offset of the contents in its object.
type bundle struct {
	Tree  string `json:"tree"`
	Start int64  `json:"start"`
}

type file struct {
	Path string `json:"path"`
	Sum  string `json:"sum"`           // SHA-256
	Git  string `json:"git,omitempty"` // hash of the blob, in a repository
	Size int64  `json:"size"`
	In   int    `json:"in,omitempty"` // 0 means this tree's object, otherwise Bundles[In-1]
	At   int64  `json:"at"`           // offset from the beginning of the object's contents
	// Executable is the executable bit of the file mode.
	Executable bool `json:"executable,omitempty"`
	// Form is textForm or binaryForm.
	Form string `json:"form"`
}

const (
	textForm   = "text"
	binaryForm = "binary"
)

func (f *file) mode() code.Mode {
	if f.Executable {
		return code.Executable
	}
	return code.Regular
}

func damaged(what string, args ...any) error {
	return fmt.Errorf("%w: tree: %s", durable.ErrCorrupt, fmt.Sprintf(what, args...))
}

// encode returns the manifest as it appears at the beginning of the tree's object.
func (m *manifest) encode() ([]byte, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	if len(b) > maxManifest {
		return nil, code.Fault("the paths of the files are too long in total")
	}
	head := fmt.Appendf(nil, firstLine, len(b), sha256.Sum256(b))
	m.start = int64(len(head) + len(b))
	m.index()
	return append(head, b...), nil
}

func (m *manifest) index() {
	m.byPath = make(map[string]*file, len(m.Files))
	for i := range m.Files {
		m.byPath[m.Files[i].Path] = &m.Files[i]
	}
}

// lengthOf parses the length and the hash of the manifest in the first line.
func lengthOf(b []byte) (n int64, sum [sha256.Size]byte, err error) {
	if int64(len(b)) < lineBytes {
		return 0, sum, damaged("the object is truncated")
	}
	var text []byte
	if _, err := fmt.Sscanf(string(b[:lineBytes]), "atelier-tree 1 %08d %x\n", &n, &text); err != nil || len(text) != len(sum) || n < 0 || n > maxManifest {
		return 0, sum, damaged("the object has no first line")
	}
	return n, [sha256.Size]byte(text), nil
}

// decode decodes the manifest of the tree called name, and verifies that it belongs to this tree.
func decode(b []byte, sum [sha256.Size]byte, kind code.Kind, name string) (*manifest, error) {
	if sha256.Sum256(b) != sum {
		return nil, damaged("the manifest of %s does not match its hash", name)
	}
	m := &manifest{start: lineBytes + int64(len(b))}
	if err := json.Unmarshal(b, m); err != nil {
		return nil, damaged("the manifest of %s is malformed", name)
	}
	if m.Kind != kind || m.Tree != name || len(m.Files) > code.MaxFiles || len(m.Bundles) > maxBundles {
		return nil, damaged("the manifest of %s belongs to another tree", name)
	}
	for _, o := range m.Bundles {
		if !treeForm[kind].MatchString(o.Tree) || o.Start < lineBytes || o.Start > lineBytes+maxManifest {
			return nil, damaged("the manifest of %s has an invalid reference", name)
		}
	}
	for i, f := range m.Files {
		if code.CheckPath(f.Path) != nil || i > 0 && m.Files[i-1].Path >= f.Path || f.Size < 0 || f.Size > maxFile ||
			f.In < 0 || f.In > len(m.Bundles) || f.At < 0 || f.At > maxWorkspace {
			return nil, damaged("the manifest of %s has an invalid file %d", name, i)
		}
	}
	m.index()
	if kind == code.Git {
		return m, m.checkCommit()
	}
	return m, nil
}

// checkCommit verifies a commit's manifest against the commit's hash.
func (m *manifest) checkCommit() error {
	c, err := m.commit()
	if err != nil {
		return err
	}
	top, err := writeTrees(hashOnly, m.entries())
	if err != nil || top != c.TreeHash {
		return damaged("the files in the manifest of %s differ from the files of the commit", m.Tree)
	}
	return nil
}

func (m *manifest) commit() (*object.Commit, error) {
	o := &plumbing.MemoryObject{}
	o.SetType(plumbing.CommitObject)
	_, _ = o.Write(m.Commit) // Write to memory never fails
	c := &object.Commit{}
	if o.Hash().String() != m.Tree || c.Decode(o) != nil {
		return nil, damaged("%s has no commit", m.Tree)
	}
	return c, nil
}

// hashOnly computes the hash of a Git object without storing the object.
func hashOnly(kind plumbing.ObjectType, encode func(plumbing.EncodedObject) error) (plumbing.Hash, error) {
	h, _, err := encoded(kind, encode)
	return h, err
}

// encoded returns a Git object as bytes, with its hash.
func encoded(kind plumbing.ObjectType, encode func(plumbing.EncodedObject) error) (plumbing.Hash, []byte, error) {
	o := &plumbing.MemoryObject{}
	o.SetType(kind)
	if err := encode(o); err != nil {
		return plumbing.ZeroHash, nil, err
	}
	r, err := o.Reader()
	if err != nil {
		return plumbing.ZeroHash, nil, err
	}
	content, err := io.ReadAll(r)
	return o.Hash(), content, err
}

// entries returns the files as input for apply. Each Ref identifies the content: by the hash of its
// blob in a repository, otherwise by its path.
func (m *manifest) entries() map[string]entry {
	out := make(map[string]entry, len(m.Files))
	for _, f := range m.Files {
		e := entry{Size: f.Size, Ref: f.Path, Mode: f.mode(), Sum: f.Sum}
		if m.Kind == code.Git {
			e.Ref = f.Git
		}
		out[f.Path] = e
	}
	return out
}

// bundleOf returns the object that contains the content of a file.
func (m *manifest) bundleOf(f *file) bundle {
	if f.In == 0 {
		return bundle{m.Tree, m.start}
	}
	return m.Bundles[f.In-1]
}

// check compares content with the size and hash in the manifest.
func (m *manifest) check(f *file, content []byte) error {
	if int64(len(content)) != f.Size || sumOf(content) != f.Sum || m.Kind == code.Git && plumbing.ComputeHash(plumbing.BlobObject, content).String() != f.Git {
		return damaged("%s of %s differs from the written file", f.Path, m.Tree)
	}
	return nil
}

// sumOf returns the SHA-256 of content in hexadecimal.
func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
