package workspaces

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"atelier/actors/code"
	"atelier/persistence/internal/tree"
)

// gitFolder holds the repository in the folder of a workspace.
const gitFolder = "repository"

// repository keeps trees as commits.
type repository struct {
	root   *os.Root
	dir    string // of the repository
	st     *filesystem.Storage
	syncer syncer
}

func storage(dir string, syncer syncer) *filesystem.Storage {
	return filesystem.NewStorage(newSyncFS(filepath.Join(dir, gitFolder), syncer), cache.NewObjectLRU(4<<20))
}

// initRepository makes an empty repository whose branch is main.
func initRepository(dir string, syncer syncer) error {
	if err := os.Mkdir(filepath.Join(dir, gitFolder), 0o700); err != nil {
		return err
	}
	st := storage(dir, syncer)
	if err := st.Init(); err != nil {
		return err
	}
	if err := st.SetConfig(config.NewConfig()); err != nil {
		return err
	}
	return st.SetReference(plumbing.NewSymbolicReference(plumbing.HEAD, plumbing.NewBranchReferenceName("main")))
}

func openRepository(dir string, root *os.Root, syncer syncer) *repository {
	return &repository{root, filepath.Join(dir, gitFolder), storage(dir, syncer), syncer}
}

func (g *repository) close() error { return g.root.Close() }

func (g *repository) commit(tree string) (*object.Commit, error) {
	if !plumbing.IsHash(tree) {
		return nil, code.ErrNotFound
	}
	c, err := object.GetCommit(g.st, plumbing.NewHash(tree))
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, code.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read commit: %w", err)
	}
	return c, nil
}

func (g *repository) files(tree string) (map[string]entry, error) {
	c, err := g.commit(tree)
	if err != nil {
		return nil, err
	}
	t, err := c.Tree()
	if err != nil {
		return nil, fmt.Errorf("read tree: %w", err)
	}
	out := map[string]entry{}
	walk := object.NewTreeWalker(t, true, nil)
	defer walk.Close()
	for {
		name, e, err := walk.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read tree: %w", err)
		}
		if e.Mode != filemode.Regular {
			continue
		}
		size, err := g.st.EncodedObjectSize(e.Hash)
		if err != nil {
			return nil, fmt.Errorf("read size: %w", err)
		}
		out[name] = entry{Size: size, Ref: e.Hash.String()}
	}
}

func (g *repository) read(tree, path string) ([]byte, error) {
	c, err := g.commit(tree)
	if err != nil {
		return nil, err
	}
	t, err := c.Tree()
	if err != nil {
		return nil, fmt.Errorf("read tree: %w", err)
	}
	e, err := t.FindEntry(path)
	if err != nil || e.Mode != filemode.Regular {
		return nil, code.ErrNotFound
	}
	return g.blob(e.Hash)
}

func (g *repository) blob(h plumbing.Hash) ([]byte, error) {
	// Whoever asks has it from a tree, so it must be there and be whole.
	b, err := object.GetBlob(g.st, h)
	if err != nil {
		return nil, fmt.Errorf("%w: read blob: %w", ErrDamaged, err)
	}
	if b.Size > maxFile {
		return nil, code.ErrNotFound
	}
	r, err := b.Reader()
	if err != nil {
		return nil, fmt.Errorf("%w: read blob: %w", ErrDamaged, err)
	}
	defer r.Close()
	content, err := io.ReadAll(io.LimitReader(r, maxFile))
	if err != nil {
		return nil, fmt.Errorf("%w: read blob: %w", ErrDamaged, err)
	}
	if plumbing.ComputeHash(plumbing.BlobObject, content) != h {
		return nil, fmt.Errorf("%w: blob %s", ErrDamaged, h)
	}
	return content, nil
}

// store writes an object, unless it is there.
func (g *repository) store(kind plumbing.ObjectType, encode func(plumbing.EncodedObject) error) (plumbing.Hash, error) {
	o := g.st.NewEncodedObject()
	o.SetType(kind)
	if err := encode(o); err != nil {
		return plumbing.ZeroHash, err
	}
	h := o.Hash()
	if g.st.HasEncodedObject(h) == nil {
		// Whoever wrote it may have crashed before it was on disk.
		return h, g.keep(h)
	}
	return g.st.SetEncodedObject(o)
}

// keep makes an object last that is there.
func (g *repository) keep(h plumbing.Hash) error {
	path := g.object(h)
	if err := g.syncer.sync(path); err != nil {
		return err
	}
	folder := filepath.Dir(path)
	return errors.Join(g.syncer.sync(folder), g.syncer.sync(filepath.Dir(folder)))
}

// object is where an object lies: they are never packed.
func (g *repository) object(h plumbing.Hash) string {
	name := h.String()
	return filepath.Join(g.dir, "objects", name[:2], name[2:])
}

// write makes a commit. One that would change nothing is the one before.
func (g *repository) write(base string, files map[string]entry, c code.Change) (string, error) {
	var parent *object.Commit
	if base != "" {
		var err error
		if parent, err = g.commit(base); err != nil {
			return "", err
		}
	}
	h, err := tree.WriteCommit(g.store, parent, files, c)
	if err != nil {
		return "", err
	}
	return h.String(), nil
}

// branchFolder holds a file for each branch.
var branchFolder = filepath.Join(gitFolder, "refs", "heads")

// publish makes the branches those that count. Each is written beside and
// renamed, so that whoever copies the repository meanwhile finds the old one
// or the new.
func (g *repository) publish(heads []code.Head) error {
	dir, err := g.root.Open(branchFolder)
	if err != nil {
		return fmt.Errorf("read branches: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("read branches: %w", err)
	}
	want := map[string]string{}
	for _, h := range heads {
		want[h.Name] = h.Tree + "\n"
	}
	for _, name := range names {
		if want[name] == "" {
			if err := g.root.RemoveAll(filepath.Join(branchFolder, name)); err != nil {
				return fmt.Errorf("remove branch: %w", err)
			}
		}
	}
	for name, text := range want {
		if have, err := g.root.ReadFile(filepath.Join(branchFolder, name)); err == nil && string(have) == text {
			continue
		}
		if err := g.setBranch(name, text); err != nil {
			return fmt.Errorf("write branch: %w", err)
		}
	}
	if err := dir.Sync(); err != nil {
		return fmt.Errorf("write branches: %w", err)
	}
	return nil
}

func (g *repository) setBranch(name, text string) error {
	temp := filepath.Join(gitFolder, tempPrefix+random())
	f, err := g.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = g.root.Rename(temp, filepath.Join(branchFolder, name))
	}
	if err != nil {
		_ = g.root.Remove(temp)
	}
	return err
}
