package badger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	badgerdb "github.com/dgraph-io/badger/v4"

	"atelier/actors/durable"
	"atelier/persistence/internal/calls"
	"atelier/persistence/layout"
)

// actorLog is one handle of a log. Its owner calls it from one goroutine. Some of its fields belong
// to the writer.
type actorLog struct {
	// Immutable after Open.
	store  *Store
	prefix []byte // of the actor's chunks

	// tail is set by Open.
	tail uint64 // seq of the last record at that time

	// closed is set by Close, which can be called while Rewrite runs.
	closed atomic.Bool

	// The Cursor is the log's position. The writer owns it.
	calls.Cursor
	span      int    // index of the log's newest span in the group with the round spanRound
	spanRound uint64 // group.round
}

var _ durable.Log = (*actorLog)(nil)

// Open implements durable.Journal. If a snapshot or a rewrite of the same actor is in progress,
// Open waits until it has ended.
func (s *Store) Open(actor string) (durable.Log, error) {
	if err := layout.CheckActor(actor); err != nil {
		return nil, err
	}
	if err := s.gate.Enter(); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	if err := s.broken(); err != nil {
		return nil, fmt.Errorf("open %s: %w", actor, err)
	}
	defer s.locks.Lock(actor)()

	l := &actorLog{store: s, Cursor: calls.Cursor{Actor: actor}, prefix: layout.ActorPrefix(layout.FamilyChunk, actor)}
	if err := s.wait(entry{Kind: calls.KindOpen, Log: l}); err != nil {
		return nil, fmt.Errorf("open %s: %w", actor, err)
	}
	// From here on, earlier handles commit nothing more.
	tail, err := s.tail(actor)
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("open %s: %w", actor, err)
	}
	l.tail, l.Next = tail, tail+1
	return l, nil
}

// Tail implements durable.Log.
func (l *actorLog) Tail() uint64 { return l.tail }

// wait sends an item through the writer's queue and waits until everything before it was committed
// or failed.
func (s *Store) wait(e entry) error {
	done := make(chan error, 1)
	e.Done = func(err error) { done <- err }
	if err := s.queue.Push(item{entry: e}, 0); err != nil {
		return err
	}
	return <-done
}

// tail returns the seq of an actor's last record, truncated or not.
func (s *Store) tail(actor string) (tail uint64, err error) {
	err = s.view(func(txn *badgerdb.Txn) error {
		head, err := readHead(txn, actor)
		if err != nil && !errors.Is(err, durable.ErrNotFound) {
			return err
		}
		tail, err = tailOf(txn, actor, head)
		return err
	})
	return tail, err
}

// tailOf does the same as tail, in a transaction that has already read the head.
func tailOf(txn *badgerdb.Txn, actor string, head layout.Head) (uint64, error) {
	tail := head.Seq
	prefix := layout.ActorPrefix(layout.FamilyChunk, actor)
	it := txn.NewIterator(badgerdb.IteratorOptions{Prefix: prefix, Reverse: true})
	defer it.Close()
	it.Seek(appendSeq(prefix, ^uint64(0)))
	if !it.Valid() {
		return tail, nil
	}
	err := viewChunk(txn, it.Item(), len(prefix), func(c layout.Chunk) error {
		tail = max(tail, c.Last())
		return nil
	})
	return tail, err
}

// Append implements durable.Log.
func (l *actorLog) Append(b durable.Batch) error {
	if l.closed.Load() {
		return durable.ErrClosed
	}
	e, err := calls.BatchItem(l, b)
	if err != nil {
		return fmt.Errorf("badger: %w", err)
	}
	e.Bytes = len(b.Records) + rowBytes(b.Rows) + batchOverhead
	return l.store.push(item{entry: e, urgent: b.Urgent, cost: l.store.costs.batch(l.Actor, b)})
}

// batchOverhead is the memory of a queued batch in addition to its records and rows, in bytes.
const batchOverhead = 256

// push queues a batch or rows for the writer.
func (s *Store) push(it item) error {
	if err := s.takes(it.urgent); err != nil {
		return err
	}
	if it.Bytes > MaxBatchBytes || !s.costs.fits(it.cost) {
		return fmt.Errorf("%w: %d bytes, %d entries", durable.ErrTooLarge, it.Bytes, it.cost.entries)
	}
	return s.queue.Push(it, it.Bytes)
}

// Close implements durable.Log.
func (l *actorLog) Close() {
	if l.closed.Swap(true) {
		return
	}
	// Push fails only if the store is closing, and then nothing needs to be released.
	_ = l.store.queue.Push(item{entry: entry{Kind: calls.KindRelease, Log: l}}, 0)
}

func appendSeq(dst []byte, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(dst, seq)
}
