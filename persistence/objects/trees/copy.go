package trees

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"

	"atelier/actors/code"
)

// Copy implements code.Store. The copy has its own objects, because a sweep examines each workspace
// separately.
func (s *Store) Copy(from, to string, kind code.Kind, heads []code.Head) error {
	if err := s.opts.Gate(); err != nil {
		return err
	}
	s.busy <- struct{}{}
	defer func() { <-s.busy }()
	ctx := context.Background()
	if err := s.known(ctx, from, kind); err != nil {
		return err
	}
	sp, err := s.spool(from, kind)
	if err != nil {
		return err
	}
	defer sp.close()
	if err := s.Make(to, kind); err != nil {
		return err
	}
	if kind == code.Git {
		err = s.copyCommits(ctx, sp, to, heads)
	} else {
		err = s.copyTrees(ctx, sp, to, heads)
	}
	if err != nil {
		return fmt.Errorf("copy workspace: %w", err)
	}
	return nil
}

// copyCommits copies the objects of the heads' history unchanged. Commits exist as long as their
// workspace, so all objects of the history exist.
func (s *Store) copyCommits(ctx context.Context, sp *spool, to string, heads []code.Head) error {
	seen := map[string]bool{}
	var todo []string
	for _, h := range heads {
		todo = append(todo, h.Tree)
	}
	for len(todo) > 0 {
		name := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[name] {
			continue
		}
		seen[name] = true
		m, err := sp.manifest(ctx, name)
		if err != nil {
			return err
		}
		c, err := m.commit()
		if err != nil {
			return err
		}
		for _, parent := range c.ParentHashes {
			todo = append(todo, parent.String())
		}
		for _, b := range m.Bundles {
			todo = append(todo, b.Tree)
		}
		if err := s.copyObject(ctx, sp, to, name); err != nil {
			return err
		}
	}
	return nil
}

// linker is a store that can add a second key for an existing object.
type linker interface {
	Link(from, to string) error
}

// copyObject copies the object of one tree.
func (s *Store) copyObject(ctx context.Context, sp *spool, to, name string) error {
	if linker, ok := s.opts.Objects.(linker); ok && linker.Link(treeKey(sp.id, name), treeKey(to, name)) == nil {
		return nil
	}
	at, err := sp.fetch(ctx, name)
	if err != nil {
		return err
	}
	content := io.NewSectionReader(sp.f, at.from, at.size)
	sum := sha256.New()
	if _, err := io.Copy(sum, content); err != nil {
		return err
	}
	return s.opts.Objects.Put(ctx, treeKey(to, name), content, at.size, [sha256.Size]byte(sum.Sum(nil)))
}

// copyTrees writes new objects for the heads' trees, under the same names. The new trees refer only
// to each other, because a sweep may have removed trees that are referenced only indirectly.
func (s *Store) copyTrees(ctx context.Context, sp *spool, to string, heads []code.Head) error {
	done := map[string]bool{}
	locations := map[string]located{} // locations of contents in the copy, by sum
	for _, h := range heads {
		if done[h.Tree] {
			continue
		}
		done[h.Tree] = true
		m, err := sp.manifest(ctx, h.Tree)
		if err != nil {
			return err
		}
		b := newBuilder(code.Plain)
		b.Tree = h.Tree
		for i := range m.Files {
			f := &m.Files[i]
			if at, placed := locations[f.Sum]; placed && b.room(at.m.bundleOf(at.f)) {
				taken := *at.f
				taken.Path, taken.Executable = f.Path, f.Executable
				b.take(taken, at.m.bundleOf(at.f))
				continue
			}
			content, err := sp.read(ctx, m, f)
			if err != nil {
				return err
			}
			b.bring(f.Path, content, f.mode())
		}
		if err := b.put(ctx, s.opts.Objects, to); err != nil {
			return err
		}
		for i := range b.Files {
			if f := &b.Files[i]; f.In == 0 {
				locations[f.Sum] = located{&b.manifest, f}
			}
		}
	}
	return nil
}

// room reports whether the plain tree can refer to the object src.
func (b *builder) room(src bundle) bool {
	return b.bundles[src] > 0 || len(b.Bundles) < maxPlainBundles
}
