package workspaces

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"atelier/actors/code"
	"atelier/persistence/internal/tree"
)

const treesFolder = "trees"

var treeForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

// folders keeps trees as plain folders. A file that a new tree takes over is
// the same file on disk, which is safe since no file is ever written twice.
type folders struct {
	s    *Store
	id   string
	root *os.Root
}

func (f *folders) close() error { return f.root.Close() }

func (f *folders) tree(name string) (*os.Root, error) {
	if !treeForm.MatchString(name) {
		return nil, code.ErrMissing
	}
	r, err := f.root.OpenRoot(filepath.Join(treesFolder, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, code.ErrMissing
	}
	return r, err
}

// files lists a tree, all of which must be there: a change of one that lacks a
// file would make the loss its new state.
func (f *folders) files(tree string) (map[string]entry, error) {
	there, err := f.walk(tree)
	if err != nil {
		return nil, err
	}
	known, err := f.sums(tree)
	if err != nil {
		return nil, err
	}
	if known == nil {
		return there, nil
	}
	for path, sum := range known.ByPath {
		e, ok := there[path]
		if !ok {
			return nil, fmt.Errorf("%w: a file of the tree is missing", ErrDamaged)
		}
		e.Sum, e.Mode = sum, known.Modes[path]
		there[path] = e
	}
	return there, nil
}

func (f *folders) walk(tree string) (map[string]entry, error) {
	root, err := f.tree(tree)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	out := map[string]entry{}
	err = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		out[path] = entry{Size: info.Size(), Ref: path}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	return out, nil
}

func (f *folders) read(tree, path string) (content []byte, mode code.Mode, err error) {
	root, err := f.tree(tree)
	if err != nil {
		return nil, mode, err
	}
	defer root.Close()
	known, err := f.sums(tree)
	if err != nil {
		return nil, mode, err
	}
	if known != nil {
		mode = known.Modes[path]
	}
	content, err = readPlain(root, path)
	content, err = verify(known, path, content, err)
	return content, mode, err
}

// readPlain reads a plain file; a root keeps links from leading out, and here
// they lead nowhere.
func readPlain(root *os.Root, path string) ([]byte, error) {
	for end := 0; end < len(path); end++ {
		if i := strings.IndexByte(path[end:], '/'); i >= 0 {
			end += i
		} else {
			end = len(path)
		}
		info, err := root.Lstat(filepath.FromSlash(path[:end]))
		if err != nil || end < len(path) && !info.IsDir() || end == len(path) && !info.Mode().IsRegular() {
			return nil, code.ErrNotFound
		}
	}
	f, err := root.Open(filepath.FromSlash(path))
	if err != nil {
		return nil, code.ErrNotFound
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read file: %w", err)
	}
	if len(b) > maxFile {
		return nil, code.ErrNotFound
	}
	return b, nil
}

func (f *folders) write(base string, files map[string]entry, _ code.Change) (tree string, err error) {
	tree = random()
	temp := tempPrefix + tree
	if err := f.root.Mkdir(temp, 0o700); err != nil {
		return "", fmt.Errorf("write files: %w", err)
	}
	defer func() {
		if err != nil {
			_ = f.root.RemoveAll(temp)
		}
	}()
	for _, name := range sorted(files) {
		if err := f.put(filepath.Join(treesFolder, base), temp, name, files[name]); err != nil {
			return "", fmt.Errorf("write files: %w", err)
		}
	}
	full := filepath.Join(f.s.dir, f.id)
	if err = f.note(base, tree, files); err == nil {
		err = f.s.syncer.all(filepath.Join(full, temp))
	}
	if err == nil {
		err = f.root.Rename(temp, filepath.Join(treesFolder, tree))
	}
	if err == nil {
		err = f.s.syncer.sync(filepath.Join(full, treesFolder))
	}
	if err != nil {
		return "", fmt.Errorf("write files: %w", err)
	}
	return tree, nil
}

func (f *folders) put(base, to, name string, e entry) error {
	target := filepath.Join(to, filepath.FromSlash(name))
	if dir := path.Dir(name); dir != "." {
		if err := f.root.MkdirAll(filepath.Join(to, filepath.FromSlash(dir)), 0o700); err != nil {
			return err
		}
	}
	if e.Ref != "" {
		return f.root.Link(filepath.Join(base, filepath.FromSlash(e.Ref)), target)
	}
	out, err := f.root.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(e.Content)
	return errors.Join(err, out.Close())
}

// publish removes what no head names, and what was not finished.
func (f *folders) publish(heads []code.Head) error {
	discard := func(folder string, unwanted func(string) bool) error {
		d, err := f.root.Open(folder)
		if err != nil {
			return fmt.Errorf("list trees: %w", err)
		}
		names, err := d.Readdirnames(-1)
		if err = errors.Join(err, d.Close()); err != nil {
			return fmt.Errorf("list trees: %w", err)
		}
		for _, name := range names {
			if unwanted(name) {
				f.s.discard(filepath.Join(f.id, folder, name))
			}
		}
		return nil
	}
	unnamed := func(name string) bool {
		return !slices.ContainsFunc(heads, func(h code.Head) bool { return h.Tree == name })
	}
	sums := discard(sumsFolder, unnamed)
	if errors.Is(sums, fs.ErrNotExist) {
		sums = nil // of a workspace from before there were sums
	}
	return errors.Join(
		discard(treesFolder, unnamed), sums,
		discard(".", func(name string) bool { return strings.HasPrefix(name, tempPrefix) }),
	)
}

func (f *folders) pack(to *tree.Packer, heads []code.Head) error {
	for _, h := range heads {
		if err := to.Folder(h.Name); err != nil {
			return err
		}
		files, err := f.files(h.Tree)
		if err != nil {
			return err
		}
		for _, name := range sorted(files) {
			content, mode, err := f.read(h.Tree, name)
			if err != nil {
				return err
			}
			if err := to.File(h.Name+"/"+name, content, mode); err != nil {
				return err
			}
		}
	}
	return nil
}
