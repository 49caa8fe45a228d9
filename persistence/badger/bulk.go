package badger

import (
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"
)

// bulk writes any number of entries without the group-commit writer. The write as a whole is not
// atomic. bulk uses small transactions with pauses between them, because the writer's commits wait
// in the same queue inside Badger.
//
// BenchmarkCommitBesideSnapshot writes snapshots of 30 MB, one after the other, beside a caller
// whose commits take 0.2 ms. Without pauses, the memtables fill faster than they are written, and
// the caller's p99 is 31 ms. With pauses as long as the work it is 4 ms, and with pauses three
// times as long 2.3 ms. With the longest pauses, a snapshot takes about a second.
type bulk struct {
	store   *Store
	entries []badgerdb.Entry
	cost    txnCost
	bytes   int
}

const (
	maxBulkBytes   = 256 << 10
	maxBulkEntries = 1000
	bulkRest       = 3 // times as long as the transaction took
)

// add queues an entry. Its key and value must not be modified afterwards. A nil value deletes.
func (b *bulk) add(key, value []byte) error {
	cost := txnCost{bytes: b.store.costs.entry(len(key), len(value)), entries: 1}
	size := len(key) + len(value)
	if b.bytes+size > maxBulkBytes || len(b.entries) >= maxBulkEntries || !b.store.costs.fits(b.cost.plus(cost)) {
		if err := b.flushAndRest(); err != nil {
			return err
		}
	}
	b.entries = append(b.entries, badgerdb.Entry{Key: key, Value: value})
	b.cost = b.cost.plus(cost)
	b.bytes += size
	return nil
}

// flush commits the queued entries.
func (b *bulk) flush() error {
	if len(b.entries) == 0 {
		return nil
	}
	err := b.store.commitEntries(b.entries, nil)
	clear(b.entries)
	*b = bulk{store: b.store, entries: b.entries[:0]}
	return err
}

// flushAndRest flushes and pauses for other writers, unless the store is being closed.
func (b *bulk) flushAndRest() error {
	if len(b.entries) == 0 {
		return nil
	}
	began := time.Now()
	if err := b.flush(); err != nil {
		return err
	}
	select {
	case <-time.After(bulkRest * time.Since(began)):
	case <-b.store.hurry:
	}
	return nil
}
