package badger

import (
	"errors"
	"fmt"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/actors/durable"
	"atelier/persistence/layout"
)

// Replay implements durable.Log. It reads one consistent state of the store.
func (l *actorLog) Replay(after uint64, fn func(seq uint64, record []byte) error) error {
	if l.closed.Load() {
		return durable.ErrClosed
	}
	s := l.store
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	return s.view(func(txn *badgerdb.Txn) error {
		return l.replay(txn, after, fn)
	})
}

func (l *actorLog) replay(txn *badgerdb.Txn, after uint64, fn func(uint64, []byte) error) error {
	start, err := l.chunkBefore(txn, after)
	if err != nil {
		return err
	}
	var next uint64 // 0 before the first chunk
	return l.chunks(txn, start, func(c layout.Chunk) error {
		if next == 0 {
			if err := l.checkStart(txn, c.First, after); err != nil {
				return err
			}
		} else if c.First != next {
			return fmt.Errorf("%w: %s: a chunk starts at %d instead of %d",
				durable.ErrCorrupt, l.actor, c.First, next)
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
}

// chunkBefore is the first seq of the chunk that may hold the record after+1,
// or 0 when the replay starts at the log's beginning.
func (l *actorLog) chunkBefore(txn *badgerdb.Txn, after uint64) (uint64, error) {
	if after == 0 {
		return 0, nil
	}
	it := txn.NewIterator(badgerdb.IteratorOptions{Prefix: l.prefix, Reverse: true})
	defer it.Close()
	it.Seek(layout.ChunkKey(l.actor, after))
	if !it.Valid() {
		return 0, nil
	}
	return layout.ChunkSeq(it.Item().Key(), len(l.prefix))
}

// checkStart tells a log that was truncated from one that lost its beginning:
// records are truncated only when the snapshot has them.
func (l *actorLog) checkStart(txn *badgerdb.Txn, first, after uint64) error {
	if first-1 <= after {
		return nil
	}
	head, err := readHead(txn, l.actor)
	if err != nil && !errors.Is(err, durable.ErrNotFound) {
		return err
	}
	if first > head.Seq+1 {
		return fmt.Errorf("%w: %s: the log starts at %d, the snapshot ends at %d",
			durable.ErrCorrupt, l.actor, first, head.Seq)
	}
	return nil
}

// chunks calls fn for the log's chunks from the one with seq first on. A chunk
// is valid only during the call.
func (l *actorLog) chunks(txn *badgerdb.Txn, first uint64, fn func(layout.Chunk) error) error {
	// Values are fetched one by one: Badger's prefetching starts a goroutine
	// for each, and most values lie beside their keys anyway.
	it := txn.NewIterator(badgerdb.IteratorOptions{Prefix: l.prefix})
	defer it.Close()
	for it.Seek(layout.ChunkKey(l.actor, first)); it.Valid(); it.Next() {
		if err := viewChunk(txn, it.Item(), len(l.prefix), fn); err != nil {
			return err
		}
	}
	return nil
}

// viewChunk decodes the item's value for the time of the call.
func viewChunk(txn *badgerdb.Txn, item *badgerdb.Item, prefix int, fn func(layout.Chunk) error) error {
	return viewValue(txn, item, func(value []byte) error {
		c, err := layout.DecodeChunk(item.Key(), value, prefix)
		if err != nil {
			return err
		}
		return fn(c)
	})
}
