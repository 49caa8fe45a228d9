package workspaces

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/revlist"

	"atelier/actors/code"
)

// Copy implements code.Store. The files of the copy are links to the same content,
// which is safe since no file is ever written twice; it stays until both are removed.
func (s *Store) Copy(from, to string, kind code.Kind, heads []code.Head) (err error) {
	if err := s.gate(); err != nil {
		return err
	}
	if !idForm.MatchString(to) {
		return fmt.Errorf("copy workspace: %q is no id", to)
	}
	defer func() { s.count(err) }()
	source, err := s.open(from, kind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.close()) }()
	files, err := source.needs(heads)
	if err != nil {
		return fmt.Errorf("copy workspace: %w", err)
	}
	return s.make(to, kind, func(temp string) error {
		for _, name := range files {
			if err := s.link(from, temp, name); err != nil {
				return fmt.Errorf("link %s: %w", name, err)
			}
		}
		made, err := s.openFolder(temp, kind)
		if err == nil {
			err = errors.Join(made.publish(heads), made.close())
		}
		return err
	})
}

// link gives a file of a workspace a second name in another.
func (s *Store) link(from, to, name string) error {
	if err := s.root.MkdirAll(filepath.Join(to, filepath.FromSlash(path.Dir(name))), 0o700); err != nil {
		return err
	}
	return s.root.Link(filepath.Join(from, filepath.FromSlash(name)), filepath.Join(to, filepath.FromSlash(name)))
}

// needs are the objects that the heads need.
func (g *repository) needs(heads []code.Head) ([]string, error) {
	var tips []plumbing.Hash
	for _, h := range heads {
		if _, err := g.commit(h.Tree); err != nil {
			return nil, err
		}
		tips = append(tips, plumbing.NewHash(h.Tree))
	}
	objects, err := g.reachable(tips)
	if err != nil {
		return nil, err
	}
	for i, name := range objects {
		objects[i] = path.Join(gitFolder, objectAt(name))
	}
	return objects, nil
}

// reachable names the objects that commits need, sorted.
func (g *repository) reachable(tips []plumbing.Hash) ([]string, error) {
	hashes, err := revlist.Objects(g.st, tips, nil)
	if err != nil {
		return nil, fmt.Errorf("list objects: %w", err)
	}
	names := make([]string, len(hashes))
	for i, o := range hashes {
		names[i] = o.String()
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// objectAt is where in a repository an object lies.
func objectAt(name string) string { return path.Join("objects", name[:2], name[2:]) }

// needs are the files of the heads' trees, and their sums.
func (f *folders) needs(heads []code.Head) ([]string, error) {
	var out []string
	for _, h := range heads {
		files, err := f.files(h.Tree)
		if err != nil {
			return nil, err
		}
		for _, name := range sorted(files) {
			out = append(out, path.Join(treesFolder, h.Tree, name))
		}
		sums := path.Join(sumsFolder, h.Tree)
		if _, err := f.root.Lstat(sums); err == nil {
			out = append(out, sums)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	slices.Sort(out) // heads may have the same tree
	return slices.Compact(out), nil
}
