package badger

import (
	"errors"
	"fmt"

	"atelier/actors/durable"
	"atelier/persistence/internal/calls"
	"atelier/persistence/layout"
)

// Purge implements durable.Journal. A row of layout.PurgeTable marks a purge in progress. If the
// purge is interrupted, it is finished when the store opens. Purging is possible while the disk is
// nearly full, because it writes only small markers and frees space.
func (s *Store) Purge(actor string) error {
	if err := layout.CheckActor(actor); err != nil {
		return err
	}
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	if s.opts.ReadOnly {
		return durable.ErrReadOnly
	}
	defer s.locks.Lock(actor)()
	if err := s.wait(entry{Kind: calls.KindPurge, Actor: actor}); err != nil {
		return fmt.Errorf("purge %s: %w", actor, err)
	}
	if err := s.purge(actor); err != nil {
		return fmt.Errorf("purge %s: %w", actor, err)
	}
	return nil
}

func (s *Store) purge(actor string) error {
	b := bulk{store: s}
	mark := layout.AppendRowKey(nil, layout.PurgeTable, []byte(actor))
	if err := errors.Join(b.add(mark, layout.Sealed(mark, nil)), b.flush()); err != nil {
		return err
	}
	remove := func(key []byte) error { return b.add(key, nil) }
	for _, family := range []byte{layout.FamilyPart, layout.FamilyChunk, layout.FamilyHead} {
		prefix := layout.ActorPrefix(family, actor)
		if err := errors.Join(s.eachKey(prefix, remove), s.eachKey(largePrefix(prefix), remove)); err != nil {
			return err
		}
		if err := s.step(stepPurge); err != nil {
			return err
		}
	}
	// The mark is removed last, because an interrupted purge must be resumed.
	return errors.Join(remove(mark), b.flush())
}

// stepPurge is the step after the removal of each family of keys; see step.
const stepPurge = "purge"

// finishPurges completes the purges that a crash interrupted, before the store is used.
func (s *Store) finishPurges() error {
	if s.opts.ReadOnly {
		return nil
	}
	prefix := layout.AppendRowKey(nil, layout.PurgeTable, nil)
	return s.eachKey(prefix, func(key []byte) error { return s.purge(string(key[len(prefix):])) })
}
