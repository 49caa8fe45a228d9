package token

import (
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// inline runs an actor's mailbox on the goroutine that finds the mailbox idle. An operation is a
// chain of short steps (shard, token, journal). Each step on another goroutine would cost a
// wake-up. With a pool of goroutines, the median latency of tokenize was 2.5 ms at 4,000 pairs of
// operations per second, and operations spent most of this time in run queues.
type inline struct{}

var _ actor.Dispatcher = inline{}

// Schedule runs fn.
func (inline) Schedule(fn func()) { fn() }

// Throughput returns the number of messages after which a mailbox yields.
func (inline) Throughput() int { return 300 }

// completions delivers the journal's results to the waiting actors. It does so on separate
// goroutines, because the journal's goroutine must not be blocked. The queue is never longer than
// the number of open operations.
type completions struct {
	mu      sync.Mutex
	wake    sync.Cond
	pending []completion // guarded by mu
	closed  bool         // guarded by mu
	done    sync.WaitGroup
}

type completion struct {
	to      *actor.PID
	message any
}

// landers is the number of goroutines that deliver completions. While one delivers the completions
// of a commit, the other can start with the next commit.
const landers = 2

func newCompletions(system *actor.ActorSystem) *completions {
	l := &completions{}
	l.wake.L = &l.mu
	for range landers {
		l.done.Go(func() { l.run(system) })
	}
	return l
}

// add queues a message to an actor. It never blocks.
func (l *completions) add(to *actor.PID, message any) {
	l.mu.Lock()
	l.pending = append(l.pending, completion{to, message})
	l.mu.Unlock()
	l.wake.Signal()
}

func (l *completions) run(system *actor.ActorSystem) {
	var batch []completion
	for {
		l.mu.Lock()
		for len(l.pending) == 0 && !l.closed {
			l.wake.Wait()
		}
		if len(l.pending) == 0 {
			l.mu.Unlock()
			return
		}
		batch, l.pending = l.pending, batch[:0]
		l.mu.Unlock()
		for _, x := range batch {
			system.Root.Send(x.to, x.message)
		}
		clear(batch)
	}
}

// close ends the goroutines after all completions were delivered.
func (l *completions) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.wake.Broadcast()
	l.done.Wait()
}
