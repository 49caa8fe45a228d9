package badger

import (
	"errors"
	"fmt"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/actors/durable"
	"atelier/persistence/layout"
)

// Load implements durable.LogReader.
func (l *actorLog) Load(history uint64, snapshot func(durable.Snapshot) error, record func(uint64, []byte) error) error {
	return l.view(func(txn *badgerdb.Txn, head layout.Head, tail uint64) error {
		var state []byte
		if head.Seq > 0 {
			var err error
			if state, err = readState(txn, l.Actor, head); err != nil {
				return err
			}
		}
		if err := snapshot(head.Snapshot(state, tail)); err != nil {
			return err
		}
		return l.records(txn, head, min(head.Seq, tail-min(tail, history)), tail, record)
	})
}

// Replay implements durable.LogReader.
func (l *actorLog) Replay(after uint64, fn func(seq uint64, record []byte) error) error {
	return l.view(func(txn *badgerdb.Txn, head layout.Head, tail uint64) error {
		if err := head.Snapshot(nil, tail).CheckReplay(l.Actor, after); err != nil {
			return err
		}
		return l.records(txn, head, after, tail, fn)
	})
}

// view calls fn with one consistent state of the store. head is the head of the log's snapshot in
// that state, or empty without a snapshot. tail is the seq of the log's last record.
func (l *actorLog) view(fn func(txn *badgerdb.Txn, head layout.Head, tail uint64) error) error {
	if l.closed.Load() {
		return durable.ErrClosed
	}
	s := l.store
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	return s.view(func(txn *badgerdb.Txn) error {
		head, err := readHead(txn, l.Actor)
		if err != nil && !errors.Is(err, durable.ErrNotFound) {
			return err
		}
		tail, err := tailOf(txn, l.Actor, head)
		if err != nil {
			return err
		}
		return fn(txn, head, tail)
	})
}

// records calls fn for the stored records with a seq greater than after. All records above the base
// must exist.
func (l *actorLog) records(txn *badgerdb.Txn, head layout.Head, after, tail uint64, fn func(uint64, []byte) error) error {
	start, err := l.chunkBefore(txn, after)
	if err != nil {
		return err
	}
	next := uint64(0) // 0 before the first chunk
	expect := max(after, head.Base) + 1
	err = l.chunks(txn, start, func(c layout.Chunk) error {
		if next == 0 && c.First > expect || next != 0 && c.First != next {
			return fmt.Errorf("%w: %s: a chunk starts at %d instead of %d", durable.ErrCorrupt, l.Actor, c.First, max(next, expect))
		}
		next = c.Last() + 1
		if c.Last() <= after {
			return nil
		}
		return c.Each(func(seq uint64, record []byte) error {
			if seq <= after {
				return nil
			}
			return fn(seq, record)
		})
	})
	if err == nil && next <= tail && expect <= tail {
		err = fmt.Errorf("%w: %s: the log ends at %d instead of %d", durable.ErrCorrupt, l.Actor, max(next, expect)-1, tail)
	}
	return err
}

// chunkBefore returns the first seq of the last chunk that begins at or before after, or 0 if there
// is none. The record after+1 is in this chunk, or begins the next one.
func (l *actorLog) chunkBefore(txn *badgerdb.Txn, after uint64) (uint64, error) {
	if after == 0 {
		return 0, nil
	}
	it := txn.NewIterator(badgerdb.IteratorOptions{Prefix: l.prefix, Reverse: true})
	defer it.Close()
	it.Seek(layout.ChunkKey(l.Actor, after))
	if !it.Valid() {
		return 0, nil
	}
	return layout.ChunkSeq(it.Item().Key(), len(l.prefix))
}

// chunks calls fn for the log's chunks whose first seq is at least first. A chunk is valid only
// during the call.
func (l *actorLog) chunks(txn *badgerdb.Txn, first uint64, fn func(layout.Chunk) error) error {
	// Prefetching is off, because Badger starts a goroutine for each prefetched value, and most
	// values are stored with their keys anyway.
	it := txn.NewIterator(badgerdb.IteratorOptions{Prefix: l.prefix})
	defer it.Close()
	for it.Seek(layout.ChunkKey(l.Actor, first)); it.Valid(); it.Next() {
		if err := viewChunk(txn, it.Item(), len(l.prefix), fn); err != nil {
			return err
		}
	}
	return nil
}

// viewChunk passes the chunk in an item's value to fn. The chunk is valid only during the call.
func viewChunk(txn *badgerdb.Txn, item *badgerdb.Item, prefix int, fn func(layout.Chunk) error) error {
	return viewValue(txn, item, func(value []byte) error {
		c, err := layout.DecodeChunk(item.Key(), value, prefix)
		if err != nil {
			return err
		}
		return fn(c)
	})
}
