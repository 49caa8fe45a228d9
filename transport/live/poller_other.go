//go:build !linux

package live

// event exists for the loop's sake; sockets are never polled here.
type event struct {
	id           uint64
	in, out, hup bool
}

// poller only waits to be woken: every wire is a pipe and posts to the loop.
type poller struct {
	// woken has room for one. Never closed.
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
