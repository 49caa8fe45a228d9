package durable

import (
	"github.com/asynkron/protoactor-go/actor"
)

// maybeSnapshot starts a snapshot of a committed view if enough has changed since the last one, or
// if forceSnapshot is set. A large state is written less often, so that the cost of snapshots stays
// proportional to the appended data. Encoding runs concurrently with the actor, on the immutable
// view. At most one snapshot is in progress, because each is as large as the state and keeps an
// earlier view in memory.
func (s *actorRuntime[C, E, V]) maybeSnapshot(ctx actor.Context, view *V) {
	o := &s.host.opts
	due := (s.sinceEvents >= o.SnapshotEvents || s.sinceBytes >= o.SnapshotBytes) && s.sinceBytes >= s.lastSize/2
	if s.snapshotting || !(due || s.forceSnapshot) {
		return
	}
	s.snapshotting, s.forceSnapshot = true, false
	s.sinceEvents, s.sinceBytes = 0, 0
	seq, chain, self, root := s.committed, s.agreed, ctx.Self(), ctx.ActorSystem().Root
	go func() {
		state, err := s.host.kind.EncodeState(view)
		state = joinSnapshot(state, chain)
		root.Send(self, &encoded[V]{owner: s, view: view, state: state, seq: seq, err: err})
	}()
}

// store passes an encoded snapshot to the journal.
func (s *actorRuntime[C, E, V]) store(ctx actor.Context, m *encoded[V]) {
	err := m.err
	if err == nil {
		s.lastSize = len(m.state)
		keep := uint64(0)
		if m.seq > s.host.kind.Keep {
			keep = m.seq - s.host.kind.Keep
		}
		self, root := ctx.Self(), ctx.ActorSystem().Root
		err = s.log.Snapshot(m.seq, m.state, keep, func(err error) {
			root.Send(self, &stored[V]{owner: s, view: m.view, seq: m.seq, err: err})
		})
	}
	if err != nil {
		s.snapshotStored(ctx, &stored[V]{owner: s, seq: m.seq, err: err})
	}
}

// snapshotStored records the result of a snapshot. A failure costs only recovery time, and the next
// snapshot is attempted later.
func (s *actorRuntime[C, E, V]) snapshotStored(ctx actor.Context, m *stored[V]) {
	if m.err != nil {
		s.host.log.Error("storing a snapshot failed; it is tried again later", "actor", s.handle.actorID, "error", m.err)
	} else {
		s.host.stats.Snapshots.Add(1)
	}
	s.snapshotting = false
	s.eraseBehind(ctx, m)
	if s.forceSnapshot {
		s.maybeSnapshot(ctx, s.handle.View())
	}
	if s.resting {
		s.tryStop(ctx)
	}
}
