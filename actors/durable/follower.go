package durable

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// follower is the local replica of an actor that another node owns. Apply builds its state from the
// owner's committed events. Like the owner, it publishes views and calls the observer. It forwards
// commands to the owner, and delays each answer until the replica includes the result. All fields
// are owned by the actor's goroutine.
type follower[C, E, V any] struct {
	role   *role[C, E, V]
	host   *Host[C, E, V]
	handle *Handle[C, E, V]
	core   Core[C, E, V]
	reader Reader
	owner  string
	begun  string // the owner whose events were requested; "" after giveTo
	seq    uint64 // seq of the last applied event
	chain  uint64 // the hash of that event, see chained
	// joined means that the owner sends its events to this node, and that all earlier ones were
	// read.
	joined bool
	// quiet counts the beats since the owner's last message. beats counts all beats.
	quiet, beats int
	// looked is the time at which the owner was last looked up in the store. Like all times here,
	// it is the Clock's uptime.
	looked time.Duration
	// soon means that a look-up is scheduled.
	soon bool
	// leaving is the time until which an owner that has announced its end is expected to release
	// the actor. After that time, only the owner's silence shows that the actor has no owner.
	leaving time.Duration
	// giving means that another node was asked to take the actor, and commands wait for its answer.
	giving bool

	// Waiting reads. asked contains those that wait for the answer to the request in flight; next
	// contains those that arrived after it was sent.
	asked, next []reading
	parked      []parked
	// homeless contains the commands that are not sent yet, because no owner is known.
	homeless []*forwarded[C]
	// tails contains the ends of the log, as read since the owner became silent.
	tails []seen
	// differed is the time at which the replica last differed from its owner; see differs.
	differed time.Duration
}

// reading is a caller that waits until the view includes every acknowledged change.
type reading struct {
	to   Replier
	till time.Duration
}

// seen is the seq at the end of a log, and the time at which it was read.
type seen struct {
	seq uint64
	at  time.Duration
}

// parked is an answer that waits until the replica has reached its position.
type parked struct {
	to    Replier
	reply Reply
}

// Answers of the owner to a follower's requests.
type (
	followAnswer struct {
		f      any
		owner  string
		sent   time.Duration // before the request was sent
		answer answer
		err    error
	}
	positionAnswer followAnswer
	takeAnswer     followAnswer
)

func newFollower[C, E, V any](s *role[C, E, V]) *follower[C, E, V] {
	return &follower[C, E, V]{role: s, host: s.host, handle: s.handle, core: s.host.kind.New(s.handle.id)}
}

// now returns the Clock's uptime, because the time of day can jump.
func (f *follower[C, E, V]) now() time.Duration { return f.host.opts.Clock.Uptime() }

// Receive handles one message.
func (f *follower[C, E, V]) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *envelope[C]:
		c := f.role.open(m)
		f.forward(ctx, c)
	case readHere:
		if f.silent(f.leaseTime()) { // the owner will not be back before the read's timeout
			f.handle.answer(m.to, Reply{Err: ErrUnavailable})
			break
		}
		f.next = append(f.next, reading{m.to, f.now() + f.leaseTime()})
		f.askPosition(ctx)
	case ownerMessage:
		f.receive(ctx, m)
	case *followAnswer:
		if m.f == any(f) && m.owner == f.owner {
			f.followed(ctx, m)
		}
	case *positionAnswer:
		if m.f == any(f) {
			f.position(ctx, m)
		}
	case *takeAnswer:
		if m.f == any(f) {
			f.giving = false
			f.lookForOwner(ctx)
		}
	case lookNow:
		if m.f == any(f) {
			f.soon = false
			if !f.giving && (f.left() || len(f.homeless) > 0) {
				f.lookAgain(ctx)
			}
		}
	case beat:
		f.beat(ctx)
	case followed:
		m.answer(elsewhere)
	case rest:
		f.request(askLeave, nil, time.Second, func(answer, error) {})
		ctx.Stop(ctx.Self())
	case drain:
		ctx.Stop(ctx.Self())
	}
}

// begin follows an owner. It subscribes before it reads the log, so that it misses no event in
// between.
func (f *follower[C, E, V]) begin(ctx actor.Context, owner string) {
	f.owner, f.begun, f.quiet, f.leaving = owner, owner, 0, 0
	f.handle.owner.Store(&owner)
	f.askFollow(ctx)
}

// giveTo asks a node to take the actor, which now has no owner.
func (f *follower[C, E, V]) giveTo(ctx actor.Context, node string) {
	f.owner, f.giving = node, true
	self, root := ctx.Self(), ctx.ActorSystem().Root
	f.request(askTake, nil, 3*f.host.opts.Cluster.OwnerTimeout, func(a answer, err error) {
		root.Send(self, &takeAnswer{f: f, answer: a, err: err})
	})
}

// askFollow asks the owner to start or continue sending its events.
func (f *follower[C, E, V]) askFollow(ctx actor.Context) {
	self, root, owner, now := ctx.Self(), ctx.ActorSystem().Root, f.owner, f.now()
	f.request(askFollow, nil, f.host.opts.Cluster.OwnerTimeout, func(a answer, err error) {
		root.Send(self, &followAnswer{f, owner, now, a, err})
	})
}

// request sends the owner a request. done is called on a goroutine of the bus.
func (f *follower[C, E, V]) request(op byte, body []byte, timeout time.Duration, done func(answer, error)) {
	data := ask{op, f.handle.id, body}.encode()
	f.host.opts.Cluster.Bus.Request(f.owner, f.host.askSubject(), data, timeout, func(b []byte, err error) {
		var a answer
		if err == nil {
			a, err = parseAnswer(b)
		}
		done(a, err)
	})
}

// followed handles the owner's answer to askFollow.
func (f *follower[C, E, V]) followed(ctx actor.Context, m *followAnswer) {
	if m.err != nil || m.answer.kind != answerDone {
		f.lookForOwner(ctx)
		return
	}
	f.quiet = 0
	if !f.joined {
		f.load(m.answer.seq)
	}
	f.reach(m.answer.seq, replication{})
	f.compareAnswer(m.answer)
	f.freshSince(m.sent, m.answer.seq)
}

// freshSince records the position in the owner's answer to a request that was sent at asked. If the
// replica has reached this position, the replica is fresh as of asked. Messages that answer no
// request carry no such time.
func (f *follower[C, E, V]) freshSince(asked time.Duration, seq uint64) {
	f.handle.head.Store(seq)
	if f.seq >= seq {
		f.handle.fresh.Store(int64(asked))
	}
}

// receive handles a message from the owner.
func (f *follower[C, E, V]) receive(ctx actor.Context, m ownerMessage) {
	if m.content.kind == kindBye {
		if m.from == f.owner {
			f.leaving = f.now() + f.host.opts.Cluster.OwnerTimeout
			f.lookAgain(ctx)
		}
		return
	}
	if m.from == f.owner {
		f.quiet = 0
	}
	if !f.joined {
		return
	}
	switch m.content.kind {
	case kindBatch:
	case kindNews, kindBeat:
		f.reach(m.content.seq, m.content)
		if m.from == f.owner {
			f.compare(m.content.seq, m.content.chain)
		}
		return
	default: // a newer program sends this message
		return
	}
	if f.handle.distrusted.Load() {
		f.reach(m.content.seq+uint64(len(m.content.origins))-1, m.content)
		return
	}
	// A committed record is valid, regardless of the node that sent it.
	if m.content.seq > f.seq+1 {
		f.reach(m.content.seq-1, replication{})
	}
	var events []Committed[E]
	seq, chain := m.content.seq, f.chain
	err := m.content.records.Each(func(record []byte) error {
		if seq == f.seq+1+uint64(len(events)) && int(seq-m.content.seq) < len(m.content.origins) {
			event, err := f.host.kind.parse(seq, record)
			if err != nil {
				return err
			}
			events = append(events, Committed[E]{Seq: seq, Event: event, Origin: m.content.origin(seq)})
			chain = chained(chain, record)
		}
		seq++
		return nil
	})
	if err != nil {
		f.role.fail(fmt.Errorf("follow %s: %w", f.handle.actorID, err))
	}
	if len(events) > 0 && chain != m.content.chain {
		// Compare the hash before the batch becomes visible.
		f.differs(f.seq + uint64(len(events)))
	} else {
		f.apply(events, chain)
	}
	f.show()
}

// reach reads the missing records up to a position from the log. message can contain the sessions
// that caused the records.
func (f *follower[C, E, V]) reach(seq uint64, message replication) {
	f.handle.head.Store(seq)
	if seq > f.seq {
		f.catchUp(seq, message)
	}
	f.show()
}

// show sends the parked answers whose position the replica has reached.
func (f *follower[C, E, V]) show() {
	f.parked = slices.DeleteFunc(f.parked, func(p parked) bool {
		if p.reply.Seq > f.seq {
			return false
		}
		f.handle.answer(p.to, p.reply)
		return true
	})
}

// askPosition asks the owner for the last acknowledged position, once for all waiting reads. Reads
// that arrive while a request is in flight wait for the next request, because they must also
// include writes that the owner acknowledged after it answered the first.
func (f *follower[C, E, V]) askPosition(ctx actor.Context) {
	if len(f.asked) > 0 || len(f.next) == 0 {
		return
	}
	f.asked, f.next = f.next, nil
	f.host.stats.Questions.Add(1)
	self, root, now := ctx.Self(), ctx.ActorSystem().Root, f.now()
	f.request(askPosition, nil, f.host.opts.Cluster.OwnerTimeout, func(a answer, err error) {
		root.Send(self, &positionAnswer{f, "", now, a, err})
	})
}

func (f *follower[C, E, V]) position(ctx actor.Context, m *positionAnswer) {
	asked := f.asked
	f.asked = nil
	if m.err != nil || m.answer.kind != answerDone {
		f.next = append(asked, f.next...)
		f.lookForOwner(ctx) // the next beat retries
		return
	}
	f.host.stats.Confirmed.Add(int64(len(asked)))
	for _, r := range asked {
		f.parked = append(f.parked, parked{r.to, Reply{Seq: m.answer.seq}})
	}
	f.compareAnswer(m.answer)
	f.freshSince(m.sent, m.answer.seq)
	f.show()
	f.askPosition(ctx)
}

// forward sends a command to the owner. While earlier commands wait for an owner, or another node
// was asked to take the actor, it queues the command instead.
func (f *follower[C, E, V]) forward(ctx actor.Context, c *forwarded[C]) {
	if f.giving || len(f.homeless) > 0 {
		f.homeless = append(f.homeless, c)
		return
	}
	f.role.send(ctx, f, c)
}

// beat checks the owner and the waiting callers.
func (f *follower[C, E, V]) beat(ctx actor.Context) {
	f.quiet++
	f.beats++
	now := f.now()
	f.homeless = slices.DeleteFunc(f.homeless, func(c *forwarded[C]) bool {
		over := now > c.till
		if over {
			f.handle.answer(c.to, Reply{Err: ErrUnavailable})
		}
		return over
	})
	f.next = slices.DeleteFunc(f.next, func(r reading) bool {
		over := now > r.till
		if over { // the owner is alive but unreachable, and an error is better than stale data
			f.handle.answer(r.to, Reply{Err: ErrUnavailable})
		}
		return over
	})
	if f.giving {
		return
	}
	silent := f.silent(f.host.opts.Cluster.OwnerTimeout)
	f.handle.ownerUnreachable.Store(f.silent(f.leaseTime()))
	if (silent || len(f.homeless) > 0) && f.lookForOwner(ctx) {
		return
	}
	if f.host.kind.FromLog {
		f.readByItself(now)
	} else {
		f.readWhileUnreachable(now, silent)
	}
	if f.beats%followEvery == 0 {
		f.askFollow(ctx)
	}
	f.askPosition(ctx)
}

// silent reports whether the owner has sent nothing for the duration long.
func (f *follower[C, E, V]) silent(long time.Duration) bool {
	return f.quiet >= int(max(long/f.host.opts.Cluster.Beat, 1))
}

// lookPause is the minimum time between two look-ups of the owner for commands. While an actor
// moves, commands wait for the next look-up.
const lookPause = 20 * time.Millisecond

// lookNow asks a follower to look for the owner.
type lookNow struct{ f any }

// left reports whether the owner has announced its end and may still be releasing the actor.
func (f *follower[C, E, V]) left() bool { return f.now() < f.leaving }

// lookAgain looks up the owner. If the owner has announced its end but its release is not committed
// yet, lookAgain schedules another look-up.
func (f *follower[C, E, V]) lookAgain(ctx actor.Context) {
	if !f.lookForOwner(ctx) && f.left() {
		f.lookSoon(ctx)
	}
}

// lookSoon looks up the owner, at most once per lookPause.
func (f *follower[C, E, V]) lookSoon(ctx actor.Context) {
	if f.soon {
		return
	}
	wait := lookPause - (f.now() - f.looked)
	if wait <= 0 {
		f.lookForOwner(ctx)
		return
	}
	f.soon = true
	self, root := ctx.Self(), ctx.ActorSystem().Root
	f.host.opts.Clock.AfterFunc(wait, func() { root.Send(self, lookNow{f}) })
}

// leaseTime returns a time that is longer than an owner can continue to answer without reaching the
// store.
func (f *follower[C, E, V]) leaseTime() time.Duration { return 3 * f.host.opts.Cluster.OwnerTimeout }

// followEvery is the number of beats after which a follower renews its subscription with the owner.
// The owner's answer determines the replica's age.
const followEvery = 2

// lookForOwner looks up the owner in the store. If the actor has no owner, this node takes it;
// taken reports this.
func (f *follower[C, E, V]) lookForOwner(ctx actor.Context) (taken bool) {
	f.looked = f.now()
	log, err := f.host.journal.Open(f.handle.actorID)
	if err == nil {
		f.role.take(ctx, log, f)
		return true
	}
	owned, other := errors.AsType[*Owned](err)
	if !other {
		f.host.log.Debug("finding the owner of an actor failed", "actor", f.handle.actorID, "error", err)
		return false
	}
	if owned.Node != f.begun {
		f.begin(ctx, owned.Node)
	}
	again := f.role.recall(owned.Node, f.homeless)
	f.homeless = nil
	for _, c := range again {
		f.forward(ctx, c)
	}
	return false
}

// settle sends the parked answers, answers the waiting reads, and passes the waiting commands to
// the runtime that has taken over.
func (f *follower[C, E, V]) settle(ctx actor.Context, s *actorRuntime[C, E, V]) {
	if f.reader != nil {
		f.reader.Close()
	}
	for _, p := range f.parked {
		if p.reply.Seq > s.committed { // the previous owner never committed it
			p.reply = Reply{Err: ErrUnavailable}
		}
		f.handle.answer(p.to, p.reply)
	}
	for _, r := range slices.Concat(f.asked, f.next) {
		f.handle.answer(r.to, Reply{Seq: s.committed})
	}
	for _, c := range f.homeless {
		s.command(ctx, envelope[C]{cmd: c.cmd, to: c.to})
	}
	*f = follower[C, E, V]{}
}

// end answers all waiting callers with err.
func (f *follower[C, E, V]) end(err error) {
	if f.reader != nil {
		f.reader.Close()
	}
	for _, p := range f.parked {
		f.handle.answer(p.to, Reply{Err: err})
	}
	for _, r := range slices.Concat(f.asked, f.next) {
		f.handle.answer(r.to, Reply{Err: err})
	}
	for _, c := range f.homeless {
		f.handle.answer(c.to, Reply{Err: err})
	}
	f.parked, f.asked, f.next, f.homeless = nil, nil, nil, nil
}
