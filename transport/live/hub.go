package live

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

var (
	// ErrDraining means that the hub accepts no sessions, because Drain or Close was called.
	ErrDraining = errors.New("live: hub is draining")
	// ErrClosed means that the hub was closed.
	ErrClosed = errors.New("live: hub is closed")
)

// Hub owns the loops, and through them every session.
type Hub struct {
	// Immutable after New.
	opts Options
	// Immutable after New.
	loops []*loop
	// The zero point of the hub's clock. Immutable after New.
	born time.Time

	// Counts sessions, for their ids and to distribute them over the loops.
	attached atomic.Uint64
	// Set by Drain and Close, cleared by Reopen. While it is set, new sessions are refused.
	draining atomic.Bool

	// Set by Start.
	started atomic.Bool
	// Closed by Close.
	stop chan struct{}
	// Makes Close run once.
	stopOnce sync.Once
	// Counts the loops' goroutines and the clock.
	running sync.WaitGroup
	// Counts the goroutines of pipes.
	pipes sync.WaitGroup
}

// New returns a hub. Its loops run from Start to Close.
func New(o Options) (*Hub, error) {
	h := &Hub{opts: o.withDefaults(), born: time.Now(), stop: make(chan struct{})}
	for range h.opts.Loops {
		l, err := newLoop(h)
		if err != nil {
			for _, l := range h.loops {
				l.poller.close()
			}
			return nil, fmt.Errorf("make event loop: %w", err)
		}
		h.loops = append(h.loops, l)
	}
	return h, nil
}

// Start starts the loops. It must be called once, before Attach. Sessions are numbered after last;
// see codelab.SessionNumbers.
func (h *Hub) Start(last uint64) {
	h.attached.Store(last)
	h.started.Store(true)
	for _, l := range h.loops {
		h.running.Go(l.run)
	}
	h.running.Go(h.clock)
}

// Close aborts every session, stops the loops and waits for them. It must not run concurrently with
// Start.
func (h *Hub) Close() {
	h.stopOnce.Do(func() {
		h.draining.Store(true)
		close(h.stop)
		for _, l := range h.loops {
			if h.started.Load() {
				l.post(func() { l.stopped = true })
			} else {
				l.finish()
			}
		}
	})
	h.running.Wait()
	h.pipes.Wait()
}

// clock is the only timer of the hub: it triggers the housekeeping of the loops.
func (h *Hub) clock() {
	ticker := time.NewTicker(h.opts.Tick)
	defer ticker.Stop()
	for {
		select {
		case <-h.stop:
			return
		case <-ticker.C:
			for _, l := range h.loops {
				l.post(l.housekeep)
			}
		}
	}
}
