package live

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"time"
)

// Beneath prepares l for a TLS listener on top of it, so that Attach can take over the sockets.
// Otherwise each connection has a goroutine for reading and one for writing. It then needs several
// times the memory, and a fan-out takes twice the time.
func Beneath(l net.Listener) net.Listener { return lowest{l} }

type lowest struct{ net.Listener }

func (l lowest) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		c = &beneath{TCPConn: tcp}
	}
	return c, err
}

// beneath is the connection below TLS: first a connection of Go's runtime, later a socket that the
// loop polls. In the second state reads never block and writes accept everything. Close always
// closes the runtime's connection, so that any goroutine can call it.
type beneath struct {
	*net.TCPConn
	// taken means that the socket belongs to the loop. The loop goroutine then owns taken and the
	// following fields.
	taken  bool
	socket socket
	// dry means that the last read emptied the socket. toEnd means that reads continue until the
	// end of the stream.
	dry, toEnd bool
	// pending contains the bytes that the socket did not accept. These are at most one record and
	// TLS's own messages, because sessions cannot write while bytes are pending.
	pending []byte
	err     error // the error that ended writing
}

// notYet is the error of a read when no bytes have arrived yet. TLS treats this error as a timeout,
// and later continues at the same place.
type notYet struct{}

func (notYet) Error() string   { return "live: nothing to read yet" }
func (notYet) Timeout() bool   { return true }
func (notYet) Temporary() bool { return true }

func (b *beneath) Read(p []byte) (int, error) {
	if !b.taken {
		return b.TCPConn.Read(p)
	}
	if b.dry {
		return 0, notYet{}
	}
	n, err := b.socket.read(p)
	b.dry = n < len(p) && !b.toEnd
	if n == 0 && err == nil {
		return 0, notYet{}
	}
	return n, err
}

// Write never fails once the loop owns the socket, because TLS would keep the error forever.
// Instead it stores the error in err.
func (b *beneath) Write(p []byte) (int, error) {
	if !b.taken {
		return b.TCPConn.Write(p)
	}
	n := 0
	if len(b.pending) == 0 && b.err == nil {
		n, b.err = b.socket.write(p)
	}
	if b.pending = append(b.pending, p[n:]...); len(b.pending) > maxPending {
		b.err = errUnread
	}
	if b.err != nil {
		b.pending = nil
	}
	return len(p), nil
}

// maxPending bounds the pending bytes. Only a peer that does not read TLS's own messages exceeds it.
const maxPending = 4 * secureRecord

var errUnread = errors.New("live: peer does not read the TLS responses that it requests")

// flush writes the pending bytes.
func (b *beneath) flush() error {
	if len(b.pending) == 0 || b.err != nil {
		return b.err
	}
	var n int
	n, b.err = b.socket.write(b.pending)
	if b.pending = b.pending[n:]; len(b.pending) == 0 {
		b.pending = nil
	}
	return b.err
}

// secure is the wire of a TLS connection without goroutines: the loop itself encrypts and decrypts.
type secure struct {
	hub   *Hub
	conn  *tls.Conn
	under *beneath
}

// secureRecord is the maximum payload of a TLS record, in bytes.
const secureRecord = 16 << 10

func newSecure(h *Hub, conn *tls.Conn, under *beneath) (*secure, error) {
	sock, err := newSocket(under.TCPConn, &h.opts)
	if err != nil {
		return nil, err
	}
	under.taken, under.socket = true, sock
	return &secure{hub: h, conn: conn, under: under}, nil
}

func (w *secure) write(p []byte) (int, error) {
	written := 0
	for {
		if err := w.under.flush(); err != nil {
			return written, err
		}
		if len(w.under.pending) > 0 || written == len(p) {
			return written, nil
		}
		n, err := w.conn.Write(p[written:min(len(p), written+secureRecord)])
		if written += n; err != nil {
			return written, err
		}
	}
}

// read returns 0 and no error if no bytes can be read.
func (w *secure) read(p []byte) (int, error) {
	n, err := w.conn.Read(p)
	if errors.Is(err, notYet{}) {
		err = w.under.err
	}
	return n, err
}

func (w *secure) close() {
	// CloseWrite sends close_notify and ends the writing side of TLS.
	_ = w.conn.CloseWrite()
	if len(w.under.pending) == 0 {
		w.under.socket.close()
		return
	}
	// The kernel sends its own buffer after a close. The pending bytes are not in the kernel's
	// buffer, so this goroutine sends them.
	w.hub.pipes.Add(1)
	go func() {
		defer w.hub.pipes.Done()
		f := os.NewFile(uintptr(w.under.socket), "socket")
		defer f.Close()
		_ = f.SetWriteDeadline(time.Now().Add(w.hub.opts.CloseGrace))
		_, _ = f.Write(w.under.pending)
	}()
}

func (w *secure) abort() { w.under.socket.abort() }
