package live

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"atelier/actors/room"
)

// AttachOptions says who is coming, to which room, and from where on.
type AttachOptions struct {
	Room *room.Room
	// Person is the id by which frames and signals address the session, and
	// Facilitator whether it belongs to the facilitators. A facilitator's id should
	// be room.Facilitator or an id of its own: they are addressed as a class.
	Person      string
	Facilitator bool

	Protocol Protocol
	// Preamble is written first, as it is: for SSE the HTTP response head.
	Preamble []byte

	// Since is the position a returning client has reached, nil for one that
	// comes fresh. EpochChanged says that it is of another stream.
	Since        *uint64
	EpochChanged bool
	// From is where a fresh client begins: the room's head when it was let in,
	// which may be a while before Attach. 0 lets it begin where the room is.
	From uint64

	// Welcome makes the first payload: seq is the session's position, head the room's.
	// Resync makes the payload that asks a client to read the state again, which will then
	// be at seq or later. Both are called on a loop goroutine.
	Welcome func(seq, head uint64) []byte
	Resync  func(seq uint64, reason string) []byte

	Handler Handler
	// Data is the session's Data from the beginning.
	Data any
}

// Attach makes a session of a connection after its handshake, and takes the connection over: the
// caller must not use it again. buffered has the bytes already read from it, see TakeOver.
//
// The session joins its room in one step. The welcome comes first. If the client sends a
// position, the stored frames that it has missed follow, or a resync if they are not available.
// Then come the published frames, none twice and none left out. Frames that were published before
// Attach was called, or before AttachOptions.From was read, are before the welcome's position.
//
// On an error the connection is closed and no method of the Handler is called.
func (h *Hub) Attach(conn net.Conn, buffered []byte, o AttachOptions) (*Session, error) {
	if h.draining.Load() {
		conn.Close()
		return nil, ErrDraining
	}
	id := h.attached.Add(1)
	l := h.loops[id%uint64(len(h.loops))]
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
		conn.Close()
		return nil, err
	}
	l.count.sessions.Add(1)
	l.count.attached.Add(1)
	head := headOf(s.room)
	if !l.post(func() { l.join(s, buffered, &o, head) }) {
		l.count.sessions.Add(-1)
		s.wire.abort()
		return nil, ErrClosed
	}
	return s, nil
}

// join lets a session take its place in its room, of which head had been published
// when it came.
func (l *loop) join(s *Session, buffered []byte, o *AttachOptions, head position) {
	// Those who are here already get everything up to there first, so that the newcomer can
	// begin where they are. Later frames do not matter, or each of many newcomers would
	// cause a separate fan-out.
	if h := l.rooms[s.room]; h != nil && h.at.before(head) {
		l.drain(h)
	}
	// After that: the loop's room has ended if it found the last of them gone.
	l.loopRoom(s.room).enter(s)
	l.sessions[s.id] = s
	s.state, s.seen, s.beat = open, l.now, l.now

	l.out = append(l.out[:0], o.Preamble...)
	l.out = l.greet(s, l.out, o)
	if s.lag == nil {
		l.say(s, l.out)
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

// greet appends the welcome, and decides how the session continues.
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
		// It was let in before what was published since.
		l.fallBehind(s, nil)
		s.lag.at.stored = o.From
		s.lag.returning = true
		return s.stamp(dst, o.From, o.Welcome(o.From, at))
	case o.Since == nil || *o.Since == at:
		return s.stamp(dst, at, o.Welcome(at, at))
	case *o.Since > at || *o.Since < s.room.Floor():
		return refuse(ResyncWindow)
	}
	// A replay is nothing else than having fallen behind, long ago.
	l.count.replays.Add(1)
	l.fallBehind(s, nil)
	s.lag.at.stored = *o.Since
	s.lag.returning = true
	return s.stamp(dst, *o.Since, o.Welcome(*o.Since, at))
}

// TakeOver undoes what fasthttp has wrapped around a connection that was
// hijacked. It returns the connection itself and the bytes that the HTTP
// reader had already taken from it, which a client may have sent right behind
// its request.
//
// The server must run with KeepHijackedConns, or fasthttp closes a TLS
// connection when the hijack handler returns.
func TakeOver(c net.Conn) (raw net.Conn, buffered []byte, err error) {
	wrapped, ok := c.(interface{ UnsafeConn() net.Conn })
	if !ok {
		return c, nil, nil
	}
	raw = wrapped.UnsafeConn()
	// With a deadline in the past a read gives what is in the buffer and then
	// fails before it touches the socket.
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
