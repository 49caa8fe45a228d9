package durable

import (
	"errors"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// failure is the panic value that ends an incarnation. The supervisor receives it.
type failure struct{ err error }

func (f failure) Error() string { return f.err.Error() }

// abandon answers all waiting callers.
func (s *actorRuntime[C, E, V]) abandon(err error) {
	open := append(s.flying, s.next)
	if s.releasing != nil {
		open = append(open, s.releasing)
	}
	for _, b := range open {
		s.answerAll(b, err)
	}
	s.flying, s.releasing, s.next = nil, nil, &batch[E, V]{first: s.seq + 1}
}

// answerAll answers the callers that wait for a batch.
func (s *actorRuntime[C, E, V]) answerAll(b *batch[E, V], err error) {
	for _, w := range b.waiters {
		s.answer(w.to, Reply{Err: err})
	}
	b.waiters = nil
}

// end answers all waiting callers and closes the log.
func (s *actorRuntime[C, E, V]) end(err error) {
	s.abandon(err)
	if s.log != nil {
		s.log.Close()
	}
}

// fail ends this incarnation. If the store accepts no writes, the commands that were not sent to it
// get ErrReadOnly, so that a full disk is not mistaken for a fault. Commands in flight get
// ErrUnavailable, because they may still be committed.
func (s *actorRuntime[C, E, V]) fail(err error) {
	s.handle.down()
	if errors.Is(err, ErrReadOnly) {
		s.answerAll(s.next, ErrReadOnly)
	}
	s.abandon(ErrUnavailable)
	panic(failure{err})
}

// rest begins to stop the actor.
func (s *actorRuntime[C, E, V]) rest(ctx actor.Context, snapshot bool) {
	s.resting = true
	s.forceSnapshot = s.forceSnapshot || snapshot && (s.sinceEvents >= worthEvents || s.sinceBytes >= worthBytes)
	s.resumeErasing(ctx)
	s.tryStop(ctx)
}

// A snapshot when an actor stops spares the next start from applying the newest events. For fewer
// events and bytes than these, none is written, because a server with 100,000 new codelabs could
// not write all snapshots within the 30 seconds of its shutdown.
const (
	worthEvents = 64
	worthBytes  = 64 << 10
)

// tryStop stops a resting actor once nothing is in flight.
func (s *actorRuntime[C, E, V]) tryStop(ctx actor.Context) {
	if s.busy() {
		return
	}
	if s.forceSnapshot {
		s.maybeSnapshot(ctx, s.handle.View())
		if s.snapshotting {
			return
		}
	}
	ctx.Stop(ctx.Self())
}

// drained stops a quarantined actor once all its callers are answered. Commands in the mailbox of a
// stopped actor would get no answer.
func (s *actorRuntime[C, E, V]) drained(ctx actor.Context) {
	if s.handle.pending.Load() == 0 {
		ctx.Stop(ctx.Self())
		return
	}
	self, root := ctx.Self(), ctx.ActorSystem().Root
	s.host.opts.Clock.AfterFunc(time.Millisecond, func() { root.Send(self, drain{}) })
}
