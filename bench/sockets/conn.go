//go:build linux

package sockets

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sys/unix"

	"atelier/bench/frames"
)

type state uint8

const (
	connecting state = iota
	upgrading
	open
	closed
)

// maxWaiting is the maximum number of bytes that wait for free space in a socket.
const maxWaiting = 1 << 20

var errWaiting = errors.New("server does not read")

// End describes how a connection ended.
type End struct {
	// Code is the code of the server's close frame, or 0 if it sent none.
	Code int
	// Err is the error that ended the connection; nil after a close frame. For a refused upgrade it
	// is a *frames.RefusedError.
	Err error
}

// String describes how the connection ended.
func (e End) String() string {
	var refused *frames.RefusedError
	var errno unix.Errno
	switch {
	case e.Err == nil:
		return fmt.Sprintf("close %d", e.Code)
	case errors.As(e.Err, &refused):
		return fmt.Sprintf("refused with status %d", refused.Status)
	case errors.As(e.Err, &errno):
		return errno.Error()
	}
	return e.Err.Error()
}

// Quotes reports whether String can contain text from the server.
func (e End) Quotes() bool {
	var refused *frames.RefusedError
	var errno unix.Errno
	return e.Err != nil && !errors.As(e.Err, &refused) && !errors.As(e.Err, &errno)
}

// Denied reports whether the server's status means that it refused permanently.
func (e End) Denied() bool {
	var refused *frames.RefusedError
	if !errors.As(e.Err, &refused) {
		return false
	}
	switch refused.Status {
	case 408, 425, 429: // temporary
		return false
	}
	return refused.Status >= 300 && refused.Status < 500
}

// Target describes a connection to open.
type Target struct {
	// Address is the server's address.
	Address unix.Sockaddr
	// Source is the address to connect from; nil lets the kernel choose.
	Source unix.Sockaddr
	// Upgrade is the upgrade request. Dial chooses its Key.
	Upgrade frames.Upgrade
	// ReceiveBuffer is SO_RCVBUF, in bytes; 0 for the default.
	ReceiveBuffer int
	// Stream selects an event stream (SSE) instead of a WebSocket. Nothing can be sent, and each
	// event counts as a message.
	Stream bool
	// Binary allows binary messages, which are handled like text messages. SendBinary makes sent
	// messages binary.
	Binary, SendBinary bool
}

// Conn is one WebSocket or event stream of a Loop.
type Conn struct {
	// Owner is for the handler's use.
	Owner int

	loop    *Loop
	id      uint64
	fd      int
	state   state
	paused  bool
	watched uint32
	upgrade frames.Upgrade
	// answer is the received part of the server's response to the upgrade.
	answer  []byte
	decoder frames.Decoder
	// stream replaces the decoder if this is an event stream.
	stream *frames.Stream
	// binary means that sent messages are binary.
	binary bool
	// waiting contains the bytes that did not fit into the socket.
	waiting []byte
}

// Dial starts to connect. An error means that nothing was started. Later failures are reported to
// Handler.Closed.
func (l *Loop) Dial(owner int, t *Target) (*Conn, error) {
	family := unix.AF_INET
	if _, six := t.Address.(*unix.SockaddrInet6); six {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("create socket: %w", err)
	}
	if err := prepare(fd, t); err != nil {
		unix.Close(fd)
		return nil, err
	}
	l.lastID++
	c := &Conn{Owner: owner, loop: l, id: l.lastID, fd: fd, upgrade: t.Upgrade, binary: t.SendBinary, watched: unix.EPOLLOUT}
	if c.decoder.Binary = t.Binary; t.Stream {
		c.stream = &frames.Stream{}
	}
	var key [16]byte
	binary.LittleEndian.PutUint64(key[:], l.random.Uint64())
	binary.LittleEndian.PutUint64(key[8:], l.random.Uint64())
	c.upgrade.Key = base64.StdEncoding.EncodeToString(key[:])
	if err := l.poller.control(unix.EPOLL_CTL_ADD, fd, c.watched, c.id); err != nil {
		unix.Close(fd)
		return nil, err
	}
	l.conns[c.id] = c
	return c, nil
}

// prepare sets the socket's options and starts the connect.
func prepare(fd int, t *Target) error {
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return fmt.Errorf("set nodelay: %w", err)
	}
	if t.ReceiveBuffer > 0 {
		// This must precede the connect, because the handshake determines the window scale.
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, t.ReceiveBuffer); err != nil {
			return fmt.Errorf("set receive buffer: %w", err)
		}
	}
	if t.Source != nil {
		// The kernel chooses the port only when it connects. It then knows the destination, so that
		// 28,000 ports are available for each pair of addresses.
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1); err != nil {
			return fmt.Errorf("delay port: %w", err)
		}
		if err := unix.Bind(fd, t.Source); err != nil {
			return fmt.Errorf("bind source address: %w", err)
		}
	}
	if err := unix.Connect(fd, t.Address); err != nil && !errors.Is(err, unix.EINPROGRESS) {
		return fmt.Errorf("connect: %w", err)
	}
	return nil
}

// Asking reports whether the server has accepted the connection, but has not yet responded to the
// opening request.
func (c *Conn) Asking() bool { return c.state == upgrading }

// connected sends the upgrade after a successful connect.
func (c *Conn) connected() {
	code, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && code != 0 {
		err = unix.Errno(code)
	}
	if err != nil {
		c.end(End{Err: fmt.Errorf("connect: %w", err)})
		return
	}
	c.state = upgrading
	if c.stream != nil {
		c.write(c.upgrade.AppendStream(nil))
	} else {
		c.write(c.upgrade.Append(nil))
	}
	if c.state != closed {
		c.watch()
	}
}

// read reads at most one buffer of received bytes. The poller reports the rest again.
func (c *Conn) read() {
	l := c.loop
	n, err := unix.Read(c.fd, l.buffer[:])
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return
	case err != nil:
		c.end(End{Err: err})
		return
	case n == 0:
		c.end(End{Err: io.EOF})
		return
	}
	p := l.buffer[:n]
	l.readAt = l.clock.Now()
	if c.state == upgrading {
		if p = c.answered(p); p == nil {
			return
		}
	}
	if err := c.decode(p); err != nil {
		c.end(End{Err: fmt.Errorf("server broke the protocol: %w", err)})
	}
}

func (c *Conn) decode(p []byte) error {
	if c.stream != nil {
		return c.stream.Feed(p, sink{c})
	}
	return c.decoder.Feed(p, sink{c})
}

// answered handles the received part of the response to the upgrade. It returns the bytes after the
// response. It returns nil if there are none, or if the connection has ended.
func (c *Conn) answered(p []byte) []byte {
	c.answer = append(c.answer, p...)
	var n int
	var err error
	if c.stream != nil {
		n, c.stream.Chunked, err = frames.StreamAnswer(c.answer)
	} else {
		n, err = frames.Answer(c.answer, c.upgrade.Key)
	}
	if err != nil {
		c.end(End{Err: err})
		return nil
	}
	if n == 0 {
		return nil
	}
	rest := c.answer[n:]
	c.answer, c.upgrade, c.state = nil, frames.Upgrade{}, open
	c.loop.handler.Open(c)
	if c.state == closed || len(rest) == 0 {
		return nil
	}
	return rest
}

// sink handles the results of the decoder.
type sink struct{ c *Conn }

func (s sink) Message(payload []byte) { s.c.loop.handler.Message(s.c, payload) }
func (s sink) Ping(payload []byte) {
	s.c.write(frames.AppendPong(nil, s.c.loop.random.Uint32(), payload))
}
func (s sink) Close(code int) {
	// RFC 6455 requires this reply. An error does not matter, because the server is closing the
	// connection.
	s.c.write(frames.AppendClose(nil, s.c.loop.random.Uint32(), 1000))
	s.c.end(End{Code: code})
}

// Send sends a message, as text unless the target is binary. It returns false if the connection is
// not open.
func (c *Conn) Send(payload []byte) bool {
	if c.state != open || c.stream != nil {
		return false
	}
	frame := frames.AppendText
	if c.binary {
		frame = frames.AppendBinary
	}
	c.write(frame(make([]byte, 0, len(payload)+14), c.loop.random.Uint32(), payload))
	return c.state == open
}

// Pause stops reading, so that the server notices that this client is stalled.
func (c *Conn) Pause() {
	c.paused = true
	c.watch()
}

// Resume continues reading after Pause.
func (c *Conn) Resume() {
	c.paused = false
	c.watch()
}

// Close ends the connection without a close frame, as if the client had crashed. Handler.Closed is
// not called.
func (c *Conn) Close() { c.release() }

// write writes p to the socket. Bytes that do not fit wait, and a connection with too many waiting
// bytes ends.
func (c *Conn) write(p []byte) {
	if c.state == closed {
		return
	}
	if len(c.waiting) == 0 {
		n, err := unix.Write(c.fd, p)
		if err != nil && !errors.Is(err, unix.EAGAIN) {
			c.end(End{Err: err})
			return
		}
		p = p[max(n, 0):]
	}
	if len(p) == 0 {
		return
	}
	if len(c.waiting)+len(p) > maxWaiting {
		c.end(End{Err: errWaiting})
		return
	}
	c.waiting = append(c.waiting, p...)
	c.watch()
}

// flush writes waiting bytes.
func (c *Conn) flush() {
	p := c.waiting
	c.waiting = nil
	if len(p) > 0 {
		c.write(p)
	}
	if c.state != closed {
		c.watch()
	}
}

// watch subscribes the connection to the epoll events that it needs now.
func (c *Conn) watch() {
	want := uint32(0)
	if !c.paused {
		want |= unix.EPOLLIN
	}
	if len(c.waiting) > 0 || c.state == connecting {
		want |= unix.EPOLLOUT
	}
	if c.state == closed || want == c.watched {
		return
	}
	c.watched = want
	if err := c.loop.poller.control(unix.EPOLL_CTL_MOD, c.fd, want, c.id); err != nil {
		c.end(End{Err: err})
	}
}

// end closes the connection and notifies the handler, once.
func (c *Conn) end(e End) {
	if c.release() {
		c.loop.handler.Closed(c, e)
	}
}

// release closes the connection without notifying the handler. It returns false if the connection
// was closed before.
func (c *Conn) release() bool {
	if c.state == closed {
		return false
	}
	c.state = closed
	c.decoder.Stop()
	if c.stream != nil {
		c.stream.Stop()
	}
	c.waiting = nil
	delete(c.loop.conns, c.id)
	unix.Close(c.fd)
	return true
}
