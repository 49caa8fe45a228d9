package login

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"atelier/actors/clock"
	"atelier/actors/durable"
)

// MaxAge is the maximum age of a node's data about sessions. A session that another node
// ended longer ago is refused everywhere.
const MaxAge = time.Second

// Follow does the same as Load, for a store that several nodes use. The feed delivers other nodes'
// changes. Each change has a precondition, so that no node overwrites another's change. failed is
// called for unreadable records.
func Follow(store durable.Shared, account []byte, c clock.Clock, failed func(error)) (*Sessions, error) {
	s := empty(store, account, c.Now)
	s.clock, s.unread = c, map[*family]struct{}{}
	feed, err := store.Watch([]string{familyTable}, func(_ string, key, value []byte) {
		if err := s.learn(key, value); err != nil {
			failed(err)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	s.feed = feed
	return s, nil
}

// Close ends what Follow began.
func (s *Sessions) Close() {
	if s.feed != nil {
		s.feed.Close()
	}
}

// Current returns once the data of this node is not older than within, at most MaxAge; it fails if
// the store does not answer.
func (s *Sessions) Current(within time.Duration) error {
	if s.feed == nil || s.feed.Age() < min(within, MaxAge) && len(s.lacking()) == 0 {
		return nil
	}
	return s.sync()
}

func (s *Sessions) sync() error {
	ctx, cancel := clock.WithTimeout(context.Background(), s.clock, MaxAge)
	defer cancel()
	if err := s.feed.Sync(ctx); err != nil {
		return fmt.Errorf("%w: sessions of other nodes: %w", durable.ErrUnavailable, err)
	}
	for _, f := range s.lacking() {
		f.mu.Lock()
		err := s.reload(f)
		f.mu.Unlock()
		if err != nil {
			return fmt.Errorf("%w: sessions of other nodes: %w", durable.ErrUnavailable, err)
		}
	}
	return nil
}

func (s *Sessions) lacking() []*family {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Collect(maps.Keys(s.unread))
}

// lack records whether a family's row must still be read.
func (s *Sessions) lack(f *family, unread bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if unread {
		s.unread[f] = struct{}{}
		return
	}
	delete(s.unread, f)
}

// seek is lookup, but asks the store about an id that this node does not know.
func (s *Sessions) seek(h Key) (*family, error) {
	if f := s.lookup(h); f != nil || s.feed == nil {
		return f, nil
	}
	if err := s.sync(); err != nil {
		return nil, err
	}
	return s.lookup(h), nil
}

// learn processes a row's current content.
func (s *Sessions) learn(key, value []byte) error {
	name := hex.EncodeToString(key)
	s.mu.Lock()
	f := s.byName[name]
	if f == nil {
		if value == nil {
			s.mu.Unlock()
			return nil
		}
		var err error
		if f, _, err = parseFamily(key, value); err != nil {
			s.mu.Unlock()
			return err
		}
		s.byName[name] = f
	}
	s.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.value != nil && bytes.Equal(value, f.value) {
		return nil // this node's own write
	}
	return s.reload(f)
}

// reload reads a family's row again, because a change from the feed can be older than this node's
// last write. The caller holds f.mu.
func (s *Sessions) reload(f *family) error {
	value, err := s.journal.Get(familyTable, f.key())
	if errors.Is(err, durable.ErrNotFound) {
		err = nil
	}
	if s.lack(f, err != nil); err != nil {
		return err
	}
	var rec *record
	if value != nil {
		stored, err := parseRecord(value)
		if err != nil {
			return err
		}
		rec = s.pruned(stored)
	}
	f.value = value
	f.unsaved.Store(false)
	s.change(f, f.record.Load(), rec)
	if rec == nil {
		s.forget(f)
	}
	return nil
}

// expect registers a new family before the feed reports its row.
func (s *Sessions) expect(f *family) {
	if s.feed != nil {
		s.mu.Lock()
		s.byName[f.name] = f
		s.mu.Unlock()
	}
}

// forget removes a family that has no ids and will get none.
func (s *Sessions) forget(f *family) {
	s.mu.Lock()
	delete(s.byName, f.name)
	s.mu.Unlock()
}

// guarded returns the rows that update the store to a record. If other nodes also use the store,
// the rows have preconditions that fail if another node has changed the family. The caller holds
// f.mu.
func (s *Sessions) guarded(f *family, rec *record) []durable.Row {
	// The rows are urgent, because people must sign in before they can delete anything to free
	// space.
	rows := durable.MakeUrgent(f.rows(rec, s.ms()))
	if s.feed == nil {
		return rows
	}
	if rows[0].Precondition = durable.Absent(); f.value != nil {
		rows[0].Precondition = durable.Unchanged(f.value)
	}
	f.value = rows[0].Value
	return rows
}

// commit stores a record and waits for the commit. A nil record ends the family. After ErrConflict
// the family has been read again. The caller holds f.mu.
func (s *Sessions) commit(f *family, rec *record) error {
	known := f.value
	err := durable.Commit(s.journal, s.guarded(f, rec))
	if err == nil || s.feed == nil {
		return err
	}
	if again := s.reload(f); again != nil {
		// The next change depends on the row as last read. A failed end would leave no value, which
		// is the precondition of a new family. Then a change could restore a family that another
		// node has ended.
		f.value = known
		return again
	}
	return err
}
