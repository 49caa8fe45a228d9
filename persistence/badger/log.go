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

// actorLog is one handle. Its owner calls it from one goroutine; the writer
// keeps its own notes in it.
type actorLog struct {
	// Immutable after Open.
	store  *Store
	prefix []byte // of the actor's chunks

	// Set by Open.
	tail uint64 // seq of the last record then

	// Set by Close, which may come while Rewrite works.
	closed atomic.Bool

	// Where the log goes on; the writer's.
	calls.Cursor
	span      int    // index of the log's newest span in the group ...
	spanRound uint64 // ... of this round
}

var _ durable.Log = (*actorLog)(nil)

// Open implements durable.Journal. It waits for a snapshot or a rewriting of
// the same actor that is under way.
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
	if err := s.wait(item{kind: kindOpen, log: l}); err != nil {
		return nil, fmt.Errorf("open %s: %w", actor, err)
	}
	// Everything earlier handles may still commit is committed now.
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

// wait sends an item through the writer's queue and waits until everything
// before it is committed.
func (s *Store) wait(it item) error {
	done := make(chan error, 1)
	it.done = func(err error) { done <- err }
	if err := s.queue.Push(it, it.bytes); err != nil {
		return err
	}
	return <-done
}

// tail is the seq of an actor's last record, truncated or not.
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

// tailOf is tail in a transaction that has read the head.
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
	count, err := layout.CountRecords(b.Records)
	if err != nil {
		return err
	}
	if err := layout.CheckRows(b.Rows); err != nil {
		return err
	}
	if durable.Guarded(b.Rows) {
		return errors.New("badger: rows of a log's batch carry no guards")
	}
	s := l.store
	it := item{
		kind:  kindBatch,
		log:   l,
		first: b.First,
		rows:  b.Rows,
		recs:  b.Records,
		count: count,

		urgent: b.Urgent,
		bytes:  len(b.Records) + rowBytes(b.Rows) + batchOverhead,
		cost:   s.costs.batch(l.Actor, b),
		done:   b.Done,
	}
	return s.push(it)
}

// batchOverhead is what a queued batch takes beside its bytes.
const batchOverhead = 256

// push queues a batch or rows for the writer.
func (s *Store) push(it item) error {
	if err := s.takes(it.urgent); err != nil {
		return err
	}
	if it.bytes > MaxBatchBytes || !s.costs.fits(it.cost) {
		return fmt.Errorf("%w: %d bytes, %d entries", durable.ErrTooLarge, it.bytes, it.cost.entries)
	}
	return s.queue.Push(it, it.bytes)
}

// Close implements durable.Log.
func (l *actorLog) Close() {
	if l.closed.Swap(true) {
		return
	}
	// Fails only when the store is closing, and then nothing needs releasing.
	_ = l.store.queue.Push(item{kind: kindRelease, log: l}, 0)
}

func appendSeq(dst []byte, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(dst, seq)
}
