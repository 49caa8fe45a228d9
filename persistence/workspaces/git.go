package workspaces

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
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
		return nil, code.ErrMissing
	}
	c, err := object.GetCommit(g.st, plumbing.NewHash(tree))
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, code.ErrMissing
	}
	if err != nil {
		return nil, unreadable("commit", err)
	}
	return c, nil
}

// unreadable is the error of an object that a commit refers to, so it must be
// there and be whole. What the operating system refuses is no damage.
func unreadable(what string, err error) error {
	var refused syscall.Errno
	if errors.As(err, &refused) && refused != syscall.ENOENT && refused != syscall.EIO {
		return fmt.Errorf("read %s: %w", what, err)
	}
	return fmt.Errorf("%w: read %s: %w", ErrDamaged, what, err)
}

func (g *repository) files(name string) (map[string]entry, error) {
	c, err := g.commit(name)
	if err != nil {
		return nil, err
	}
	t, err := c.Tree()
	if err != nil {
		return nil, unreadable("tree", err)
	}
	out := map[string]entry{}
	return out, walk(t, func(path string, e object.TreeEntry) error {
		size, err := g.st.EncodedObjectSize(e.Hash)
		if err != nil {
			return unreadable("size of "+path, err)
		}
		mode, _ := tree.ModeOf(e.Mode)
		out[path] = entry{Size: size, Ref: e.Hash.String(), Mode: mode, Sum: e.Hash.String()}
		return nil
	})
}

// walk calls fn for every plain file of a tree.
func walk(t *object.Tree, fn func(name string, e object.TreeEntry) error) error {
	w := object.NewTreeWalker(t, true, nil)
	defer w.Close()
	for {
		name, e, err := w.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return unreadable("tree", err)
		}
		if _, plain := tree.ModeOf(e.Mode); !plain {
			continue
		}
		if err := fn(name, e); err != nil {
			return err
		}
	}
}

func (g *repository) read(name, path string) (content []byte, mode code.Mode, err error) {
	c, err := g.commit(name)
	if err != nil {
		return nil, mode, err
	}
	t, err := c.Tree()
	if err != nil {
		return nil, mode, unreadable("tree", err)
	}
	e, err := t.FindEntry(path)
	if err != nil {
		// Either there is no such file, or a folder above it cannot be read: a walk
		// through all folders tells.
		return nil, mode, cmp.Or(walk(t, func(string, object.TreeEntry) error { return nil }), error(code.ErrNotFound))
	}
	mode, plain := tree.ModeOf(e.Mode)
	if !plain {
		return nil, mode, code.ErrNotFound
	}
	content, err = g.blob(e.Hash)
	return content, mode, err
}

func (g *repository) blob(h plumbing.Hash) ([]byte, error) {
	b, err := object.GetBlob(g.st, h)
	if err != nil {
		return nil, unreadable("blob", err)
	}
	if b.Size > maxFile {
		return nil, code.ErrNotFound
	}
	r, err := b.Reader()
	if err != nil {
		return nil, unreadable("blob", err)
	}
	defer r.Close()
	content, err := io.ReadAll(io.LimitReader(r, maxFile))
	if err != nil {
		return nil, unreadable("blob", err)
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
	path := g.object(h)
	if _, err := os.Lstat(path); err == nil {
		if sound(path, h) {
			// Whoever wrote it may have crashed before it was on disk.
			return h, g.keep(h)
		}
		// A damaged one does not stand in for what was sent. It is kept aside: the
		// library writes no object whose name is taken.
		if err := os.Rename(path, filepath.Join(g.dir, damagedPrefix+random())); err != nil {
			return h, fmt.Errorf("set a damaged object aside: %w", err)
		}
	}
	return g.st.SetEncodedObject(o)
}

// damagedPrefix begins the names of objects that were damaged when their content
// was written again.
const damagedPrefix = "damaged-"

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
