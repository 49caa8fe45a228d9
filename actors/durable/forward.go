package durable

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// forwarded is a command that is forwarded to another node, the actor's owner.
type forwarded[C any] struct {
	cmd  C
	to   Replier
	turn uint64        // the command's number in the order of arrival
	till time.Duration // the Clock's uptime at which the command times out
	// node is the node to which the command was sent. quiet counts the beats in which that node was
	// not the owner.
	node  string
	quiet int
	// homeless means that the command is waiting or has waited for another owner, so that again has
	// already shortened its time limit.
	homeless bool
}

// forwardedAnswer is a node's answer to a command.
type forwardedAnswer struct {
	role   any
	serial uint64
	answer answer
	err    error
}

// open unpacks a command from its envelope.
func (s *role[C, E, V]) open(m *envelope[C]) *forwarded[C] {
	s.turns++
	c := &forwarded[C]{cmd: m.cmd, to: m.to, turn: s.turns, till: s.host.opts.Clock.Uptime() + s.host.opts.AskTimeout}
	*m = envelope[C]{}
	s.host.envelopes.Put(m)
	return c
}

// send sends a command to the owner that the follower follows.
func (s *role[C, E, V]) send(ctx actor.Context, f *follower[C, E, V], c *forwarded[C]) {
	data, err := s.host.kind.Codec.Encode(c.cmd)
	if err != nil {
		s.host.log.Error("encoding a command failed", "actor", s.handle.actorID, "command", fmt.Sprintf("%T", c.cmd), "error", err)
		s.handle.answer(c.to, Reply{Err: ErrInternal})
		return
	}
	if s.sent == nil {
		s.sent = map[uint64]*forwarded[C]{}
	}
	s.serial++
	serial := s.serial
	c.node, c.quiet = f.owner, 0
	s.sent[serial] = c
	s.host.stats.Forwarded.Add(1)
	self, root := ctx.Self(), ctx.ActorSystem().Root
	f.request(askCommand, data, c.till-s.host.opts.Clock.Uptime(), func(a answer, err error) {
		root.Send(self, &forwardedAnswer{s, serial, a, err})
	})
}

// answered returns the result of a command to its caller once this node's view includes the result.
func (s *role[C, E, V]) answered(ctx actor.Context, m *forwardedAnswer) {
	c := s.sent[m.serial]
	if c == nil {
		return // answered already, or withdrawn by recall
	}
	delete(s.sent, m.serial)
	switch {
	case errors.Is(m.err, ErrNobody), m.err == nil && m.answer.kind == answerElsewhere:
		s.again(ctx, c)
	case m.err != nil:
		s.lost(ctx, c)
	case m.answer.kind == answerRefused:
		s.handle.answer(c.to, Reply{Err: decodeRefusal(m.answer.body)})
	case m.answer.kind != answerDone: // sent by a newer node
		s.handle.answer(c.to, Reply{Err: ErrUnavailable})
	default:
		value, err := s.host.kind.Codec.DecodeReply(c.cmd, m.answer.body)
		switch {
		case err != nil:
			err = fmt.Errorf("%w: an answer of node %s: %w", ErrUnavailable, c.node, err)
			s.handle.answer(c.to, Reply{Err: err})
		case s.follow != nil:
			s.follow.parked = append(s.follow.parked, parked{c.to, Reply{Value: value, Seq: m.answer.seq}})
			s.follow.show()
		default: // the command was committed before this node took over
			s.handle.answer(c.to, Reply{Value: value, Seq: m.answer.seq})
		}
	}
}

// again sends a command that no node has received, or that is repeatable, to the actor's current
// owner.
func (s *role[C, E, V]) again(ctx actor.Context, c *forwarded[C]) {
	now := s.host.opts.Clock.Uptime()
	if now > c.till { // without this timeout, the command could circulate forever, and be executed when nobody waits
		s.handle.answer(c.to, Reply{Err: ErrUnavailable})
		return
	}
	// A command waits for an owner at most for the length of a lease plus the time of a takeover.
	if soon := now + 4*s.host.opts.Cluster.OwnerTimeout; !c.homeless && c.till > soon {
		c.till = soon
	}
	c.homeless = true
	switch {
	case s.giving:
		s.waiting = append(s.waiting, c)
	case s.follow != nil:
		f := s.follow
		if f.homeless = append(f.homeless, c); len(f.homeless) == 1 && !f.giving {
			f.lookSoon(ctx)
		}
	default:
		s.own.command(ctx, envelope[C]{cmd: c.cmd, to: c.to})
	}
}

// lost handles a command with unknown outcome. It repeats the command if it is repeatable and has
// not timed out.
func (s *role[C, E, V]) lost(ctx actor.Context, c *forwarded[C]) {
	if s.host.kind.Codec.Repeatable(c.cmd) && s.host.opts.Clock.Uptime() < c.till {
		s.again(ctx, c)
		return
	}
	s.handle.answer(c.to, Reply{Err: ErrUnavailable})
}

// recall withdraws the repeatable commands that were sent to nodes other than the owner. It adds
// them to waiting in their order of arrival, because a person's later command must not overtake an
// earlier one. Later answers to the withdrawn commands are ignored.
func (s *role[C, E, V]) recall(owner string, waiting []*forwarded[C]) []*forwarded[C] {
	for serial, c := range s.sent {
		if c.node != owner && s.host.kind.Codec.Repeatable(c.cmd) {
			delete(s.sent, serial)
			waiting = append(waiting, c)
		}
	}
	slices.SortFunc(waiting, func(a, b *forwarded[C]) int { return cmp.Compare(a.turn, b.turn) })
	return waiting
}

// giveUp handles commands that were sent to nodes that no longer own the actor. After enough time
// for an answer, their outcome counts as unknown.
func (s *role[C, E, V]) giveUp(ctx actor.Context) {
	maxQuiet := int(max(s.host.opts.Cluster.OwnerTimeout/s.host.opts.Cluster.Beat, 1))
	for serial, c := range s.sent {
		if s.follow != nil && s.follow.owner == c.node {
			c.quiet = 0
			continue
		}
		if c.quiet++; c.quiet > maxQuiet {
			delete(s.sent, serial)
			s.lost(ctx, c)
		}
	}
}
