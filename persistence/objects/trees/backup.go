package trees

import (
	"context"
	"io"

	"atelier/persistence/objects"
)

// Hold prevents every node from removing objects until release is called. If no other process uses
// the objects, Hold writes nothing, so that a read-only disk can be backed up.
func (s *Store) Hold() (release func(), err error) {
	if !s.opts.Alone {
		return objects.Hold(s.opts.Objects)
	}
	return s.holds.Begin(s.Remove), nil
}

// held reports whether any node has a backup in progress. A backup that begins later is not a
// problem. It reads the records later, and needs no object that is unreferenced by then.
func (s *Store) held(ctx context.Context) (bool, error) {
	if s.opts.Alone {
		return s.holds.Any(), nil
	}
	now, err := s.clock.Now(ctx)
	if err != nil {
		return false, err
	}
	return objects.Held(ctx, s.opts.Objects, now)
}

// Save writes all workspaces for a backup; objects.Place restores them.
func (s *Store) Save(w io.Writer) error {
	return objects.Save(context.Background(), s.opts.Objects, prefix, w)
}
