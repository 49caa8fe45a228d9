package trees

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"atelier/actors/code"
	"atelier/actors/durable"
	"atelier/persistence/objects"
)

// Heads returns the currently recorded heads of each workspace, by workspace id.
type Heads func() (map[string][]code.Head, error)

// partsOf returns the workspace in a key, and the tree if the key is that of a tree. ours is false
// if the key belongs to no workspace.
func partsOf(key string) (id, name string, ours bool) {
	id, rest, _ := strings.Cut(strings.TrimPrefix(key, prefix), "/")
	name, isTree := strings.CutPrefix(rest, "trees/")
	if !isTree {
		name = ""
	}
	return id, name, idForm.MatchString(id)
}

// Sweep moves unreferenced objects to quarantine, and removes objects that have been there longer
// than the grace period. It skips objects that are younger than this period, and damaged
// workspaces. It returns the number of removed objects. During a backup it does nothing. Several
// nodes can run it concurrently.
func (s *Store) Sweep(ctx context.Context, heads Heads) (removed int, err error) {
	if held, err := s.held(ctx); err != nil || held {
		return 0, err
	}
	aside, err := objects.NewAside(ctx, s.opts.Objects, s.clock, prefix, s.opts.Grace)
	if err != nil {
		return 0, err
	}
	// The list is kept in memory. For most workspaces it contains only objects in use: the commits
	// of a repository, or the heads.
	var listed []objects.Info
	err = s.opts.Objects.List(ctx, prefix, func(i objects.Info) error {
		if _, _, ours := partsOf(i.Key); ours && aside.Old(i) {
			listed = append(listed, i)
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("list workspaces: %w", err)
	}
	// The heads are read after the listing, as package objects requires.
	recorded, err := heads()
	if err != nil {
		return 0, err
	}
	for len(listed) > 0 {
		id, _, _ := partsOf(listed[0].Key)
		n := 1
		for n < len(listed) && strings.HasPrefix(listed[n].Key, prefix+id+"/") {
			n++
		}
		if err := s.sweep(ctx, aside, id, listed[:n], recorded); err != nil {
			return aside.Removed, fmt.Errorf("sweep workspace %s: %w", id, err)
		}
		listed = listed[n:]
	}
	return aside.Removed, errors.Join(aside.Finish(ctx), aside.Tidy(ctx))
}

// sweep examines the objects of one workspace.
func (s *Store) sweep(ctx context.Context, aside *objects.Aside, id string, of []objects.Info, recorded map[string][]code.Head) error {
	heads, known := recorded[id]
	var needed map[string]bool
	if known {
		var err error
		if needed, err = s.needed(ctx, id, heads); errors.Is(err, durable.ErrCorrupt) || errors.Is(err, code.ErrNotFound) {
			// The references are unknown, so nothing is removed.
			s.opts.Logger.Error("the code of a workspace is damaged; the sweep removed nothing from it", "workspace", id, "error", err)
			return nil
		} else if err != nil {
			return err
		}
	}
	for _, i := range of {
		_, name, _ := partsOf(i.Key)
		var err error
		// Commits are part of the history, and stay. So does the only object that is not a tree,
		// which shows that the workspace exists.
		if known && (!treeForm[code.Plain].MatchString(name) || needed[name]) {
			err = aside.Needed(ctx, i)
		} else {
			var gone bool
			if gone, err = aside.Unneeded(ctx, i); gone {
				s.forget(id)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// needed returns the plain trees of the heads, and the trees whose objects contain files of these
// trees.
func (s *Store) needed(ctx context.Context, id string, heads []code.Head) (map[string]bool, error) {
	needed := map[string]bool{}
	for _, h := range heads {
		if !treeForm[code.Plain].MatchString(h.Tree) {
			continue // a commit
		}
		m, err := s.load(ctx, id, code.Plain, h.Tree)
		if err != nil {
			return nil, err
		}
		needed[h.Tree] = true
		for _, b := range m.Bundles {
			needed[b.Tree] = true
		}
	}
	return needed, nil
}

// Publish implements code.Store. It has nothing to store, because reads use the record, and a
// download creates its own branches. Publish therefore only removes the plain trees that no head
// needs. If other nodes also write, it removes nothing, and a sweep removes these trees.
func (s *Store) Publish(id string, kind code.Kind, heads []code.Head) error {
	if !s.opts.Alone || kind != code.Plain {
		return nil
	}
	ctx := context.Background()
	needed, err := s.needed(ctx, id, heads)
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	names, _, err := s.names(ctx, id, kind)
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return needed[name] })
	if held, err := s.held(ctx); err != nil || held {
		return err // the next Publish removes them
	}
	for _, name := range names {
		if err := s.opts.Objects.Delete(ctx, treeKey(id, name)); err != nil {
			return fmt.Errorf("publish: %w", err)
		}
	}
	s.forgetTrees(id, names)
	return nil
}

// names returns the trees of a workspace. made reports whether the workspace exists.
func (s *Store) names(ctx context.Context, id string, kind code.Kind) (names []string, made bool, err error) {
	err = s.opts.Objects.List(ctx, prefix+id+"/", func(i objects.Info) error {
		_, name, _ := partsOf(i.Key)
		if treeForm[kind].MatchString(name) {
			names = append(names, name)
		}
		made = made || i.Key == madeKey(id, kind)
		return nil
	})
	return names, made, err
}

// Scrub reads every recorded workspace. It calls bad for each missing workspace, for each damaged
// tree or file, and for each missing object that a workspace's heads need. It returns the number of
// files read.
func (s *Store) Scrub(recorded map[string]code.Recorded, bad func(what string)) (looked int, err error) {
	for id, r := range recorded {
		report := func(what string) {
			s.opts.Damaged()
			bad("workspace " + id + what)
		}
		n, err := s.scrub(context.Background(), id, r, report)
		looked += n
		if err != nil {
			return looked, fmt.Errorf("scrub workspace %s: %w", id, err)
		}
	}
	return looked, nil
}

func (s *Store) scrub(ctx context.Context, id string, r code.Recorded, bad func(what string)) (looked int, err error) {
	kind := r.Kind
	names, made, err := s.names(ctx, id, kind)
	if err != nil {
		return 0, err
	}
	if !made {
		bad(" is missing")
	}
	sp, err := s.spool(id, kind)
	if err != nil {
		return 0, err
	}
	defer sp.close()
	seen := map[string]bool{}
	for _, h := range r.Heads {
		if err := sp.walk(ctx, h, seen, bad); err != nil {
			return looked, err
		}
	}
	for _, name := range names {
		m, err := sp.manifest(ctx, name)
		if errors.Is(err, code.ErrNotFound) {
			continue // removed meanwhile
		}
		if errors.Is(err, durable.ErrCorrupt) {
			bad(": tree " + name)
			continue
		}
		if err != nil {
			return looked, err
		}
		for i := range m.Files {
			if m.Files[i].In > 0 && m.Kind == code.Git {
				continue // read with the commit that contains it
			}
			looked++
			_, err := sp.read(ctx, m, &m.Files[i])
			if errors.Is(err, durable.ErrCorrupt) {
				bad(": " + name + "/" + m.Files[i].Path)
			} else if err != nil {
				return looked, err
			}
		}
	}
	return looked, nil
}

// walk finds everything that a head needs. These are the trees whose objects contain the head's
// files and, in a repository, the earlier commits with their trees. seen contains the trees already
// visited.
func (p *spool) walk(ctx context.Context, h code.Head, seen map[string]bool, bad func(what string)) error {
	for todo := []string{h.Tree}; len(todo) > 0; {
		name := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[name] {
			continue
		}
		seen[name] = true
		m, err := p.manifest(ctx, name)
		if errors.Is(err, code.ErrNotFound) {
			bad(": " + h.Name + ": tree " + name + " is missing")
			continue
		}
		if err != nil {
			if errors.Is(err, durable.ErrCorrupt) {
				continue // scrub reports it
			}
			return err
		}
		for i := range m.Bundles {
			todo = append(todo, m.Bundles[i].Tree)
		}
		if m.Kind == code.Git {
			c, err := m.commit()
			if err != nil {
				continue // scrub reports it
			}
			for _, parent := range c.ParentHashes {
				todo = append(todo, parent.String())
			}
		}
	}
	return nil
}
