package trees

import (
	"context"
	"io"
	"sync"

	"atelier/persistence/objects"
)

// Hold prevents every node from removing objects until release is called. If no other process uses
// the objects, Hold writes nothing, so that a read-only disk can be backed up.
func (s *Store) Hold() (release func(), err error) {
	if !s.opts.Alone {
		return objects.Hold(s.opts.Objects)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds++
	return sync.OnceFunc(s.release), nil
}

func (s *Store) release() {
	s.mu.Lock()
	var due []string
	if s.holds--; s.holds == 0 {
		due, s.removed = s.removed, nil
	}
	s.mu.Unlock()
	for _, id := range due {
		s.Remove(id)
	}
}

// postponed reports whether this store has a backup in progress. If so, the workspace is removed
// when the last backup ends.
func (s *Store) postponed(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holds > 0 {
		s.removed = append(s.removed, id)
	}
	return s.holds > 0
}

// held reports whether any node has a backup in progress. A backup that begins later is not a
// problem. It reads the records later, and needs no object that is unreferenced by then.
func (s *Store) held(ctx context.Context) (bool, error) {
	if s.opts.Alone {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.holds > 0, nil
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
