package badger

import (
	"errors"
	"fmt"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/actors/durable"
)

// Rewrite implements durable.Log. The replaced bytes leave the disk with
// Badger's compactions and the collection of its value log, not at once.
//
// Appends only add chunks, and Rewrite only replaces chunks that are there, so
// the two never meet; truncation waits for the actor's lock.
func (l *actorLog) Rewrite(upTo uint64, fn func(seq uint64, record []byte) ([]byte, bool, error)) error {
	if l.closed.Load() {
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
	if l.fenced.Load() {
		return durable.ErrFenced
	}
	b := bulk{store: s}
	err := s.db.View(func(txn *badgerdb.Txn) error {
		head, err := readHead(txn, l.actor)
		if err != nil && !errors.Is(err, durable.ErrNotFound) {
			return err
		}
		if upTo > head.seq {
			return fmt.Errorf("%w: up to %d, the snapshot ends at %d", durable.ErrGap, upTo, head.seq)
		}
		err = l.chunks(txn, 0, func(c chunk) error {
			if c.first > upTo {
				return errRewritten
			}
			value, changed, err := c.rewrite(upTo, fn)
			if err != nil || !changed {
				return err
			}
			key := chunkKey(l.actor, c.first)
			seal(key, value)
			return b.add(key, value)
		})
		if errors.Is(err, errRewritten) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("rewrite %s: %w", l.actor, err)
	}
	if err := b.flush(); err != nil {
		return fmt.Errorf("rewrite %s: %w", l.actor, err)
	}
	return nil
}

// errRewritten ends the walk behind the last record that may be rewritten.
var errRewritten = errors.New("rewritten")

// rewrite builds the chunk's new value, still without its seal.
func (c chunk) rewrite(upTo uint64, fn func(uint64, []byte) ([]byte, bool, error)) (value []byte, changed bool, err error) {
	records := make(durable.Records, 0, len(c.records))
	err = c.each(func(seq uint64, record []byte) error {
		if seq > upTo {
			records = records.Add(record)
			return nil
		}
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
