package durable

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/asynkron/protoactor-go/actor"
)

// Erasure removes data that must no longer be kept from the log and the snapshot. The order of its
// steps makes it safe, whatever happens concurrently:
//
//  1. The batch with the event that requests the erasure also contains a row with this request. The
//     row stays until the erasure is done, so that the next start resumes an erasure that a crash
//     interrupted.
//  2. A snapshot of a state that contains the event is stored.
//  3. The log is rewritten up to that snapshot. The snapshot's view decides which records are
//     erased, so later records are not changed. The rewrite raises the base of the log (LogReader).
//     No node applies records up to the base again, so no state lacks the effect of an erased
//     record.
//
// Requests that arrive during a round wait for the next round. There is a pause between rounds,
// because each round costs a snapshot and a scan of the log.
type erasure struct {
	due  uint64 // seq of the newest applied event that requests an erasure; 0 if there is none
	from uint64 // the value of due when the current round began
	row  []byte // value of this actor's row in erasureTable; nil if there is no row
	step erasureStep
	// paused means that the next round waits for eraseNow.
	paused bool
	// done means that nothing is left to erase, but removing the row has failed.
	done bool
}

type erasureStep int

const (
	erasureIdle erasureStep = iota
	erasureSnapshot
	erasureRewrite
)

func (e *erasure) working() bool { return e.step != erasureIdle }

// erasureTable contains a row for each actor with something to erase.
const erasureTable = "erasure"

func erasureRow(actorID string, seq uint64) Row {
	return Row{Table: erasureTable, Key: []byte(actorID), Value: binary.BigEndian.AppendUint64(nil, seq)}
}

func (s *actorRuntime[C, E, V]) erases(e E) bool {
	return s.host.kind.Erases != nil && s.host.kind.Erases(e)
}

// erase begins a round if one is due.
func (s *actorRuntime[C, E, V]) erase(ctx actor.Context) {
	e := &s.erasure
	if e.due == 0 || e.due > s.committed || e.working() || e.paused {
		return
	}
	e.step, e.from = erasureSnapshot, e.due
	s.forceSnapshot = true
	s.maybeSnapshot(ctx, s.handle.View())
}

// resumeErasing ends a pause.
func (s *actorRuntime[C, E, V]) resumeErasing(ctx actor.Context) {
	s.erasure.paused = false
	if s.erasure.done && s.erasure.row != nil {
		if err := s.forgetErasure(ctx); err != nil {
			s.eraseLater(ctx, err)
		}
		return
	}
	s.erase(ctx)
}

// eraseBehind rewrites the log once a snapshot that includes the requesting event is stored.
func (s *actorRuntime[C, E, V]) eraseBehind(ctx actor.Context, m *stored[V]) {
	e := &s.erasure
	switch {
	case e.step != erasureSnapshot:
		return
	case m.err != nil:
		e.step = erasureIdle
		s.eraseLater(ctx, m.err)
		return
	case m.seq < e.from:
		return // this is an older snapshot; the requested snapshot will follow
	}
	e.step = erasureRewrite
	kind, log, self, root := &s.host.kind, s.log, ctx.Self(), ctx.ActorSystem().Root
	go func() {
		clean := kind.Erase(m.view)
		err := log.Rewrite(m.seq, func(seq uint64, record []byte) ([]byte, bool, error) {
			event, err := kind.ParseEvent(record)
			if err != nil {
				return nil, false, fmt.Errorf("%w: event %d: %v", ErrCorrupt, seq, err)
			}
			replacement, changed := clean(event)
			if !changed {
				return nil, false, nil
			}
			out, err := kind.AppendEvent(nil, replacement)
			return out, true, err
		})
		root.Send(self, &erased{owner: s, seq: m.seq, err: err})
	}()
}

// cleaned ends a round after the log was rewritten.
func (s *actorRuntime[C, E, V]) cleaned(ctx actor.Context, m *erased) {
	e := &s.erasure
	e.step = erasureIdle
	err := m.err
	if err == nil && e.due <= m.seq {
		err = s.forgetErasure(ctx)
	}
	switch {
	case err != nil:
		s.host.log.Error("erasing personal data from a log failed; it is tried again", "actor", s.handle.actorID, "error", err)
		s.eraseLater(ctx, err)
	case e.due > 0 && s.resting:
		s.erase(ctx)
	case e.due > 0:
		s.eraseLater(ctx, nil)
	}
	if s.resting {
		s.tryStop(ctx)
	}
}

// forgetErasure removes the row, because nothing is left to erase. It is not called while a batch
// in flight requests another erasure, because e.due is then above the seq of this round. If another
// node takes the actor and writes a new row, the precondition keeps that row.
func (s *actorRuntime[C, E, V]) forgetErasure(ctx actor.Context) error {
	e := &s.erasure
	if e.row == nil {
		e.due = 0
		return nil
	}
	value, self, root := e.row, ctx.Self(), ctx.ActorSystem().Root
	row := Row{Table: erasureTable, Key: []byte(s.handle.actorID), Delete: true, Precondition: Unchanged(value)}
	err := s.host.journal.Append([]Row{row}, func(err error) {
		if err != nil && !errors.Is(err, ErrConflict) {
			root.Send(self, &unnoted{owner: s, row: value, err: err})
		}
	})
	if err == nil {
		e.due, e.row, e.done = 0, nil, false
	}
	return err
}

// notNoted retries the removal of a row, unless another erasure was requested meanwhile.
func (s *actorRuntime[C, E, V]) notNoted(ctx actor.Context, m *unnoted) {
	s.host.log.Warn("personal data was erased from a log, but recording this failed; it is tried again", "actor", s.handle.actorID, "error", m.err)
	if e := &s.erasure; e.row == nil {
		e.row, e.done = m.row, true
		s.eraseLater(ctx, nil)
	}
}

// eraseLater postpones the next round. After a failure, an actor that is stopping does not wait for
// the next round. Its row makes the next start resume the erasure.
func (s *actorRuntime[C, E, V]) eraseLater(ctx actor.Context, failed error) {
	if s.resting && failed != nil {
		s.erasure.due = 0
		return
	}
	s.erasure.paused = true
	self, root, again := ctx.Self(), ctx.ActorSystem().Root, eraseNow{owner: s}
	s.host.opts.Clock.AfterFunc(s.host.opts.ErasePause, func() { root.Send(self, again) })
}

// recoverErasure determines whether an earlier incarnation or process left data to erase. erasers
// are the events in the log that request erasure.
func (s *actorRuntime[C, E, V]) recoverErasure(ctx actor.Context, view *V, erasers []E) error {
	if s.host.kind.Erases == nil {
		return nil
	}
	value, err := s.host.journal.Get(erasureTable, []byte(s.handle.actorID))
	switch {
	case errors.Is(err, ErrNotFound):
		// Logs of older releases have no rows. If the log still contains an event that an erasure
		// would have removed, the erasure was never done.
		for _, e := range erasers {
			if _, changed := s.host.kind.Erase(view)(e); changed {
				s.erasure.due = s.seq
				break
			}
		}
	case err != nil:
		return err
	}
	switch s.erasure.row = value; {
	case value == nil:
	case len(value) != 8:
		return fmt.Errorf("%w: erasure of %s", ErrCorrupt, s.handle.actorID)
	case s.seq == 0: // the actor was purged
		return s.forgetErasure(ctx)
	default:
		s.erasure.due = min(binary.BigEndian.Uint64(value), s.seq)
	}
	return nil
}
