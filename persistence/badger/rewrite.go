package badger

import (
	"fmt"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/actors/durable"
)

// Rewrite implements durable.Log. It sees everything appended before it. The
// replaced bytes leave the disk with Badger's compactions and the collection
// of its value log, not at once.
//
// Appends only add chunks, and Rewrite only replaces chunks that are there, so
// the two never meet; truncation waits for the actor's lock.
func (l *actorLog) Rewrite(fn func(seq uint64, record []byte) ([]byte, bool, error)) error {
	if l.closed {
		return durable.ErrClosed
	}
	s := l.store
	if err := s.gate.enter(); err != nil {
		return err
	}
	defer s.gate.leave()
	if err := s.writable(); err != nil {
		return err
	}
	defer s.locks.lock(l.actor)()
	if err := s.wait(item{kind: kindBarrier}); err != nil {
		return fmt.Errorf("rewrite %s: %w", l.actor, err)
	}
	if l.fenced.Load() {
		return durable.ErrFenced
	}
	b := bulk{store: s}
	err := s.db.View(func(txn *badgerdb.Txn) error {
		return l.chunks(txn, 0, func(c chunk) error {
			value, changed, err := c.rewrite(fn)
			if err != nil || !changed {
				return err
			}
			key := chunkKey(l.actor, c.first)
			seal(key, value)
			return b.add(key, value)
		})
	})
	if err != nil {
		return fmt.Errorf("rewrite %s: %w", l.actor, err)
	}
	if err := b.flush(); err != nil {
		return fmt.Errorf("rewrite %s: %w", l.actor, err)
	}
	return nil
}

// rewrite builds the chunk's new value, still without its seal.
func (c chunk) rewrite(fn func(uint64, []byte) ([]byte, bool, error)) (value []byte, changed bool, err error) {
	records := make(durable.Records, 0, len(c.records))
	err = c.each(func(seq uint64, record []byte) error {
		replacement, replace, err := fn(seq, record)
		if err != nil {
			return err
		}
		if replace {
			changed, record = true, replacement
		}
		records = records.Add(record)
		return nil
	})
	if err != nil || !changed {
		return nil, false, err
	}
	return append(appendChunkHeader(nil, c.count), records...), true, nil
}
