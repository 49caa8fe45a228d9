package durable

import (
	"errors"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// role is one incarnation of an actor in a cluster. It is the runtime if this node owns the actor,
// and otherwise a follower of the owner. When a role changes from runtime to follower or back, its
// handle stays valid.
type role[C, E, V any] struct {
	host   *Host[C, E, V]
	handle *Handle[C, E, V]

	own    *actorRuntime[C, E, V] // nil while the role is a follower
	follow *follower[C, E, V]     // nil while the role is the owner
	// sent contains the commands that were sent to another node. It belongs to the role, because an
	// answer can arrive after the actor has moved again, even to this node.
	sent   map[uint64]*forwarded[C]
	serial uint64
	turns  uint64 // number of commands received
	// giving means that the actor moves to the node givingTo. waiting contains the commands that
	// have arrived since.
	waiting  []*forwarded[C]
	giving   bool
	givingTo string
	// dropped means that drop has ended the actor. The role then only answers the remaining
	// callers.
	dropped bool
}

// Messages to an actor of a cluster.
type (
	// beat is sent at each tick of Cluster.Beat.
	beat struct{}
	// ownerMessage is a message of an owner.
	ownerMessage struct {
		from    string
		content replication
	}
	// followed subscribes a node to the owner's events.
	followed struct {
		from   string
		answer func([]byte)
	}
	// unfollowed ends this subscription.
	unfollowed struct{ from string }
	// readHere requests a view that includes every change acknowledged on any node.
	readHere struct{ to Replier }
	// handOver requests that the owner moves the actor to another node.
	handOver struct{ to string }
	// drop ends an actor immediately, because this node has lost its lease.
	drop struct{}
)

// Receive handles one message.
func (s *role[C, E, V]) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		s.handle.up.Store(true)
		switch s.handle.Condition() {
		case Quarantined:
			s.own = s.host.newRuntime(s.handle)
			s.own.Receive(ctx)
		case Resting: // Drop was called before the actor started
			ctx.Stop(ctx.Self())
		default:
			s.sit(ctx)
		}
		return
	case *actor.Stopped:
		s.handle.unlisten()
		s.handle.stopped()
		return
	case drop:
		s.end(ErrUnavailable)
		s.own, s.follow, s.dropped = nil, nil, true
		s.drained(ctx)
		return
	case *actor.Restarting, *actor.Stopping:
		s.end(ErrUnavailable)
		return
	case *forwardedAnswer:
		if m.role == any(s) {
			s.answered(ctx, m)
		}
		return
	case beat:
		s.giveUp(ctx)
		defer func() { s.handle.followed.Store(s.own == nil || len(s.own.followers)+len(s.sent) > 0) }()
	case handOver:
		if s.own != nil {
			s.giving, s.givingTo = true, m.to
			s.tryGive(ctx)
		}
		return
	case *envelope[C]:
		if s.dropped {
			s.handle.answer(s.open(m).to, Reply{Err: ErrUnavailable})
			return
		}
		if s.giving {
			s.waiting = append(s.waiting, s.open(m))
			return
		}
	}
	if s.dropped {
		switch m := ctx.Message().(type) {
		case readHere:
			s.handle.answer(m.to, Reply{Err: ErrUnavailable})
		case drain:
			s.drained(ctx)
		}
		return
	}
	if s.own == nil {
		s.follow.Receive(ctx)
		return
	}
	s.own.Receive(ctx)
	if s.giving {
		s.tryGive(ctx)
	}
}

// sit takes the actor if no other node owns it, and otherwise follows the owner.
func (s *role[C, E, V]) sit(ctx actor.Context) {
	if err := s.handle.listen(); err != nil {
		s.fail(fmt.Errorf("listen to other nodes about %s: %w", s.handle.actorID, err))
	}
	log, err := s.host.journal.Open(s.handle.actorID)
	if owned, other := errors.AsType[*Owned](err); other {
		s.follow = newFollower(s)
		s.follow.begin(ctx, owned.Node)
		return
	}
	if err != nil {
		s.fail(fmt.Errorf("open log of %s: %w", s.handle.actorID, err))
	}
	s.take(ctx, log, nil)
}

// take starts this node's runtime as the actor. A follower passes on its state and the waiting
// callers.
func (s *role[C, E, V]) take(ctx actor.Context, log Log, from *follower[C, E, V]) {
	sh := s.host.newRuntime(s.handle)
	s.own = sh
	if from == nil || !from.joined {
		sh.recover(ctx, log)
	} else {
		sh.core, sh.seq, sh.chain = from.core, from.seq, from.chain
		sh.goOn(ctx, log)
	}
	s.handle.followed.Store(len(s.sent) > 0)
	s.handle.owns.Store(true)
	s.handle.distrusted.Store(false)
	if from != nil {
		s.host.stats.Takeovers.Add(1)
		from.homeless = s.recall("", from.homeless)
		from.settle(ctx, sh)
	}
	s.follow = nil
}

// tryGive transfers the actor once no batch, snapshot or erasure is in progress.
func (s *role[C, E, V]) tryGive(ctx actor.Context) {
	sh := s.own
	if sh.busy() {
		return
	}
	s.handle.owns.Store(false)
	// Until this point no other node could acknowledge anything.
	s.handle.fresh.Store(int64(s.host.opts.Clock.Uptime()))
	sh.log.Close()
	f := newFollower(s)
	f.core, f.seq, f.chain, f.joined = sh.core, sh.seq, sh.chain, true
	f.homeless = s.waiting
	s.own, s.follow, s.waiting, s.giving = nil, f, nil, false
	f.giveTo(ctx, s.givingTo)
}

// end answers all waiting callers with err. On the owner, it also closes the log, and notifies the
// followers.
func (s *role[C, E, V]) end(err error) {
	s.handle.owns.Store(false)
	for _, m := range s.waiting {
		s.handle.answer(m.to, Reply{Err: err})
	}
	for _, m := range s.sent {
		s.handle.answer(m.to, Reply{Err: err})
	}
	s.waiting, s.sent, s.giving = nil, nil, false
	if s.own != nil {
		s.own.end(err)
		s.own.replicateAll(replication{kind: kindBye, seq: s.own.committed})
	}
	if s.follow != nil {
		s.follow.end(err)
	}
}

// drained stops a dropped actor once all its callers are answered. Commands in the mailbox of a
// stopped actor would get no answer.
func (s *role[C, E, V]) drained(ctx actor.Context) {
	if s.handle.pending.Load() == 0 {
		ctx.Stop(ctx.Self())
		return
	}
	self, root := ctx.Self(), ctx.ActorSystem().Root
	s.host.opts.Clock.AfterFunc(time.Millisecond, func() { root.Send(self, drain{}) })
}

// fail ends this incarnation; the supervisor starts another.
func (s *role[C, E, V]) fail(err error) {
	s.handle.down()
	panic(failure{err})
}

// goOn recovers a runtime from a follower's state. Later records of the log are sent to the
// observer as commits, because they are new to this node's clients. If the log was rewritten beyond
// that state, recover loads the state from the store.
func (s *actorRuntime[C, E, V]) goOn(ctx actor.Context, log Log) {
	began := s.host.opts.Clock.Uptime()
	read, err := s.host.readOn(log, s.seq, s.chain, everything)
	if errors.Is(err, ErrCompacted) {
		s.recover(ctx, log)
		return
	}
	s.log = log
	if err != nil {
		s.fail(fmt.Errorf("replay %s: %w", s.handle.actorID, err))
	}
	var erasers []E
	for _, e := range read.events {
		s.core.Apply(e.Seq, e.Event)
		s.seq = e.Seq
		if s.erases(e.Event) {
			erasers = append(erasers, e.Event)
		}
	}
	s.chain = read.chain
	view := s.core.Capture()
	s.handle.publish(view, s.seq, s.chain)
	if s.handle.observer != nil && len(read.events) > 0 {
		s.handle.observer.Commit(view, s.seq, read.events)
	}
	s.ready(ctx, view, erasers, s.host.opts.Clock.Uptime()-began)
}
