//go:build linux

package workshop

import (
	"slices"
	"time"

	"atelier/bench/api"
	"atelier/bench/audit"
	"atelier/bench/faults"
	"atelier/bench/sockets"
)

// person is an attendee or a facilitator with one WebSocket. Owned by the loop.
type person struct {
	index       int
	facilitator bool
	// node is where the connection is, or will be, and where requests begin: its
	// place among all.
	node int
	// stalled people stop reading after the join, until the end of the load.
	stalled bool
	name    string

	// id is the id of the attendee record.
	id    string
	login api.Session

	// conn is nil while there is none; online once it was welcomed.
	conn   *sockets.Conn
	online bool
	// epoch names the stream; "" before the first welcome.
	epoch string
	// dialled is when the present connection was begun, or should have been.
	dialled time.Duration
	// left is when a leaver has last gone without a reason of the server's.
	leaver bool
	left   time.Duration
	// attempts is how many connections have failed since the last welcome.
	attempts int

	subscriber audit.Subscriber
	// unacked is what was sent, or is to be sent, and has no ack yet; in order.
	unacked []pending

	progress progress
	help     helpState
	// finished means that the last message of the run has arrived.
	finished bool
}

// pending is a socket message without an ack.
type pending struct {
	ref     string
	payload []byte
	due     time.Duration
	op      operation
	// number is the number of the chat message or of the step.
	number int
	// order is the place of a step among all that were sent.
	order int
	// again means that a node asked for it to be repeated.
	again bool
	// sent at least once: nobody knows whether it arrived.
	sent bool
}

// comesBack is the maximum time for somebody who left to come back.
const comesBack = time.Second

// away reports whether something was due while this person was gone for a reason
// of its own.
func (p *person) away(due time.Duration) bool {
	return p.leaver && due > p.left-faults.Limit && due < p.left+comesBack
}

// joined reports whether the person has ever been welcomed.
func (p *person) joined() bool { return p.epoch != "" }

// send sends a message now, or after the next welcome. It is kept until it is
// acknowledged.
func (p *person) send(m pending) {
	m.sent = p.online
	p.unacked = append(p.unacked, m)
	if p.online {
		p.conn.Send(m.payload)
	}
}

// acked takes the message with this ref out of the unacknowledged ones.
func (p *person) acked(ref []byte) (pending, bool) {
	for i, m := range p.unacked {
		if m.ref == string(ref) {
			p.unacked = slices.Delete(p.unacked, i, i+1)
			return m, true
		}
	}
	return pending{}, false
}
