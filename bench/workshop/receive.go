//go:build linux

package workshop

import (
	"bytes"
	"slices"
	"time"

	"atelier/bench/audit"
	"atelier/bench/sockets"
)

// Message implements sockets.Handler.
func (c *crowd) Message(conn *sockets.Conn, payload []byte) {
	p := c.people[conn.Owner]
	var m message
	if !scanMessage(payload, &m) {
		c.disconnects["message is not a JSON object"]++
		return
	}
	switch string(m.Type) {
	case "welcome":
		c.welcome(p, &m)
	case "ack":
		c.ack(p, &m)
	case "error":
		c.reject(p, &m)
	case "resync":
		p.subscriber.Resync(m.Seq)
	default:
		// Messages without a seq, such as summaries and presence, are not stored.
		if m.Seq > 0 {
			c.event(p, &m)
		} else if p.facilitator && c.cfg.Unstored != nil {
			c.cfg.Unstored(p.index-c.cfg.Attendees, string(m.Type))
		}
	}
}

// event handles a stored event.
func (c *crowd) event(p *person, m *message) {
	c.events++
	e := audit.Event{Seq: m.Seq, Owner: audit.NoOwner}
	switch string(m.Type) {
	case "chat":
		e.Audience = audit.Everyone
		c.auditor.Observe(&p.subscriber, e)
		c.receiveChat(p, m)
	case "inline_comment_changed":
		e.Audience = audit.Everyone
		if c.auditor.Observe(&p.subscriber, e) {
			c.comment.events++
		}
	case "steps_changed", "codelab_changed":
		e.Audience = audit.Everyone
		c.auditor.Observe(&p.subscriber, e)
	case "step_progress":
		e.Audience, e.Owner = audit.Facilitators, c.owner(m)
		if c.auditor.Observe(&p.subscriber, e) && e.Owner >= 0 {
			c.people[e.Owner].progress.seen++
		}
	case "help_request", "help_claimed", "help_resolved":
		e.Audience, e.Owner = audit.FacilitatorsAndOwner, c.owner(m)
		if c.auditor.Observe(&p.subscriber, e) {
			c.helpSeen(m, e.Owner)
		}
	default:
		c.auditor.Observe(&p.subscriber, e)
	}
}

// owner returns the index of the attendee that an event concerns, or audit.NoOwner.
func (c *crowd) owner(m *message) int {
	if i, known := c.byID[string(m.AttendeeID)]; known {
		return i
	}
	return audit.NoOwner
}

// ack handles the acknowledgement of a message.
func (c *crowd) ack(p *person, m *message) {
	sent, waiting := p.acked(m.Ref)
	if !waiting {
		return
	}
	c.done(sent.op, sent.due, c.clock.Now())
	switch sent.op {
	case opChat:
		c.chat.messages[sent.number].fate = audit.Acknowledged
	case opProgress:
		p.progress.ack(sent.number, sent.order, sent.again)
	}
}

// reject handles an error message.
func (c *crowd) reject(p *person, m *message) {
	if c.sayAgain(p, m) {
		return
	}
	sent, waiting := p.acked(m.Ref)
	if !waiting {
		c.disconnects["error message: "+string(m.Error)]++
		return
	}
	c.refused(sent.op, string(m.Error))
	switch sent.op {
	case opChat:
		c.chat.messages[sent.number].fate = audit.Refused
	case opProgress:
		p.progress.refused++
	}
}

// tryAgain is the suffix of the error that a node returns if it is unknown whether a message was
// applied.
var tryAgain = []byte("; try again")

// againAfter is the delay before a message with such an error is sent again.
const againAfter = 250 * time.Millisecond

// sayAgain plans to send a message again if the error of a node demands it. The message's ref makes
// this safe. sayAgain reports whether the message will be sent again.
func (c *crowd) sayAgain(p *person, m *message) bool {
	if len(c.addresses) == 1 || !bytes.HasSuffix(m.Error, tryAgain) {
		return false
	}
	ref := string(m.Ref)
	i := slices.IndexFunc(p.unacked, func(sent pending) bool { return sent.ref == ref })
	if i < 0 {
		return false
	}
	p.unacked[i].again = true
	c.repeated(p.unacked[i].op, c.clock.Now())
	c.loop.Agenda.At(c.clock.Now()+againAfter, func(time.Duration) {
		// A person who has reconnected meanwhile has already sent the message again. It then
		// arrives twice, and counts once.
		i := slices.IndexFunc(p.unacked, func(sent pending) bool { return sent.ref == ref })
		if i >= 0 && p.online {
			p.conn.Send(p.unacked[i].payload)
		}
	})
	return true
}

// repeated counts a message that is sent again. With one node it counts nothing.
func (c *crowd) repeated(op operation, at time.Duration) {
	if len(c.addresses) == 1 {
		return // an ordinary reconnection to the same server
	}
	c.tallies[op].Repeated++
	if h := c.harmAt(at); h != nil {
		h.repeated++
	}
}
