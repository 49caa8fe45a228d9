package live

import (
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// socket is a wire that consists only of a file descriptor, which the loop polls. To save memory,
// it has no goroutine, no buffer and no entry in Go's own poller.
type socket int

// newSocket takes a TCP connection from the runtime: it duplicates the descriptor and closes conn.
// Closing removes conn from Go's poller and frees its memory. On failure conn is unchanged.
func newSocket(conn *net.TCPConn, opts *Options) (socket, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return -1, fmt.Errorf("reach the socket: %w", err)
	}
	fd := -1
	var dupErr error
	err = raw.Control(func(original uintptr) {
		fd, dupErr = unix.FcntlInt(original, unix.F_DUPFD_CLOEXEC, 3)
	})
	if err == nil {
		err = dupErr
	}
	if err != nil {
		return -1, fmt.Errorf("duplicate the socket: %w", err)
	}
	// The duplicate shares the original's O_NONBLOCK. Errors are ignored, because a refused option
	// costs only speed or memory.
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, opts.SendBuffer)
	// The timeout ends the connection to a peer that vanished silently. An SSE client never sends
	// anything, so only missing TCP acknowledgements show that it has vanished.
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(opts.IdleTimeout/time.Millisecond))
	conn.Close()
	return socket(fd), nil
}

func (s socket) write(p []byte) (int, error) {
	for {
		n, err := unix.Write(int(s), p)
		switch err {
		case nil:
			return n, nil
		case unix.EAGAIN:
			return 0, nil
		case unix.EINTR:
		default:
			return 0, err
		}
	}
}

// read returns 0 and no error if no bytes can be read, and errGone at the end of the stream.
func (s socket) read(p []byte) (int, error) {
	for {
		n, err := unix.Read(int(s), p)
		switch {
		case err == unix.EAGAIN:
			return 0, nil
		case err == unix.EINTR:
		case err != nil:
			return 0, err
		case n == 0:
			return 0, errGone
		default:
			return n, nil
		}
	}
}

func (s socket) close() { unix.Close(int(s)) }

func (s socket) abort() {
	_ = unix.SetsockoptLinger(int(s), unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	unix.Close(int(s))
}

// plug sets a session's wire. This is the socket itself for a TCP connection, TLS over the socket
// for a TLS connection on a listener of Beneath, and a pipe for any other connection.
func (l *loop) plug(s *Session, conn net.Conn) (err error) {
	switch c := conn.(type) {
	case *net.TCPConn:
		var w socket
		if w, err = newSocket(c, &l.hub.opts); err == nil {
			s.wire = w
		}
		return err
	case *tls.Conn:
		if under, ok := c.NetConn().(*beneath); ok {
			var w *secure
			if w, err = newSecure(l.hub, c, under); err == nil {
				s.wire = w
			}
			return err
		}
	}
	s.wire = newPipe(l, s, conn)
	return nil
}

// listen registers the session's socket with the loop's poller, or starts the reader of its pipe.
func (l *loop) listen(s *Session) error {
	switch w := s.wire.(type) {
	case socket:
		return l.poller.add(int(w), s.id)
	case *secure:
		return l.poller.add(int(w.under.socket), s.id)
	case *pipe:
		w.start()
	}
	return nil
}

// readsPerTurn is the number of buffers read from one session before the loop continues with
// others.
const readsPerTurn = 4

// read reads the arrived bytes of a session. Events are edge-triggered, so read continues until the
// socket is empty. After readsPerTurn buffers, it continues in the next turn. A read that did not
// fill the buffer proves that the socket is empty. With toEnd, a short read proves nothing, because
// the peer has closed its side or an earlier turn left bytes.
func (l *loop) read(s *Session, toEnd bool) {
	w, ok := s.wire.(interface{ read(p []byte) (int, error) })
	if !ok {
		return
	}
	if w, ok := w.(*secure); ok {
		// A TLS read returns at most one record, so a short read proves nothing.
		w.under.dry, w.under.toEnd, toEnd = false, toEnd, true
	}
	for range readsPerTurn {
		n, err := w.read(l.buf)
		if err != nil {
			l.drop(s, ReasonGone)
			return
		}
		if n == 0 {
			return
		}
		l.input(s, l.buf[:n])
		if s.state == closed || n < len(l.buf) && !toEnd {
			return
		}
	}
	l.unread = append(l.unread, s)
}

// roomy writes the bytes that a socket had not accepted, after the socket has room again.
func (l *loop) roomy(s *Session) {
	if w, ok := s.wire.(*secure); ok && s.state != closed && w.under.flush() != nil {
		l.drop(s, ReasonGone)
	}
	l.writable(s)
}
