package badger

import (
	"sync"

	"atelier/actors/durable"
)

// kind says what a queued item is.
type kind uint8

const (
	kindBatch    kind = iota // records of a log, with rows
	kindRows                 // rows alone
	kindOpen                 // a new handle: fences the earlier one
	kindPurge                // fences the actor's handle
	kindBarrier              // nothing but its place in the queue
	kindSnapshot             // to be handed on once what stands before is committed
	kindRelease              // a handle was closed
)

// item is one entry of the writer's queue.
type item struct {
	kind  kind
	log   *actorLog // nil for rows and purges
	actor string    // of a purge
	first uint64
	rows  []durable.Row
	// guards says that rows have guards; only rows alone may.
	guards bool
	recs   durable.Records
	count  int // records
	bytes  int // what it holds in memory, and of the queue's bound
	cost   txnCost
	job    *snapshotJob
	done   func(error)

	// Owned by the writer from here on.
	err  error // why it was refused; nil while it may still be committed
	next int32 // the next batch of the same span, or noItem
}

// queue holds what waits for the writer: any number of producers, one
// consumer. Its bound is in bytes and covers what the writer is working on;
// when it is full, Append gets ErrBusy.
type queue struct {
	limit int64
	wake  chan struct{} // capacity 1; a token means: look at items

	mu     sync.Mutex
	items  []item // guarded by mu
	bytes  int64  // guarded by mu; queued and in work
	count  int    // guarded by mu; queued and in work
	closed bool   // guarded by mu
}

func newQueue(limit int64) *queue {
	return &queue{limit: limit, wake: make(chan struct{}, 1)}
}

// push queues an item. Items without bytes (opening, closing) always enter.
func (q *queue) push(it item) error {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return durable.ErrClosed
	}
	if it.bytes > 0 && q.bytes > 0 && q.bytes+int64(it.bytes) > q.limit {
		q.mu.Unlock()
		return durable.ErrBusy
	}
	q.bytes += int64(it.bytes)
	q.count++
	first := len(q.items) == 0
	q.items = append(q.items, it)
	q.mu.Unlock()
	if first {
		q.signal()
	}
	return nil
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take waits for items and returns all of them; empty is a spare slice for
// what comes next. ok is false when the queue is closed and drained.
func (q *queue) take(empty []item) (items []item, ok bool) {
	for {
		q.mu.Lock()
		if len(q.items) > 0 {
			items, q.items = q.items, empty
			q.mu.Unlock()
			return items, true
		}
		closed := q.closed
		q.mu.Unlock()
		if closed {
			return nil, false
		}
		<-q.wake
	}
}

// release gives the room of finished items back.
func (q *queue) release(count int, bytes int64) {
	q.mu.Lock()
	q.count -= count
	q.bytes -= bytes
	q.mu.Unlock()
}

// close refuses further items; what is queued is still taken.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
}

func (q *queue) load() (count int, bytes int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.count, q.bytes
}
