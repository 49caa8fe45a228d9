package durable

import (
	"sync"
	"sync/atomic"
	"time"

	"atelier/actors/clock"
)

// Reply is the answer to a command.
type Reply struct {
	// Value is the core's value, or nil with an error.
	Value any
	// Seq is the position in the actor's log that includes the answer.
	Seq uint64
	// Err is a *Rejection or one of this package's errors, possibly wrapped.
	Err error
}

// Replier receives one answer. It is called once, on the actor's goroutine, and must not block.
type Replier interface{ Reply(Reply) }

// pendingReply is a reusable slot for one answer. It takes a quarter of the 1.5 us that the actor
// library's future takes.
type pendingReply struct {
	ch chan Reply // capacity 1, so that Reply never blocks
	// deadline is the tick at which the wait ends, or 0 while nobody waits. Only the goroutine that
	// changes it to 0 answers.
	deadline atomic.Int64
}

// Reply answers the waiting caller; a late answer is dropped.
func (s *pendingReply) Reply(r Reply) {
	if s.deadline.Swap(0) != 0 {
		s.ch <- r
	}
}

// pendingReplies contains the slots for answers, and enforces their timeouts. A timer per wait
// would take 5 % of the time of a durable command. Checking all slots once per tick costs nothing
// measurable.
type pendingReplies struct {
	clock clock.Clock
	limit time.Duration
	tick  atomic.Int64 // starts at 1

	mu   sync.Mutex
	all  map[*pendingReply]struct{} // guarded by mu; grows to the largest number of concurrent waits
	free []*pendingReply            // guarded by mu
	// closed is set by close. Slots that get returns afterwards already contain ErrUnavailable,
	// because watch no longer ends waits. Guarded by mu.
	closed bool

	stop chan struct{}
	done sync.WaitGroup
}

// waitTicks is the timeout of a wait, in ticks. The wait ends at most one tick later.
const waitTicks = 20

func newPendingReplies(c clock.Clock, limit time.Duration) *pendingReplies {
	s := &pendingReplies{clock: c, limit: limit, all: map[*pendingReply]struct{}{}, stop: make(chan struct{})}
	s.tick.Store(1)
	s.done.Go(s.watch)
	return s
}

// get returns a slot. Its timeout begins now.
func (s *pendingReplies) get() *pendingReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		p := &pendingReply{ch: make(chan Reply, 1)}
		p.ch <- Reply{Err: ErrUnavailable}
		return p
	}
	n := len(s.free)
	if n == 0 {
		p := &pendingReply{ch: make(chan Reply, 1)}
		p.deadline.Store(s.tick.Load() + waitTicks)
		s.all[p] = struct{}{}
		return p
	}
	p := s.free[n-1]
	s.free = s.free[:n-1]
	p.deadline.Store(s.tick.Load() + waitTicks)
	return p
}

// put makes a slot available for reuse.
func (s *pendingReplies) put(p *pendingReply) {
	p.deadline.Store(0)
	s.mu.Lock()
	s.free = append(s.free, p)
	s.mu.Unlock()
}

// await returns the answer in a slot, and releases the slot. After a timeout the slot is not
// reused, because a late answer can still arrive in it.
func (s *pendingReplies) await(p *pendingReply) Reply {
	r := <-p.ch
	if r.Err != ErrTimeout {
		s.put(p)
	}
	return r
}

// watch ends expired waits.
func (s *pendingReplies) watch() {
	tick := s.clock.NewTicker(max(s.limit/waitTicks, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C():
		}
		now := s.tick.Add(1)
		s.mu.Lock()
		for p := range s.all {
			if d := p.deadline.Load(); d != 0 && d < now && p.deadline.CompareAndSwap(d, 0) {
				delete(s.all, p)
				p.ch <- Reply{Err: ErrTimeout}
			}
		}
		s.mu.Unlock()
	}
}

// close stops watch and ends all waits.
func (s *pendingReplies) close() {
	close(s.stop)
	s.done.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for p := range s.all {
		if p.deadline.Swap(0) != 0 {
			p.ch <- Reply{Err: ErrUnavailable}
		}
	}
}
