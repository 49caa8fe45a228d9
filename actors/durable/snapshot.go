package durable

import (
	"fmt"

	"github.com/asynkron/protoactor-go/actor"
)

// maybeSnapshot starts a snapshot of a committed view when enough has
// happened since the last one. A large state is written less often, so that
// the cost of snapshots stays in proportion to what is appended. Encoding runs
// beside the actor, on the immutable view.
func (s *shell[C, E, V]) maybeSnapshot(ctx actor.Context, view *V) {
	o := &s.host.opts
	due := (s.sinceEvents >= o.SnapshotEvents || s.sinceBytes >= o.SnapshotBytes) && s.sinceBytes >= s.lastSize/2
	if s.encoding || !(due || s.forceSnapshot) {
		return
	}
	s.encoding, s.forceSnapshot = true, false
	s.sinceEvents, s.sinceBytes = 0, 0
	seq, self, root := s.committed, ctx.Self(), ctx.ActorSystem().Root
	go func() {
		state, err := s.host.kind.EncodeState(view)
		root.Send(self, &encoded{owner: s, state: state, seq: seq, err: err})
	}()
}

// store hands an encoded snapshot to the journal.
func (s *shell[C, E, V]) store(ctx actor.Context, m *encoded) {
	s.encoding = false
	err := m.err
	if err == nil {
		s.lastSize = len(m.state)
		keep := uint64(0)
		if m.seq > s.host.kind.Keep {
			keep = m.seq - s.host.kind.Keep
		}
		err = s.log.Snapshot(m.seq, m.state, keep, func(err error) {
			if err != nil {
				s.host.log.Error("snapshot failed", "actor", s.handle.actorID, "error", err)
				return
			}
			s.host.stats.Snapshots.Add(1)
		})
	}
	if err != nil {
		// Costs recovery time only; the next one is tried later.
		s.host.log.Error("snapshot failed", "actor", s.handle.actorID, "error", err)
	}
	if s.resting {
		s.tryStop(ctx)
	} else if s.forceSnapshot {
		s.maybeSnapshot(ctx, s.handle.View())
	}
}

// startErase removes from the log what the view says must not be kept, and
// replaces the older snapshot, which still holds it.
func (s *shell[C, E, V]) startErase(ctx actor.Context, view *V) {
	if s.erasing {
		s.eraseAgain = true
		return
	}
	s.erasing, s.forceSnapshot = true, true
	fn := s.host.kind.Erase(view)
	log, self, root := s.log, ctx.Self(), ctx.ActorSystem().Root
	go func() {
		err := log.Rewrite(func(seq uint64, record []byte) ([]byte, bool, error) {
			event, err := s.host.kind.ParseEvent(record)
			if err != nil {
				return nil, false, fmt.Errorf("%w: event %d: %v", ErrCorrupt, seq, err)
			}
			clean, changed := fn(event)
			if !changed {
				return nil, false, nil
			}
			out, err := s.host.kind.AppendEvent(nil, clean)
			return out, true, err
		})
		root.Send(self, &erased{owner: s, err: err})
	}()
}

// cleaned ends an erasure.
func (s *shell[C, E, V]) cleaned(ctx actor.Context, err error) {
	s.erasing = false
	if err != nil {
		s.host.log.Error("erasing from the log failed", "actor", s.handle.actorID, "error", err)
	}
	if s.eraseAgain {
		s.eraseAgain = false
		s.startErase(ctx, s.handle.View())
	}
	s.maybeSnapshot(ctx, s.handle.View())
	if s.resting {
		s.tryStop(ctx)
	}
}
