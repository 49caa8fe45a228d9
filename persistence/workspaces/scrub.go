package workspaces

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"

	"atelier/actors/code"
)

// Scrub reads every workspace and calls bad with what is not what was written,
// and with what its heads need and is not there. It says how many files and
// objects it looked at.
func (s *Store) Scrub(recorded map[string]code.Recorded, bad func(what string)) (looked int, err error) {
	for id, r := range recorded {
		n, err := s.scrub(id, r, bad)
		looked += n
		if errors.Is(err, code.ErrNotFound) {
			s.damaged()
			bad("workspace " + id + " is missing")
			err = nil
		}
		if err != nil {
			return looked, fmt.Errorf("scrub workspace %s: %w", id, err)
		}
	}
	return looked, nil
}

func (s *Store) scrub(id string, r code.Recorded, bad func(what string)) (looked int, err error) {
	t, err := s.open(id, r.Kind)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	told := func(what string) {
		s.damaged()
		bad("workspace " + id + ": " + what)
	}
	if looked, err = t.scrub(told); err != nil {
		return looked, err
	}
	return looked, t.walkHeads(r.Heads, told)
}

// walkHeads looks for what the heads need: their trees with all files. That
// these are sound is for scrub to say.
func (f *folders) walkHeads(heads []code.Head, bad func(what string)) error {
	for _, h := range heads {
		_, err := f.files(h.Tree)
		switch {
		case errors.Is(err, code.ErrMissing):
			bad(h.Name + ": its tree " + h.Tree + " is missing")
		case err != nil && !errors.Is(err, ErrDamaged): // scrub has found damage
			return err
		}
	}
	return nil
}

// walkHeads looks for what the heads need: the commits of their history, with all
// folders and files. That these are sound is for scrub to say.
func (g *repository) walkHeads(heads []code.Head, bad func(what string)) error {
	seen := map[string]bool{}
	for _, h := range heads {
		for next := []string{h.Tree}; len(next) > 0; {
			tree := next[len(next)-1]
			next = next[:len(next)-1]
			if seen[tree] {
				continue
			}
			seen[tree] = true
			c, err := g.commit(tree)
			if err == nil {
				for _, parent := range c.ParentHashes {
					next = append(next, parent.String())
				}
				_, err = g.files(tree)
			}
			switch {
			case errors.Is(err, plumbing.ErrObjectNotFound), errors.Is(err, code.ErrMissing):
				bad(fmt.Sprintf("%s: an object of commit %s is missing", h.Name, tree))
			case err != nil && !errors.Is(err, ErrDamaged): // scrub has found damage
				return err
			}
		}
	}
	return nil
}

func (f *folders) scrub(bad func(what string)) (looked int, err error) {
	trees, err := fs.ReadDir(f.root.FS(), treesFolder)
	if err != nil {
		return 0, err
	}
	for _, t := range trees {
		tree := t.Name()
		known, err := f.sums(tree)
		if errors.Is(err, ErrDamaged) {
			bad("sums of " + tree)
			continue
		}
		there, listed := f.walk(tree)
		if err = errors.Join(err, listed); err != nil {
			return looked, err
		}
		if known != nil {
			for path := range known.ByPath {
				there[path] = entry{} // what should be there is looked for
			}
		}
		for _, path := range sorted(there) {
			looked++
			if _, _, err := f.read(tree, path); err != nil {
				bad(tree + "/" + path)
			}
		}
	}
	return looked, nil
}

func (g *repository) scrub(bad func(what string)) (looked int, err error) {
	objects := filepath.Join(g.dir, "objects")
	err = filepath.WalkDir(objects, func(path string, e fs.DirEntry, err error) error {
		name := strings.ReplaceAll(strings.TrimPrefix(path, objects), string(filepath.Separator), "")
		if err != nil || !e.Type().IsRegular() || !plumbing.IsHash(name) {
			return err
		}
		looked++
		if !sound(path, plumbing.NewHash(name)) {
			bad("object " + name)
		}
		return nil
	})
	return looked, err
}

// sound says whether an object's content has its hash.
func sound(path string, want plumbing.Hash) bool {
	f, err := os.Open(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) // removed meanwhile
	}
	defer f.Close()
	r, err := objfile.NewReader(f)
	if err != nil {
		return false
	}
	defer r.Close()
	_, size, err := r.Header()
	if err != nil {
		return false
	}
	n, err := io.Copy(io.Discard, r)
	return err == nil && n == size && r.Hash() == want
}
