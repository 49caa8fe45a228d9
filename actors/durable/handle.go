package durable

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"atelier/actors/clock"
)

// Condition is the current condition of an actor.
type Condition int32

// The conditions of an actor.
const (
	Starting    Condition = iota // recovering for the first time
	Running                      // answers
	Restarting                   // failed, waits for its backoff or recovers
	Quarantined                  // failed too often
	Resting                      // stopping or stopped
)

// Handle is the address of one active actor, with its read view. Safe for concurrent use. Once the
// actor is stopping or has stopped, for example because it was idle, the handle refuses commands
// with ErrRested. Host.Get then returns a new handle.
type Handle[C, E, V any] struct {
	id       string
	actorID  string
	host     *Host[C, E, V]
	pid      *actor.PID
	observer Observer[E, V]

	view      atomic.Pointer[viewAt[V]]
	condition atomic.Int32
	pending   atomic.Int64 // unanswered commands and reads
	used      atomic.Int64 // the Clock's uptime at the last use
	sent      atomic.Uint64
	interconnect

	ready     chan struct{} // closed when the first recovery has succeeded or failed
	readyOnce sync.Once
	done      chan struct{} // closed when the actor has stopped
	doneOnce  sync.Once

	// Owned by the supervisor's goroutine.
	failures  int           // those that count towards a quarantine
	restarts  int           // failures of any kind
	failedAt  time.Duration // the Clock's uptime at the last failure
	lastError atomic.Pointer[string]
}

// waitSample is the sampling interval for the time in the mailbox: one in waitSample commands is
// measured.
const waitSample = 8

type viewAt[V any] struct {
	view  *V
	seq   uint64
	chain uint64 // the hash of that record, see chained
}

// ID returns the actor's id.
func (h *Handle[C, E, V]) ID() string { return h.id }

// Clock returns the clock of the actor's host.
func (h *Handle[C, E, V]) Clock() clock.Clock { return h.host.opts.Clock }

// View returns the newest committed view, or nil before the first recovery. It is immutable.
func (h *Handle[C, E, V]) View() *V {
	if v := h.view.Load(); v != nil {
		return v.view
	}
	return nil
}

// ViewAt returns the newest committed view and the seq of the last event in it, or nil and 0 before
// the first recovery.
func (h *Handle[C, E, V]) ViewAt() (*V, uint64) {
	if v := h.view.Load(); v != nil {
		return v.view, v.seq
	}
	return nil, 0
}

// Condition returns the actor's current condition.
func (h *Handle[C, E, V]) Condition() Condition { return Condition(h.condition.Load()) }

// Ask sends a command and waits for its answer: the core's value, and a position in the log that
// includes the result. The error is a *Rejection or one of this package's errors, possibly wrapped.
// After ErrTimeout and ErrUnavailable it is unknown whether the command was applied. ErrRested and
// ErrUnknownCommand are exceptions, although they wrap ErrUnavailable.
func (h *Handle[C, E, V]) Ask(cmd C) (any, uint64, error) {
	sl := h.host.replies.get()
	if err := h.Submit(cmd, sl); err != nil {
		h.host.replies.put(sl)
		return nil, 0, err
	}
	r := h.host.replies.await(sl)
	return r.Value, r.Seq, r.Err
}

// Submit sends a command, and never blocks. to receives the answer and can be nil. If Submit
// returns an error, nothing was sent.
func (h *Handle[C, E, V]) Submit(cmd C, to Replier) error {
	if h.host.opts.Gate != nil && !h.host.kind.urgent(cmd) {
		if err := h.host.opts.Gate(); err != nil {
			return err
		}
	}
	// Submit changes pending and then reads condition, while tryRest changes condition and then
	// reads pending. At least one of them therefore notices the other.
	if h.pending.Add(1) > int64(h.host.opts.MaxPending) {
		h.pending.Add(-1)
		return ErrBusy
	}
	if c := h.Condition(); c != Running {
		h.pending.Add(-1)
		switch c {
		case Quarantined:
			return ErrQuarantined
		case Resting:
			return ErrRested
		}
		return ErrUnavailable
	}
	env := h.host.envelopes.Get().(*envelope[C])
	env.cmd, env.to = cmd, to
	if h.host.opts.Waited != nil && h.sent.Add(1)%waitSample == 0 {
		env.sent = h.host.opts.Clock.Uptime()
	}
	h.host.system.Root.Send(h.pid, env)
	return nil
}

// touch records that the actor is in use. It uses the uptime, because a jump of the time of day
// would make all actors look idle.
func (h *Handle[C, E, V]) touch() { h.used.Store(int64(h.host.opts.Clock.Uptime())) }

// publish makes a committed view readable.
func (h *Handle[C, E, V]) publish(v *V, seq, chain uint64) {
	if h.Owns() { // otherwise the owner's commits would keep an unused replica in memory
		h.touch()
	}
	h.view.Store(&viewAt[V]{v, seq, chain})
}

// recovered opens the handle for commands after a recovery, unless the actor was stopping when it
// failed. It returns the condition.
func (h *Handle[C, E, V]) recovered(took time.Duration) Condition {
	if !h.condition.CompareAndSwap(int32(Starting), int32(Running)) {
		h.condition.CompareAndSwap(int32(Restarting), int32(Running))
	}
	h.readyOnce.Do(func() { close(h.ready) })
	h.host.stats.Recoveries.Add(1)
	h.host.log.Debug("actor recovered", "actor", h.actorID, "took", took)
	return h.Condition()
}

func (h *Handle[C, E, V]) down() {
	h.condition.CompareAndSwap(int32(Running), int32(Restarting))
}

// stopped removes a handle whose actor has stopped. A quarantined actor's handle remains, so that
// callers get the error.
func (h *Handle[C, E, V]) stopped() {
	h.doneOnce.Do(func() {
		if h.Condition() == Resting {
			h.host.forget(h)
		}
		close(h.done)
	})
}

// tryRest closes the handle for commands if none is pending, and reports whether it did.
func (h *Handle[C, E, V]) tryRest() bool {
	if !h.condition.CompareAndSwap(int32(Running), int32(Resting)) {
		return false
	}
	if h.pending.Load() != 0 {
		// The handle opens again, unless the actor was quarantined in the meantime.
		h.condition.CompareAndSwap(int32(Resting), int32(Running))
		return false
	}
	return true
}
