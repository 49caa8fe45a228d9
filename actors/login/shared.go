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

// MaxAge is the maximum age of a node's data about sessions. Every node refuses a session that any
// node ended longer ago.
const MaxAge = time.Second

// Follow does the same as Load, for a store that several nodes use. The store's feed delivers other
// nodes' changes. Each change has a precondition, so that no node overwrites the change of another
// node. Follow calls failed for each unreadable record.
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

// Close stops receiving other nodes' changes.
func (s *Sessions) Close() {
	if s.feed != nil {
		s.feed.Close()
	}
}

// Current returns once this node's data is not older than limit. A limit above MaxAge counts as
// MaxAge. Current fails if the store does not answer.
func (s *Sessions) Current(limit time.Duration) error {
	if s.feed == nil || s.feed.Age() < min(limit, MaxAge) && len(s.unreadFamilies()) == 0 {
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
	for _, f := range s.unreadFamilies() {
		f.mu.Lock()
		err := s.reload(f)
		f.mu.Unlock()
		if err != nil {
			return fmt.Errorf("%w: sessions of other nodes: %w", durable.ErrUnavailable, err)
		}
	}
	return nil
}

// unreadFamilies returns the families whose rows could not be read after a change.
func (s *Sessions) unreadFamilies() []*family {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Collect(maps.Keys(s.unread))
}

// setUnread records whether a family's row must still be read.
func (s *Sessions) setUnread(f *family, unread bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if unread {
		s.unread[f] = struct{}{}
		return
	}
	delete(s.unread, f)
}

// seek is like lookup, but if this node does not know the id, it first reads the changes of other
// nodes.
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
	if s.setUnread(f, err != nil); err != nil {
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

// guarded returns the rows that store a family's new record. If several nodes use the store, the
// first row has a precondition, which fails if another node has changed the family. The caller
// holds f.mu.
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

// commit stores a record and waits for the commit. A nil record ends the family. If the commit
// fails, commit reads the family again, because another node may have changed it. The caller holds
// f.mu.
func (s *Sessions) commit(f *family, rec *record) error {
	known := f.value
	err := durable.Commit(s.journal, s.guarded(f, rec))
	if err == nil || s.feed == nil {
		return err
	}
	if reloadErr := s.reload(f); reloadErr != nil {
		// The precondition of the next change is that the row still has the value f.value, or is
		// absent if f.value is nil. If this commit was to end the family, guarded has set f.value
		// to nil. The next change could then restore a family that another node has ended.
		f.value = known
		return reloadErr
	}
	return err
}
