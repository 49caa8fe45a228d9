//go:build !linux

package live

// event exists only because the loop's code needs the type: sockets are never polled on this
// system.
type event struct {
	id           uint64
	in, out, hup bool
}

// poller only waits for wake-ups: every wire is a pipe and posts to the loop.
type poller struct {
	// woken has capacity 1, and is never closed.
	woken chan struct{}
}

func newPoller() (*poller, error) {
	return &poller{woken: make(chan struct{}, 1)}, nil
}

func (p *poller) poll() []event { return nil }

func (p *poller) park() { <-p.woken }

func (p *poller) wake() {
	select {
	case p.woken <- struct{}{}:
	default:
	}
}

func (p *poller) close() {}
