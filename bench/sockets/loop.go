//go:build linux

package sockets

import (
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"atelier/bench/latency"
	"atelier/bench/pacing"
)

// Handler handles events. It is called on the loop's goroutine and must not block.
type Handler interface {
	// Open is called when the server has accepted the upgrade.
	Open(c *Conn)
	// Message handles a message, or an event of an event stream. The payload is valid only during
	// the call.
	Message(c *Conn, payload []byte)
	// Closed is called once after a connection has ended, unless Close or Stop ended it.
	Closed(c *Conn, end End)
}

// Loop is one epoll loop with its agenda. Create it with New, run it with Run.
type Loop struct {
	// Immutable after New.
	clock   pacing.Clock
	handler Handler
	poller  *poller

	// Agenda contains the planned operations. The loop's goroutine owns it.
	Agenda pacing.Agenda
	// Turns records the times between two polls of the loop's sockets. The generator itself can
	// delay the reading of a delivery by up to this time. The loop's goroutine owns it.
	Turns *latency.Histogram
	// Busy is the time in which the loop was not parked. The loop's goroutine owns it.
	Busy time.Duration

	// The loop's goroutine owns conns.
	conns map[uint64]*Conn
	// The loop's goroutine owns lastID.
	lastID uint64
	// readAt is the time of the last read(2). The loop's goroutine owns it.
	readAt time.Duration
	// buffer is the read buffer of all connections of the loop. The loop's goroutine owns it.
	buffer [64 << 10]byte
	// random generates masking keys. The loop's goroutine owns it.
	random *rand.Rand

	mu sync.Mutex
	// posted contains functions to run on the loop. Guarded by mu. It is bounded only by the number
	// of requests in progress.
	posted []func()
	// Guarded by mu.
	stopping bool
	// done is closed when Run has returned.
	done chan struct{}
}

// New returns a loop. Run starts it.
func New(clock pacing.Clock, seed uint64, handler Handler) (*Loop, error) {
	p, err := newPoller()
	if err != nil {
		return nil, err
	}
	return &Loop{
		clock: clock, handler: handler, poller: p, conns: map[uint64]*Conn{}, Turns: latency.New(),
		random: rand.New(rand.NewPCG(seed, 0x6d61736b)), done: make(chan struct{}),
	}, nil
}

// Now returns the time on the loop's clock.
func (l *Loop) Now() time.Duration { return l.clock.Now() }

// ReadAt returns the time at which the bytes were read that the Handler is handling. All messages
// of one read(2) have the same time.
func (l *Loop) ReadAt() time.Duration { return l.readAt }

// Post runs f on the loop's goroutine, after previously posted functions. After Stop it does
// nothing.
func (l *Loop) Post(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopping {
		return
	}
	l.posted = append(l.posted, f)
	if len(l.posted) == 1 {
		l.poller.wake()
	}
}

// Do runs f on the loop's goroutine and returns when f has returned or the loop has ended. It must
// not be called on that goroutine.
func (l *Loop) Do(f func()) {
	ran := make(chan struct{})
	l.Post(func() { f(); close(ran) })
	select {
	case <-ran:
	case <-l.done:
	}
}

// Stop ends Run and waits for it. Connections are closed without a close frame.
func (l *Loop) Stop() {
	l.mu.Lock()
	if !l.stopping {
		l.stopping = true
		l.poller.wake()
	}
	l.mu.Unlock()
	<-l.done
}

// Run runs the loop until Stop. Call it once, on its own goroutine.
func (l *Loop) Run() {
	defer close(l.done)
	begin := l.clock.Now()
	for l.runPosted() {
		due := l.Agenda.Run(l.clock.Now())
		ready := l.poller.poll()
		for _, ev := range ready {
			l.serve(ev)
		}
		now := l.clock.Now()
		l.Turns.Record(now - begin)
		l.Busy += now - begin
		begin = now
		if len(ready) == 0 {
			l.poller.park(due - now)
			begin = l.clock.Now()
		}
	}
	for _, c := range l.conns {
		unix.Close(c.fd)
	}
	l.conns = nil
	l.mu.Lock()
	defer l.mu.Unlock()
	l.poller.close()
}

// runPosted runs the posted functions. It returns false if the loop must end.
func (l *Loop) runPosted() bool {
	l.mu.Lock()
	posted, stopping := l.posted, l.stopping
	l.posted = nil
	l.mu.Unlock()
	for _, f := range posted {
		f()
	}
	return !stopping
}

func (l *Loop) serve(ev unix.EpollEvent) {
	// A connection closed earlier in the same batch is no longer in the map.
	c := l.conns[id(ev)]
	if c == nil {
		return
	}
	if c.state == connecting {
		c.connected()
		return
	}
	if ev.Events&unix.EPOLLOUT != 0 {
		c.flush()
	}
	if c.state == closed {
		return
	}
	if c.paused {
		// No events are requested, so this can only be an error or a reset.
		if ev.Events&(unix.EPOLLERR|unix.EPOLLHUP) != 0 {
			c.end(End{Err: unix.ECONNRESET})
		}
		return
	}
	if ev.Events&(unix.EPOLLIN|unix.EPOLLERR|unix.EPOLLHUP) != 0 {
		c.read()
	}
}
