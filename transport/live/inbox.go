package live

import (
	"sync"
	"sync/atomic"
)

// inbox passes work from other goroutines to a loop. These goroutines add work under a mutex that
// they hold for nanoseconds. The loop takes all waiting work together.
//
// The wake-up is a system call, so it is made only for a loop that sleeps. The loop sets parked
// before it sleeps and then checks the inbox once more. A producer first adds work and then checks
// parked. Therefore either the loop notices the work, or the producer notices the sleeping loop.
//
// The inbox is bounded: each room is queued at most once, and each connection queues its outbox and
// tasks only a few times. Options.SignalBytes bounds the payloads of signals.
type inbox struct {
	mu sync.Mutex
	// Guarded by mu.
	work work
	// Guarded by mu. If set, new work is refused.
	closed bool
	// Guarded by mu. The payload bytes of the signals in work.tasks.
	signalBytes int

	// Set by the loop before it parks. Cleared by the goroutine that wakes the loop, or by the
	// loop.
	parked atomic.Bool
}

// work is the queued work of a loop, in the order in which it is done.
type work struct {
	// rooms have new frames.
	rooms []*loopRoom
	// tasks contains all other work: joins, input from pipes, signals, ticks.
	tasks []func()
	// outboxes are sessions with private messages to send.
	outboxes []*Session
}

func (w *work) empty() bool {
	return len(w.rooms)+len(w.tasks)+len(w.outboxes) == 0
}

// add calls put to add work, and wakes the loop if it sleeps. It returns false if the inbox is
// closed.
func (l *loop) add(put func(*work)) bool {
	in := &l.inbox
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return false
	}
	put(&in.work)
	// The wake-up happens under the mutex, so that the poller is still open: it is closed only
	// after inbox.closed was set.
	if in.parked.Load() && in.parked.CompareAndSwap(true, false) {
		l.count.wakeups.Add(1)
		l.poller.wake()
	}
	return true
}

// post queues a task. Accepted tasks are always run, even if the loop is about to stop.
func (l *loop) post(task func()) bool {
	return l.add(func(w *work) { w.tasks = append(w.tasks, task) })
}

// take returns the queued work, and reuses the memory of spare for new work.
func (in *inbox) take(spare work) work {
	in.mu.Lock()
	defer in.mu.Unlock()
	taken := in.work
	clear(spare.rooms)
	clear(spare.tasks)
	clear(spare.outboxes)
	in.work = work{spare.rooms[:0], spare.tasks[:0], spare.outboxes[:0]}
	return taken
}

// takeOutboxes takes only the outboxes. It is called during a fan-out.
func (in *inbox) takeOutboxes(dst []*Session) []*Session {
	in.mu.Lock()
	defer in.mu.Unlock()
	dst = append(dst, in.work.outboxes...)
	clear(in.work.outboxes)
	in.work.outboxes = in.work.outboxes[:0]
	return dst
}

// sleep sets parked, and reports whether the loop can park because nothing was added since the last
// take. The caller must call awake afterwards.
func (in *inbox) sleep() bool {
	in.parked.Store(true)
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.work.empty()
}

func (in *inbox) awake() { in.parked.Store(false) }
