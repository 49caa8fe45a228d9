package badger

import (
	"fmt"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/persistence/layout"
)

// truncate removes all chunks with a last seq of at most limit.
func (s *Store) truncate(b *bulk, l *actorLog, limit uint64) error {
	if err := s.step(stepTruncate); err != nil {
		return err
	}
	return s.view(func(txn *badgerdb.Txn) error {
		it := txn.NewIterator(badgerdb.IteratorOptions{Prefix: l.prefix})
		defer it.Close()
		// A chunk ends where the next one begins, so only the last chunk must be read.
		var previous []byte
		for it.Rewind(); it.Valid(); it.Next() {
			first, err := layout.ChunkSeq(it.Item().Key(), len(l.prefix))
			if err != nil {
				return err
			}
			if first > limit+1 {
				break
			}
			if previous != nil {
				if err := b.add(previous, nil); err != nil {
					return err
				}
			}
			previous = it.Item().KeyCopy(nil)
		}
		if previous == nil {
			return nil
		}
		last, err := s.chunkEnd(txn, previous, len(l.prefix))
		if err != nil || last > limit {
			return err
		}
		return b.add(previous, nil)
	})
}

func (s *Store) chunkEnd(txn *badgerdb.Txn, key []byte, prefix int) (last uint64, err error) {
	item, err := txn.Get(key)
	if err != nil {
		return 0, fmt.Errorf("badger: get the chunk %s: %w", layout.Describe(key), err)
	}
	err = viewChunk(txn, item, prefix, func(c layout.Chunk) error {
		last = c.Last()
		return nil
	})
	return last, err
}

// sweepParts removes every part that does not belong to the head. These are the parts of the older
// snapshot, and parts left by a crash.
func (s *Store) sweepParts(b *bulk, actor string, h layout.Head) error {
	if err := s.step(stepSweep); err != nil {
		return err
	}
	prefix := layout.ActorPrefix(layout.FamilyPart, actor)
	return s.eachKey(prefix, func(key []byte) error {
		if id, part, ok := layout.PartOf(key, len(prefix)); ok && id == h.ID && uint64(part) < h.Parts {
			return nil
		}
		return b.add(key, nil)
	})
}
