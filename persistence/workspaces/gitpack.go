package workspaces

import (
	"fmt"
	"path"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

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
	names, err := h.g.reachable(tips)
	if err != nil {
		return err
	}
	for _, name := range names {
		content, err := h.g.root.ReadFile(path.Join(gitFolder, objectAt(name)))
		if err != nil {
			return fmt.Errorf("read object: %w", err)
		}
		if err := fn(name, content); err != nil {
			return err
		}
	}
	return nil
}
