package workspaces

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"atelier/actors/code"
)

// gitFolder holds the repository in the folder of a workspace.
const gitFolder = "repository"

// authorMail stands in commits: who made them has no address here.
const authorMail = "facilitator@atelier.invalid"

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
		out[name] = entry{size: size, ref: e.Hash.String()}
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
	top := &folder{}
	for path, e := range files {
		h := plumbing.NewHash(e.ref)
		if e.ref == "" {
			var err error
			h, err = g.store(plumbing.BlobObject, func(o plumbing.EncodedObject) error {
				w, err := o.Writer()
				if err != nil {
					return err
				}
				_, err = w.Write(e.content)
				return errors.Join(err, w.Close())
			})
			if err != nil {
				return "", fmt.Errorf("write blob: %w", err)
			}
		}
		top.add(strings.Split(path, "/"), h)
	}
	tree, err := g.writeFolder(top)
	if err != nil {
		return "", fmt.Errorf("write tree: %w", err)
	}
	who := object.Signature{Name: oneLine(c.Author, "Facilitator"), Email: authorMail, When: c.At.UTC()}
	commit := &object.Commit{Author: who, Committer: who, Message: c.Message, TreeHash: tree}
	if base != "" {
		parent, err := g.commit(base)
		if err != nil {
			return "", err
		}
		if parent.TreeHash == tree {
			return base, nil
		}
		commit.ParentHashes = []plumbing.Hash{parent.Hash}
	}
	h, err := g.store(plumbing.CommitObject, commit.Encode)
	if err != nil {
		return "", fmt.Errorf("write commit: %w", err)
	}
	return h.String(), nil
}

// folder is a folder of a tree that is being made.
type folder struct {
	files   map[string]plumbing.Hash
	folders map[string]*folder
}

func (f *folder) add(path []string, h plumbing.Hash) {
	if len(path) == 1 {
		if f.files == nil {
			f.files = map[string]plumbing.Hash{}
		}
		f.files[path[0]] = h
		return
	}
	if f.folders == nil {
		f.folders = map[string]*folder{}
	}
	sub := f.folders[path[0]]
	if sub == nil {
		sub = &folder{}
		f.folders[path[0]] = sub
	}
	sub.add(path[1:], h)
}

func (g *repository) writeFolder(f *folder) (plumbing.Hash, error) {
	t := &object.Tree{}
	for name, h := range f.files {
		t.Entries = append(t.Entries, object.TreeEntry{Name: name, Mode: filemode.Regular, Hash: h})
	}
	for name, sub := range f.folders {
		h, err := g.writeFolder(sub)
		if err != nil {
			return h, err
		}
		t.Entries = append(t.Entries, object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: h})
	}
	sort.Sort(object.TreeEntrySorter(t.Entries))
	return g.store(plumbing.TreeObject, t.Encode)
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

// oneLine keeps what would break the form of a commit out of a name.
func oneLine(s, fallback string) string {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == '<' || r == '>' || r == 0x7f {
			return -1
		}
		return r
	}, s))
	if s == "" {
		return fallback
	}
	return s
}
