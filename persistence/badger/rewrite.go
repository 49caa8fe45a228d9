package badger

import (
	"errors"
	"fmt"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/actors/durable"
	"atelier/persistence/layout"
)

// Rewrite implements durable.Log. The replaced bytes stay on the disk until Badger's compactions
// and the collector remove them.
//
// Appends only add chunks, and Rewrite only replaces existing chunks, so the two do not conflict.
// Truncation waits for the actor's lock.
func (l *actorLog) Rewrite(upTo uint64, fn func(seq uint64, record []byte) ([]byte, bool, error)) error {
	if l.closed.Load() {
		return durable.ErrClosed
	}
	s := l.store
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	if err := s.writable(); err != nil {
		return err
	}
	defer s.locks.Lock(l.Actor)()
	if l.Fenced() {
		return durable.ErrFenced
	}
	b := bulk{store: s}
	err := s.view(func(txn *badgerdb.Txn) error {
		head, err := readHead(txn, l.Actor)
		if err != nil && !errors.Is(err, durable.ErrNotFound) {
			return err
		}
		if upTo > head.Seq {
			return fmt.Errorf("%w: up to %d, the snapshot ends at %d", durable.ErrGap, upTo, head.Seq)
		}
		err = l.chunks(txn, 0, func(c layout.Chunk) error {
			if c.First > upTo {
				return errRewritten
			}
			value, changed, err := c.Rewrite(upTo, fn)
			if err != nil || !changed {
				return err
			}
			if head.Base < upTo {
				head.Base = upTo
				if err := s.writeHead(&b, l.Actor, head); err != nil {
					return err
				}
			}
			key := layout.ChunkKey(l.Actor, c.First)
			layout.Seal(key, value)
			return b.add(key, value)
		})
		if errors.Is(err, errRewritten) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("rewrite %s: %w", l.Actor, err)
	}
	if err := b.flush(); err != nil {
		return fmt.Errorf("rewrite %s: %w", l.Actor, err)
	}
	return nil
}

// A callback returns errRewritten to end the iteration after the last record that can be rewritten.
var errRewritten = errors.New("rewritten")
