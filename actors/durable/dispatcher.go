package durable

import (
	"runtime"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// throughput is the number of messages that an actor handles before it yields.
const throughput = 300

// dispatcher runs mailboxes on reused goroutines. The library itself starts a goroutine for each
// burst of messages, and the goroutine's stack grows while the actor decides and applies. Copying
// the growing stacks took 20% of the CPU time of a durable command.
type dispatcher struct {
	mu     sync.Mutex
	idle   []chan func() // guarded by mu; newest last, with a warm stack
	closed bool          // guarded by mu
	most   int           // maximum number of idle goroutines
}

var _ actor.Dispatcher = (*dispatcher)(nil)

func newDispatcher() *dispatcher { return &dispatcher{most: 8 * runtime.GOMAXPROCS(0)} }

// Schedule runs fn on an idle goroutine, or a new one.
func (d *dispatcher) Schedule(fn func()) {
	d.mu.Lock()
	if n := len(d.idle); n > 0 {
		work := d.idle[n-1]
		d.idle = d.idle[:n-1]
		d.mu.Unlock()
		work <- fn // does not block, because the idle goroutine is waiting
		return
	}
	d.mu.Unlock()
	go d.run(fn)
}

// Throughput implements actor.Dispatcher.
func (d *dispatcher) Throughput() int { return throughput }

func (d *dispatcher) run(fn func()) {
	work := make(chan func(), 1)
	for {
		fn()
		d.mu.Lock()
		if d.closed || len(d.idle) >= d.most {
			d.mu.Unlock()
			return
		}
		d.idle = append(d.idle, work)
		d.mu.Unlock()
		var ok bool
		if fn, ok = <-work; !ok {
			return
		}
	}
}

// close ends the idle goroutines. Busy goroutines end after their work.
func (d *dispatcher) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for _, work := range d.idle {
		close(work)
	}
	d.idle = nil
}
