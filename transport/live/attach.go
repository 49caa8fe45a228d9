package live

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"atelier/actors/room"
)

// AttachOptions describes a new session: its room, person, protocol, starting position and handler.
type AttachOptions struct {
	Room *room.Room
	// Person is the id by which frames and signals address the session. Facilitator states whether
	// the session belongs to the facilitators. Frames address all facilitators together, as
	// room.Facilitator, so a facilitator's Person can be any id that no attendee has.
	Person      string
	Facilitator bool

	Protocol Protocol
	// Preamble is written first, unchanged. For SSE it is the HTTP response header.
	Preamble []byte

	// Since is the last position of a returning client, and nil for a new client. EpochChanged
	// means that this position belongs to another epoch.
	Since        *uint64
	EpochChanged bool
	// From is the position at which a new client begins: the room's head when the client was
	// authorized, possibly well before Attach. The client begins at the room's current head instead
	// if From is 0 or is no longer in the room's window.
	From uint64

	// Welcome returns the first payload: seq is the session's position, and head is the room's.
	// Resync returns the payload that makes a client read the state again, which is then at seq or
	// later. reason is one of ResyncNames. The functions Welcome and Resync are called on a loop
	// goroutine.
	Welcome func(seq, head uint64) []byte
	Resync  func(seq uint64, reason string) []byte

	Handler Handler
	// Data is the session's initial Data.
	Data any
}

// Attach creates a session from a connection after its handshake, and takes the connection over:
// the caller must not use the connection again. buffered contains the bytes already read from the
// connection, see TakeOver.
//
// The session joins its room in one step. The client first receives the welcome. If the client sent
// a position, the stored frames after that position follow, or a resync if they are not available.
// Then the published frames follow, each exactly once. For a new client without AttachOptions.From,
// all frames published before Attach was called precede the welcome's position. With a From that is
// still in the room's window, only the frames up to From precede it.
//
// Attach returns ErrDraining or ErrClosed if the hub accepts no sessions. On any error the connection
// is closed and no method of the Handler is called.
func (h *Hub) Attach(conn net.Conn, buffered []byte, o AttachOptions) (*Session, error) {
	id := h.attached.Add(1)
	l := h.loops[id%uint64(len(h.loops))]
	// The session is counted before the check. A concurrent Drain either waits for it, or is noticed
	// here.
	l.count.sessions.Add(1)
	refuse := func(err error) (*Session, error) {
		l.count.sessions.Add(-1)
		conn.Close()
		return nil, err
	}
	if h.draining.Load() {
		return refuse(ErrDraining)
	}
	s := &Session{
		Data:        o.Data,
		id:          id,
		loop:        l,
		room:        o.Room,
		handler:     o.Handler,
		resync:      o.Resync,
		person:      o.Person,
		facilitator: o.Facilitator,
		protocol:    o.Protocol,
	}
	if err := l.plug(s, conn); err != nil {
		return refuse(err)
	}
	l.count.attached.Add(1)
	head := headOf(s.room)
	if !l.post(func() { l.join(s, buffered, &o, head) }) {
		l.count.sessions.Add(-1)
		s.wire.abort()
		return nil, ErrClosed
	}
	return s, nil
}

// join adds a session to its room. head is the room's head when the session was attached.
func (l *loop) join(s *Session, buffered []byte, o *AttachOptions, head position) {
	// First the existing sessions get everything up to head, so that the new session can begin at
	// their position. Frames published after the attachment cause no fan-out here: otherwise each
	// of many new sessions would cause a separate fan-out.
	if h := l.rooms[s.room]; h != nil && h.at.before(head) {
		l.drain(h)
	}
	// The room is looked up again after the fan-out, because the loop's room may have ended with
	// its last session.
	l.loopRoom(s.room).enter(s)
	l.sessions[s.id] = s
	s.state, s.seen, s.beat = open, l.now, l.now

	l.out = append(l.out[:0], o.Preamble...)
	l.out = l.greet(s, l.out, o)
	if s.lag == nil {
		l.writeNow(s, l.out)
	} else {
		s.lag.rest = append([]byte(nil), l.out...)
		l.resume(s)
	}
	if s.state == closed {
		return
	}
	if err := l.listen(s); err != nil {
		l.drop(s, ReasonGone)
		return
	}
	if len(buffered) > 0 {
		l.input(s, buffered)
	}
}

// greet appends the welcome, and determines how the session continues.
func (l *loop) greet(s *Session, dst []byte, o *AttachOptions) []byte {
	at := s.loopRoom.at.stored
	refuse := func(why Resync) []byte {
		l.count.resyncs[why].Add(1)
		dst = s.stamp(dst, at, o.Welcome(at, at))
		return s.stamp(dst, at, o.Resync(at, why.String()))
	}
	switch {
	case o.EpochChanged:
		return refuse(ResyncEpoch)
	case o.Since == nil && o.From != 0 && o.From < at && o.From >= s.room.Floor():
		// The session was authorized before the latest frames were published, so it must still
		// receive them.
		l.fallBehind(s, nil)
		s.lag.at.stored = o.From
		s.lag.returning = true
		return s.stamp(dst, o.From, o.Welcome(o.From, at))
	case o.Since == nil || *o.Since == at:
		return s.stamp(dst, at, o.Welcome(at, at))
	case *o.Since > at || *o.Since < s.room.Floor():
		return refuse(ResyncWindow)
	}
	// A replay is handled like a session that fell behind long ago.
	l.count.replays.Add(1)
	l.fallBehind(s, nil)
	s.lag.at.stored = *o.Since
	s.lag.returning = true
	return s.stamp(dst, *o.Since, o.Welcome(*o.Since, at))
}

// TakeOver unwraps a connection that fasthttp has hijacked. It returns the connection itself and
// the bytes that the HTTP reader had already read from it. A client can send such bytes directly
// after its request.
//
// The server must run with KeepHijackedConns. Otherwise fasthttp closes a TLS connection when the
// hijack handler returns.
func TakeOver(c net.Conn) (raw net.Conn, buffered []byte, err error) {
	wrapped, ok := c.(interface{ UnsafeConn() net.Conn })
	if !ok {
		return c, nil, nil
	}
	raw = wrapped.UnsafeConn()
	// With a deadline in the past a read returns the buffered bytes, then fails before it reads the
	// socket.
	if err := raw.SetReadDeadline(time.Unix(1, 0)); err != nil {
		return nil, nil, fmt.Errorf("set deadline of hijacked connection: %w", err)
	}
	var chunk [512]byte
	for {
		n, err := c.Read(chunk[:])
		buffered = append(buffered, chunk[:n]...)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			return nil, nil, fmt.Errorf("drain hijacked connection: %w", err)
		}
	}
	if err := raw.SetReadDeadline(time.Time{}); err != nil {
		return nil, nil, fmt.Errorf("reset deadline of hijacked connection: %w", err)
	}
	return raw, buffered, nil
}
