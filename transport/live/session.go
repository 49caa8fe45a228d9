package live

import (
	"atelier/actors/room"

	"atelier/transport/rfc6455"
)

// Handler handles the events of a session for its owner. Its methods are called on the goroutine of
// the session's loop, which serves thousands of other sessions, so they must not block. Payloads
// are valid only during the call.
type Handler interface {
	// Message is called with each complete text message.
	Message(s *Session, payload []byte)
	// Limited is called instead of Message for a message above the rate limit.
	Limited(s *Session, payload []byte)
	// Closed is called exactly once, as the last call for the session.
	Closed(s *Session, reason Reason)
}

// state is the state of a session's life.
type state uint8

const (
	// A new session is joining: it is attached, but the loop has not processed it.
	_ state = iota
	// open: frames and messages flow.
	open
	// closing: our close frame is written or queued, and nothing follows it.
	closing
	// closed: the wire was closed.
	closed
)

// Session is one connection of one person to one room. Send and Close can be called from any
// goroutine.
type Session struct {
	// Data belongs to the owner, which sets it before or in the first callback. The package never
	// reads it.
	Data any

	// Immutable after Attach.
	id uint64
	// Immutable after Attach.
	loop *loop
	// Immutable after Attach.
	room *room.Room
	// Immutable after Attach.
	handler Handler
	// Immutable after Attach.
	resync func(seq uint64, reason string) []byte
	// Immutable after Attach.
	person string
	// Immutable after Attach.
	facilitator bool
	// Immutable after Attach.
	protocol Protocol

	// Owned by the loop goroutine.
	state state
	// Owned by the loop goroutine. Why the session is closing.
	reason Reason
	// Owned by the loop goroutine. The session expects nothing more from the peer, so the wire is
	// closed as soon as everything is written.
	hangup bool
	// Owned by the loop goroutine. Drain has already begun to end the session.
	draining bool
	// Owned by the loop goroutine. Drain has already sent the reconnect payload.
	announced bool
	// Owned by the loop goroutine. The peer violated the protocol, so its further input is
	// discarded, except a close frame.
	ignoresInput bool

	// Safe for any goroutine.
	outbox outbox

	// Owned by the loop goroutine.
	wire wire
	// Owned by the loop goroutine. Nil until joined.
	loopRoom *loopRoom
	// Owned by the loop goroutine. Nil while the session keeps up with its loop's room.
	lag *lag
	// Owned by the loop goroutine. Nil unless a message is partially received.
	partial *rfc6455.Decoder
	// Owned by the loop goroutine. The first step of a fan-out that the session has not received.
	next uint64
	// Owned by the loop goroutine. The last step that treated the session differently from its
	// group.
	single uint64
	// Owned by the loop goroutine. The session's index in its group.
	place int
	// Owned by the loop goroutine. Other sessions of the same person.
	before, after *Session
	// Owned by the loop goroutine. seen is the time at which the peer last sent something, and beat
	// is the time of the last heartbeat to the peer. leaving is the time at which the session began
	// to end, or 0.
	seen, beat, leaving int64
	// Owned by the loop goroutine.
	rate bucket
}

// ID returns the session's number, which is unique in this process and never 0.
func (s *Session) ID() uint64 { return s.id }

// Person returns the id of the session's person.
func (s *Session) Person() string { return s.person }

// IsFacilitator reports whether the session is a facilitator's.
func (s *Session) IsFacilitator() bool { return s.facilitator }

// Room returns the session's room.
func (s *Session) Room() *room.Room { return s.room }

// Send queues a payload for this session alone. The payload is delivered after every stored frame
// for the session that was published before the call. Payloads are delivered in the order of the
// calls. A payload must not be modified after the call.
//
// Send returns false if the session is closing or the hub is closed, or if more than
// Options.PrivateBytes would be queued. In the last case the session is closed with 1013.
func (s *Session) Send(payload []byte) bool {
	return s.put(outboundMessage{payload: payload, after: s.room.Head()})
}

// Close closes the session after everything that was sent before the call. It has no effect if the
// session is already closing. A reason longer than 123 bytes is truncated.
func (s *Session) Close(code int, reason string) {
	s.end(ending{code, reason, ReasonServer})
}

func (s *Session) end(e ending) {
	s.put(outboundMessage{after: s.room.Head(), end: &e})
}

func (s *Session) put(m outboundMessage) bool {
	switch s.outbox.put(m, s.loop.hub.opts.PrivateBytes) {
	case refused:
		return false
	case accepted:
		return true
	case overflowed:
		l := s.loop
		l.count.overflows.Add(1)
		l.post(func() { l.endNow(s, ending{rfc6455.CloseTryLater, "too much is waiting", ReasonOverflow}) })
		return false
	default:
		return s.loop.add(func(w *work) { w.outboxes = append(w.outboxes, s) })
	}
}

// wants reports whether a frame is for this session.
func (s *Session) wants(f *room.Frame) bool {
	return f.Reaches(s.person, s.facilitator) && (f.Origin == 0 || f.Origin != s.id)
}

// group returns the session's group in its room. Sessions of a group get the same bytes, unless a
// frame singles one out.
func (s *Session) group() int {
	g := 2 * int(s.protocol)
	if s.facilitator {
		g++
	}
	return g
}

// groups is the number of combinations of protocol and facilitator.
const groups = 4

func groupIsFacilitators(g int) bool { return g&1 == 1 }
func groupProtocol(g int) Protocol   { return Protocol(g >> 1) }

// appendPrivate appends a payload without a position in the stream, encoded for the session's
// protocol.
func (s *Session) appendPrivate(dst, payload []byte) []byte {
	return s.protocol.append(dst, "", 0, payload)
}

// stamp appends a payload with the session's position. If an SSE client loses the connection
// directly after this payload, it reconnects with this position.
func (s *Session) stamp(dst []byte, seq uint64, payload []byte) []byte {
	return s.protocol.append(dst, s.room.Epoch(), seq, payload)
}
