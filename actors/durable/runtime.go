package durable

import (
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Messages of the runtime to itself. Each message that crosses goroutines identifies its
// incarnation or batch, so that messages for an earlier incarnation are ignored.
type (
	// flush sends the batch. It arrives after the commands that were in the mailbox when the
	// batch's first command was handled.
	flush struct{}
	// committed is the outcome of a batch.
	committed[E, V any] struct {
		batch *batch[E, V]
		err   error
	}
	// encoded delivers a snapshot that was encoded outside the actor.
	encoded[V any] struct {
		owner any // the requesting runtime
		view  *V  // the encoded view
		state []byte
		seq   uint64
		err   error
	}
	// stored is the outcome of a snapshot.
	stored[V any] struct {
		owner any
		view  *V
		seq   uint64
		err   error
	}
	// erased reports that the log was cleaned up to seq.
	erased struct {
		owner any
		seq   uint64
		err   error
	}
	// unnoted reports that the row with the request for a completed erasure could not be removed.
	unnoted struct {
		owner any
		row   []byte
		err   error
	}
	// eraseNow continues a postponed erasure; owner is nil if a caller waits for it.
	eraseNow struct{ owner any }
	// drain requests a check whether all callers of a quarantined or dropped actor were answered.
	drain struct{}
	// rest requests that the actor stops; the handle accepts no more commands.
	rest struct{ snapshot bool }
)

// envelope contains one command.
type envelope[C any] struct {
	cmd C
	to  Replier // nil if nobody needs the answer
	// sent is the uptime at which the command was sent. It is set for one in waitSample commands,
	// and 0 for the others.
	sent time.Duration
}

// actorRuntime is the actor around a core. One value is one incarnation. All fields are owned by
// the actor's goroutine.
type actorRuntime[C, E, V any] struct {
	host   *Host[C, E, V]
	handle *Handle[C, E, V]
	core   Core[C, E, V]
	log    Log

	seq       uint64 // of the last applied event
	chain     uint64 // its hash, see chained
	committed uint64 // of the last committed event
	agreed    uint64 // its hash
	next      *batch[E, V]
	flying    []*batch[E, V] // appended, oldest first; at most maxFlying
	releasing *batch[E, V]   // committed, but some callers are not answered yet
	spare     []*batch[E, V] // empty, for reuse
	flushing  bool           // a flush is in the mailbox
	scratch   Records        // the encoded events of one decision
	record    []byte         // buffer for encoding one event

	sinceEvents, sinceBytes int  // since the last snapshot
	lastSize                int  // of the last snapshot
	snapshotting            bool // a snapshot is being encoded or stored
	forceSnapshot           bool
	resting                 bool
	erasure                 erasure
	// followers contains the subscribed nodes, with the remaining beats of their subscription; see
	// owner.go.
	followers map[string]int
}

// newRuntime returns the runtime of an actor that this node owns.
func (h *Host[C, E, V]) newRuntime(hd *Handle[C, E, V]) *actorRuntime[C, E, V] {
	return &actorRuntime[C, E, V]{host: h, handle: hd, core: h.kind.New(hd.id), next: &batch[E, V]{first: 1}}
}

// Receive handles one message.
func (s *actorRuntime[C, E, V]) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *envelope[C]:
		opened := *m
		*m = envelope[C]{}
		s.host.envelopes.Put(m)
		if opened.sent != 0 {
			s.host.opts.Waited(s.host.opts.Clock.Uptime() - opened.sent)
		}
		s.command(ctx, opened)
	case flush:
		s.flushing = false
		if err := s.seal(ctx); err != nil {
			s.fail(err)
		}
	case *committed[E, V]:
		s.settle(ctx, m.batch, m.err)
	case *encoded[V]:
		if m.owner == any(s) {
			s.store(ctx, m)
		}
	case *stored[V]:
		if m.owner == any(s) {
			s.snapshotStored(ctx, m)
		}
	case *erased:
		if m.owner == any(s) {
			s.cleaned(ctx, m)
		}
	case *unnoted:
		if m.owner == any(s) {
			s.notNoted(ctx, m)
		}
	case eraseNow:
		if m.owner == nil || m.owner == any(s) {
			s.resumeErasing(ctx)
		}
	case drain:
		s.drained(ctx)
	case beat, followed, unfollowed, readHere:
		s.between(ctx)
	case rest:
		s.rest(ctx, m.snapshot)
	case *actor.Started:
		if s.handle.Condition() == Quarantined {
			s.drained(ctx)
			return
		}
		s.start(ctx)
	case *actor.Restarting, *actor.Stopping:
		s.end(ErrUnavailable)
	case *actor.Stopped:
		s.handle.stopped()
	}
}

// start recovers the state from the journal. It blocks, because the actor can do nothing before it
// has recovered.
func (s *actorRuntime[C, E, V]) start(ctx actor.Context) {
	log, err := s.host.journal.Open(s.handle.actorID)
	if err != nil {
		s.fail(fmt.Errorf("open log of %s: %w", s.handle.actorID, err))
	}
	s.recover(ctx, log)
}

// recover loads the state from an open log.
func (s *actorRuntime[C, E, V]) recover(ctx actor.Context, log Log) {
	began := s.host.opts.Clock.Uptime()
	s.log = log
	read, err := s.host.kind.load(s.handle.id, s.handle.observer, log, everything)
	if err != nil {
		s.fail(fmt.Errorf("load %s: %w", s.handle.actorID, err))
	}
	s.core, s.seq, s.chain, s.lastSize = read.core, read.seq, read.chain, read.size
	s.sinceEvents, s.sinceBytes = read.events, read.bytes
	s.ready(ctx, s.handle.publishRead(read), read.erasers, s.host.opts.Clock.Uptime()-began)
}

// ready starts answering commands. The state now includes everything in the log.
func (s *actorRuntime[C, E, V]) ready(ctx actor.Context, view *V, erasers []E, took time.Duration) {
	s.committed, s.agreed = s.seq, s.chain
	s.next = &batch[E, V]{first: s.seq + 1}
	if err := s.recoverErasure(ctx, view, erasers); err != nil {
		s.fail(fmt.Errorf("look for an erasure of %s: %w", s.handle.actorID, err))
	}
	if s.handle.recovered(took) == Resting {
		// The previous incarnation failed while it was stopping.
		s.resting = true
	}
	s.resumeErasing(ctx)
	s.maybeSnapshot(ctx, view)
	if s.resting {
		s.tryStop(ctx)
	}
}

// command decides on a command, applies the events, and collects them in the next batch.
func (s *actorRuntime[C, E, V]) command(ctx actor.Context, m envelope[C]) {
	if s.log == nil { // the actor is quarantined
		s.answer(m.to, Reply{Err: ErrQuarantined})
		return
	}
	if len(s.next.records) >= s.host.opts.MaxBatchBytes {
		s.answer(m.to, Reply{Err: ErrBusy})
		return
	}
	d, err := s.decide(m.cmd)
	if err == nil {
		err = s.encode(&d)
	}
	if err != nil {
		s.answerNow(m.to, Reply{Err: err})
		return
	}
	b := s.next
	s.apply(m.to, b, d)
	b.other = b.other || !s.host.kind.urgent(m.cmd)
	b.rows = append(b.rows, d.Rows...)
	b.rowBytes += rowBytes(d.Rows)
	reply := Reply{Value: d.Reply, Seq: s.seq}
	if d.Seq != 0 {
		reply.Seq = d.Seq
	}
	switch {
	case len(d.Events) > 0 || len(d.Rows) > 0 || len(b.events) > 0 || len(b.rows) > 0:
		b.waiters = append(b.waiters, waiter{m.to, reply})
		s.flushSoon(ctx)
	case len(s.flying) > 0:
		// The command changes nothing, but its decision depends on events that are not stored yet,
		// so its answer waits for them.
		last := s.flying[len(s.flying)-1]
		last.waiters = append(last.waiters, waiter{m.to, reply})
	default:
		s.answerNow(m.to, reply)
	}
}

// answerNow sends an answer that needs no commit. Without a lease the answer can be stale, because
// another node may have taken over the actor.
func (s *actorRuntime[C, E, V]) answerNow(to Replier, r Reply) {
	if c := s.host.opts.Cluster; c != nil && !c.Store.Holds() {
		r = Reply{Err: ErrUnavailable}
	}
	s.answer(to, r)
}

// apply changes the state and collects the events. If this panics, the state is unknown and the
// incarnation ends. apply then sends an error to the command's caller, because the command is not
// in a batch yet.
func (s *actorRuntime[C, E, V]) apply(to Replier, b *batch[E, V], d Decision[E]) {
	done := false
	defer func() {
		if !done {
			s.handle.down()
			s.answer(to, Reply{Err: ErrUnavailable})
			s.abandon(ErrUnavailable)
		}
	}()
	for _, e := range d.Events {
		s.seq++
		s.core.Apply(s.seq, e)
		b.events = append(b.events, Committed[E]{Seq: s.seq, Event: e, Origin: d.Origin})
		if s.erases(e) {
			s.erasure.due = s.seq
			row := erasureRow(s.handle.actorID, s.seq)
			b.rows, s.erasure.row, s.erasure.done = append(b.rows, row), row.Value, false
		}
	}
	b.records = append(b.records, s.scratch...)
	_ = s.scratch.Each(func(record []byte) error { // cannot fail: the records were just encoded
		s.chain = chained(s.chain, record)
		return nil
	})
	done = true
}

// decide calls the core and converts a panic to an error. Deciding changes nothing, so the
// incarnation can continue.
func (s *actorRuntime[C, E, V]) decide(cmd C) (d Decision[E], err error) {
	defer func() {
		if r := recover(); r != nil {
			s.host.stats.Panics.Add(1)
			s.host.log.Error("a command panicked while it was decided; nothing was applied", "actor", s.handle.actorID, "command", fmt.Sprintf("%T", cmd))
			err = ErrInternal
		}
	}()
	now := s.host.opts.Clock.Now().UTC().Truncate(time.Millisecond)
	return s.core.Decide(cmd, Env{Now: now, Seq: s.seq + 1})
}

func (s *actorRuntime[C, E, V]) answer(to Replier, r Reply) { s.handle.answer(to, r) }

// busy reports whether a batch, a snapshot or an erasure is in progress.
func (s *actorRuntime[C, E, V]) busy() bool {
	return len(s.flying) > 0 || len(s.next.events) > 0 || len(s.next.rows) > 0 || s.snapshotting || s.erasure.working()
}
