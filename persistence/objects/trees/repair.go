package trees

import (
	"context"
	"errors"

	"atelier/actors/code"
	"atelier/actors/durable"
	"atelier/persistence/objects"
)

// repair replaces damaged contents of a tree when the same contents are sent again. Without repair,
// such a change would put no object, so it would succeed while the content stays unreadable. repair
// replaces only the bytes of the content, so the object becomes the same as before the damage. It
// leaves an object that is too short unchanged.
func (s *Store) repair(ctx context.Context, id string, m *manifest, sent []code.File) error {
	for _, f := range sent {
		known := m.byPath[f.Path]
		if known == nil || known.Size == 0 || known.Sum != sumOf(f.Content) {
			continue
		}
		_, _, err := s.Read(id, m.Kind, m.Tree, f.Path)
		if err == nil || !errors.Is(err, durable.ErrCorrupt) {
			continue // the content is undamaged, or the error is one that repair cannot remove
		}
		src := m.bundleOf(known)
		key, at := treeKey(id, src.Tree), src.Start+known.At
		whole, err := objects.GetBytes(ctx, s.opts.Objects, key, 0, -1, 2*maxWorkspace)
		if err != nil || int64(len(whole)) < at+known.Size {
			continue
		}
		copy(whole[at:], f.Content)
		if err := objects.PutBytes(ctx, s.opts.Objects, key, whole); err != nil {
			return err
		}
		s.opts.Logger.Warn("damaged code was repaired from a new upload of the same files", "workspace", id, "tree", src.Tree)
	}
	return nil
}
