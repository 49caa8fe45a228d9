package durable

import (
	"sync"
	"sync/atomic"
	"time"

	"atelier/actors/clock"
)

// Reply is the answer to a command.
type Reply struct {
	// Value is what the core gave; nil with an error.
	Value any
	// Seq is the position in the actor's log that the answer shows.
	Seq uint64
	// Err is a *Rejection or one of this package's errors.
	Err error
}

// Replier takes one answer. It is called once, from the actor's goroutine,
// and must not block.
type Replier interface{ Reply(Reply) }

// slot is a place for one answer, used again and again. A future of the actor
// library costs 1.5 us, this a quarter of it.
type slot struct {
	ch chan Reply // capacity 1, so that Reply never blocks
	// deadline is the tick after which the wait is over; 0 while nobody waits.
	// The goroutine that sets it to 0 answers, so there is one answer.
	deadline atomic.Int64
}

// Reply answers who waits; too late, it is dropped.
func (s *slot) Reply(r Reply) {
	if s.deadline.Swap(0) != 0 {
		s.ch <- r
	}
}

// slots hands out places for answers and ends waits that take too long. A
// timer for each wait would cost 5 % of a durable command; one look at all
// places each tick costs nothing.
type slots struct {
	clock clock.Clock
	limit time.Duration
	tick  atomic.Int64 // starts at 1

	mu   sync.Mutex
	all  map[*slot]struct{} // guarded by mu; as many as ever waited at a time
	free []*slot            // guarded by mu
	// closed: nothing answers any more, and waits do not end by themselves. Guarded by mu.
	closed bool

	stop chan struct{}
	done sync.WaitGroup
}

// slotTicks is in how many ticks a wait may take; it ends within one more.
const slotTicks = 20

func newSlots(c clock.Clock, limit time.Duration) *slots {
	s := &slots{clock: c, limit: limit, all: map[*slot]struct{}{}, stop: make(chan struct{})}
	s.tick.Store(1)
	s.done.Go(s.watch)
	return s
}

// get returns a place in which the wait begins now.
func (s *slots) get() *slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		sl := &slot{ch: make(chan Reply, 1)}
		sl.ch <- Reply{Err: ErrUnavailable}
		return sl
	}
	n := len(s.free)
	if n == 0 {
		sl := &slot{ch: make(chan Reply, 1)}
		sl.deadline.Store(s.tick.Load() + slotTicks)
		s.all[sl] = struct{}{}
		return sl
	}
	sl := s.free[n-1]
	s.free = s.free[:n-1]
	sl.deadline.Store(s.tick.Load() + slotTicks)
	return sl
}

// put takes back a place in which nobody waits any more.
func (s *slots) put(sl *slot) {
	sl.deadline.Store(0)
	s.mu.Lock()
	s.free = append(s.free, sl)
	s.mu.Unlock()
}

// await returns what came to a place, and takes the place back. After a
// time-out it is not used again: a late answer may still come to it.
func (s *slots) await(sl *slot) Reply {
	r := <-sl.ch
	if r.Err != ErrTimeout {
		s.put(sl)
	}
	return r
}

// watch ends the waits that are over.
func (s *slots) watch() {
	tick := s.clock.NewTicker(max(s.limit/slotTicks, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C():
		}
		now := s.tick.Add(1)
		s.mu.Lock()
		for sl := range s.all {
			if d := sl.deadline.Load(); d != 0 && d < now && sl.deadline.CompareAndSwap(d, 0) {
				delete(s.all, sl)
				sl.ch <- Reply{Err: ErrTimeout}
			}
		}
		s.mu.Unlock()
	}
}

// close ends all waits: nobody is left who would.
func (s *slots) close() {
	close(s.stop)
	s.done.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for sl := range s.all {
		if sl.deadline.Swap(0) != 0 {
			sl.ch <- Reply{Err: ErrUnavailable}
		}
	}
}
