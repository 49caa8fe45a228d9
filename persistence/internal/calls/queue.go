package calls

import (
	"sync"

	"atelier/actors/durable"
)

// Queue is the writer's queue, with any number of producers and one consumer. Its bound is in
// bytes, and includes items being written. If the queue is full, Push fails with durable.ErrBusy.
type Queue[T any] struct {
	limit int64
	wake  chan struct{} // capacity 1; a token means that items must be checked

	mu     sync.Mutex
	items  []T   // guarded by mu
	bytes  int64 // guarded by mu; queued and being written
	count  int   // guarded by mu; queued and being written
	closed bool  // guarded by mu
}

// NewQueue returns an empty queue.
func NewQueue[T any](limits durable.StoreLimits) *Queue[T] {
	return &Queue[T]{limit: limits.QueueBytes, wake: make(chan struct{}, 1)}
}

// Push queues an item of the given size in bytes. Items without bytes (opening, closing) are always
// accepted, and so are items of any size while no bytes are queued or being written. After Close,
// Push fails with durable.ErrClosed.
func (q *Queue[T]) Push(it T, bytes int) error {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return durable.ErrClosed
	}
	if bytes > 0 && q.bytes > 0 && q.bytes+int64(bytes) > q.limit {
		q.mu.Unlock()
		return durable.ErrBusy
	}
	q.bytes += int64(bytes)
	q.count++
	first := len(q.items) == 0
	q.items = append(q.items, it)
	q.mu.Unlock()
	if first {
		q.signal()
	}
	return nil
}

func (q *Queue[T]) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Take waits for items and returns all of them. The next items are collected in the slice empty. ok
// is false if the queue is closed and drained.
func (q *Queue[T]) Take(empty []T) (items []T, ok bool) {
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

// Release frees the space of finished items.
func (q *Queue[T]) Release(count int, bytes int64) {
	q.mu.Lock()
	q.count -= count
	q.bytes -= bytes
	q.mu.Unlock()
}

// Close refuses further items. Queued items are still taken.
func (q *Queue[T]) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
}

// Load returns the number and the size of the items that are queued or being written.
func (q *Queue[T]) Load() (count int, bytes int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.count, q.bytes
}
