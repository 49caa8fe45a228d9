package messages

import (
	"sync/atomic"
	"time"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/room"
	"atelier/transport/auth"
	"atelier/transport/live"
	"atelier/transport/rfc6455"
)

// peer is a live session's owner: the person, the codelab, and the grant. All fields except the
// last four are immutable, so that loops and actors can share a peer.
type peer struct {
	g        *Gateway
	lab      codelab.Codelab
	who      *codelab.Caller
	standing auth.Standing
	address  string // client address, for limits

	session  atomic.Pointer[live.Session] // set before grants hold the peer
	over     atomic.Bool                  // the grant has ended or the peer was replaced, so further messages are ignored
	replaced atomic.Bool                  // a newer connection has replaced it
	gone     atomic.Bool                  // the connection has ended
}

// Standing implements auth.Holder.
func (p *peer) Standing() *auth.Standing { return &p.standing }

// End implements auth.Holder. It queues the close on the loop. Client messages that the loop
// handles before the close have no effect.
func (p *peer) End(reason string) {
	p.over.Store(true)
	code := rfc6455.ClosePolicy
	if reason == auth.Unknown {
		code = rfc6455.CloseTryLater
	}
	p.session.Load().Close(code, reason)
}

// joined makes the connection end with its grant. The connection may already have ended when its
// goroutine calls joined.
func (p *peer) joined(s *live.Session) {
	p.session.Store(s)
	if p.replaced.Load() { // it was replaced before it had a session
		p.replace()
	}
	if ended := p.g.Grants.Hold(p); ended != "" {
		p.End(ended)
		return
	}
	if p.gone.Load() {
		p.g.Grants.Release(p)
	}
}

// left releases the grant and the place in sockets of a connection that has ended.
func (p *peer) left() {
	p.gone.Store(true)
	p.g.sockets.leave(p)
	p.g.Grants.Release(p)
}

// name returns the current name. An attendee can have been renamed after the connection was opened.
func (p *peer) name() string { return nameOf(p.lab, p.who) }

func nameOf(w codelab.Codelab, who *codelab.Caller) string {
	if who.Role == codelab.RoleAttendee {
		if a := w.View().Attendee(who.ID); a != nil {
			return a.Name
		}
	}
	return who.Name
}

func (p *peer) welcome(seq, head uint64) []byte {
	role := roleAttendee
	if p.who.Role == codelab.RoleAdmin {
		role = roleAdmin
	}
	return welcome(p.lab.Room.Epoch(), seq, head, you{p.who.ID, p.name(), role}, p.g.TimeOf(p.lab))
}

// arrive and leave track presence. Facilitators are notified of an attendee's first connection and
// of the end of the last one.
func (p *peer) arrive() {
	if p.lab.Room.Join(p.who.ID) {
		p.announce("attendee_joined")
	}
}

func (p *peer) leave() {
	if p.lab.Room.Leave(p.who.ID) {
		p.announce("attendee_left")
	}
}

func (p *peer) announce(kind string) {
	if p.who.Role != codelab.RoleAttendee {
		return
	}
	announce(p.lab, kind, p.who.ID, p.who.Name)
}

// announce notifies this node's facilitators of a person who has connected or left. Every other node
// notifies its own facilitators.
func announce(w codelab.Codelab, kind, person, name string) {
	a := w.View().Attendee(person)
	if a == nil {
		// The attendee was removed, so the view no longer contains their name, step and place. If
		// another node has reported the person, name is "".
		a = &pb.Attendee{Id: person, Name: name, CurrentStep: 1}
	}
	w.Room.Transient(room.Frame{Audience: room.Facilitators, Payload: presence(kind, a)})
}

// handler handles the events of all sessions. The peer of a session is in Session.Data.
type handler struct{}

func (handler) Message(s *live.Session, payload []byte) {
	p := s.Data.(*peer)
	if p.over.Load() {
		return
	}
	m, err := parse(payload)
	if err == nil {
		err = p.handle(s, &m, payload)
	}
	if err != nil {
		s.Send(failure(m.ref(), textOf(err)))
	}
}

func (handler) Limited(s *live.Session, payload []byte) {
	m, _ := parse(payload)
	s.Send(failure(m.ref(), "too many messages; slow down"))
}

func (handler) Closed(s *live.Session, _ live.Reason) {
	p := s.Data.(*peer)
	p.left()
	p.leave()
}

// handle handles a message of a live session.
func (p *peer) handle(s *live.Session, m *inbound, payload []byte) error {
	wanted, err := m.wanted()
	if err != nil {
		return err
	}
	kind := clientMessages[m.Type]
	switch {
	case p.who.Silent && !kind.welcome:
		return errScope
	case wanted != nil:
		cmd := codelab.Command{Caller: p.as(s.ID()), Ref: m.ref(), Body: wanted}
		return p.lab.Submit(cmd, &acker{s, m.ref(), p.g, time.Now()})
	case kind.welcome:
		head := p.lab.Room.Head()
		s.Send(p.welcome(head, head))
		return nil
	case kind.relayed:
		if err := p.g.relay(p.lab, p.who, m.Type, m, payload); err != nil {
			return err
		}
		if m.ref() != "" {
			s.Send(ack(m.ref(), p.lab.Room.Head()))
		}
		return nil
	}
	return errUnknownType
}

// as returns the peer as the caller of a command from a session.
func (p *peer) as(session uint64) *codelab.Caller {
	who := *p.who
	who.Session = session
	return &who
}

// acker answers the sender of a message after the actor has committed or rejected its command.
type acker struct {
	s    *live.Session
	ref  string
	g    *Gateway
	came time.Time
}

// Reply is called on the actor's goroutine after the commit's frames were published, so that the
// ack follows these frames on the sender's connection.
func (a *acker) Reply(r durable.Reply) {
	switch {
	case r.Err != nil:
		a.s.Send(failure(a.ref, textOf(r.Err)))
	case a.ref != "":
		a.s.Send(ack(a.ref, r.Seq))
	}
	if a.g.Acked != nil {
		a.g.Acked(time.Since(a.came))
	}
}
