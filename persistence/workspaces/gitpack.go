package workspaces

import (
	"fmt"
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/revlist"

	"atelier/actors/code"
	"atelier/persistence/internal/tree"
)

// pack writes the first head checked out, and the repository beside: every
// head, and the objects they need and no others.
func (g *repository) pack(to *tree.Packer, heads []code.Head) error {
	return to.Repository(history{g}, heads)
}

// history is a repository as it is packed.
type history struct{ g *repository }

func (h history) Commit(name string) (*object.Commit, error)    { return h.g.commit(name) }
func (h history) Files(commit string) (map[string]entry, error) { return h.g.files(commit) }
func (h history) Blob(blob plumbing.Hash) ([]byte, error)       { return h.g.blob(blob) }

// Objects gives what the tips need, as it lies on disk.
func (h history) Objects(tips []plumbing.Hash, fn func(name string, content []byte) error) error {
	hashes, err := revlist.Objects(h.g.st, tips, nil)
	if err != nil {
		return fmt.Errorf("list objects: %w", err)
	}
	names := make([]string, len(hashes))
	for i, o := range hashes {
		names[i] = o.String()
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		at := path.Join("objects", name[:2], name[2:])
		content, err := h.g.root.ReadFile(path.Join(gitFolder, at))
		if err != nil {
			return fmt.Errorf("read object: %w", err)
		}
		if err := fn(name, content); err != nil {
			return err
		}
	}
	return nil
}
