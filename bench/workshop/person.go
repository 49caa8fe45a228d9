//go:build linux

package workshop

import (
	"slices"
	"time"

	"atelier/bench/api"
	"atelier/bench/audit"
	"atelier/bench/sockets"
)

// person is an attendee or a facilitator with one WebSocket. The loop owns it.
type person struct {
	index       int
	facilitator bool
	// node is the index of the node for the connection, and for the first attempt of each request.
	node int
	// stalled means that the person stops reading after the join, until the end of the load.
	stalled bool
	name    string

	// id is the id of the attendee record.
	id    string
	login api.Session

	// conn is nil if there is no connection. online means that the connection was welcomed.
	conn   *sockets.Conn
	online bool
	// epoch identifies the stream; "" before the first welcome.
	epoch string
	// dialled is the time from which the time to connect counts: the first attempt, or the loss of
	// the last welcomed connection.
	dialled time.Duration
	// leaver means that the person has dropped the connection on purpose; see Config.Churn. left is
	// the time at which this last happened.
	leaver bool
	left   time.Duration
	// attempts is the number of lost connections and failed attempts since the last welcome.
	attempts int

	subscriber audit.Subscriber
	// unacked contains the messages without an ack that were sent or are to be sent, in order.
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
	// order is the position of a step among all sent steps.
	order int
	// again means that a node asked for the message to be sent again.
	again bool
	// sent means that the message was sent at least once. It is unknown whether it arrived.
	sent bool
}

// joined reports whether the person has ever been welcomed.
func (p *person) joined() bool { return p.epoch != "" }

// send sends a message now, or after the next welcome. The message is stored until it is
// acknowledged.
func (p *person) send(m pending) {
	m.sent = p.online
	p.unacked = append(p.unacked, m)
	if p.online {
		p.conn.Send(m.payload)
	}
}

// acked removes the message with this ref from the unacknowledged messages, and returns it.
func (p *person) acked(ref []byte) (pending, bool) {
	for i, m := range p.unacked {
		if m.ref == string(ref) {
			p.unacked = slices.Delete(p.unacked, i, i+1)
			return m, true
		}
	}
	return pending{}, false
}
