package durable

import (
	"errors"

	"github.com/asynkron/protoactor-go/actor"
)

// strategy restarts a failed actor after an exponential backoff, and quarantines it after too many
// failures. The library's own strategies either stop after ten restarts, which take only
// milliseconds, or never stop.
type strategy[C, E, V any] struct{ host *Host[C, E, V] }

// HandleFailure is called on the supervisor's goroutine.
func (s strategy[C, E, V]) HandleFailure(_ *actor.ActorSystem, supervisor actor.Supervisor, child *actor.PID, _ *actor.RestartStatistics, reason any, _ any) {
	h := s.host
	hd := h.byPID(child)
	if hd == nil {
		supervisor.StopChildren(child)
		return
	}
	h.stats.Failures.Add(1)
	hd.down()
	now := h.opts.Clock.Uptime()
	if now-hd.failedAt > h.opts.FailureWindow {
		hd.failures, hd.restarts = 0, 0
	}
	hd.restarts++
	hd.failedAt = now
	f, known := reason.(failure)
	// It is not a failure of the actor if the store accepts no writes, or none from this node.
	if !known || !errors.Is(f.err, ErrReadOnly) && !errors.Is(f.err, ErrClosed) && !errors.Is(f.err, ErrFenced) {
		hd.failures++
	}

	// Only the text of this package's own failures is logged. The text of any other panic could
	// contain personal data.
	text := "panic"
	if known {
		text = f.Error()
	}
	hd.lastError.Store(&text)

	if hd.failures > h.opts.MaxFailures {
		h.log.Error("actor quarantined after repeated failures", "actor", hd.actorID, "failures", hd.failures, "error", text)
		hd.condition.Store(int32(Quarantined))
		hd.readyOnce.Do(func() { close(hd.ready) })
		// One more incarnation answers the waiting commands and then stops.
		supervisor.RestartChildren(child)
		h.opts.Clock.AfterFunc(h.opts.QuarantineFor, func() { h.forget(hd) })
		return
	}
	backoff := h.opts.BackoffMax
	if shift := hd.restarts - 1; shift < 20 {
		backoff = min(backoff, h.opts.BackoffMin<<shift)
	}
	h.log.Warn("actor failed, restarting", "actor", hd.actorID, "failures", hd.failures, "backoff", backoff, "error", text)
	h.opts.Clock.AfterFunc(backoff, func() { supervisor.RestartChildren(child) })
}

func (h *Host[C, E, V]) byPID(pid *actor.PID) *Handle[C, E, V] {
	for _, hd := range h.Active() {
		if hd.pid.Id == pid.Id {
			return hd
		}
	}
	return nil
}
