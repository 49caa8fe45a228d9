package live

import (
	"net"
	"sync"
	"time"
)

// wire is one connection's way out, and its end. All methods are called by the
// loop goroutine that owns the connection, and none of them blocks.
type wire interface {
	// write sends as much of p as the peer has room for. If that is less than p, the loop
	// is notified once there is room again.
	write(p []byte) (int, error)
	// close ends the connection; what was written before is still delivered.
	close()
	// abort ends the connection and throws away what was not yet delivered.
	abort()
}

const (
	// pipeReadBuffer is the size of a pipe's read buffer.
	pipeReadBuffer = 4 << 10
	// pipeWriteBuffer bounds what waits for the writer goroutine. It plays the
	// part that SO_SNDBUF plays for a bare socket.
	pipeWriteBuffer = 64 << 10
)

// pipe is the wire for connections of which the loop cannot have the descriptor:
// everything on systems without epoll. A goroutine reads and hands the bytes
// to the loop; another writes from a bounded buffer. It costs about 20 kB a
// connection, which is why the others exist.
type pipe struct {
	// Immutable after newPipe.
	loop *loop
	// Immutable after newPipe.
	session *Session
	// Immutable after newPipe. Read by the reader, written and closed by the
	// writer goroutine.
	conn net.Conn

	mu sync.Mutex
	// Guarded by mu. Bytes that the loop wrote and the writer has not taken.
	queue []byte
	// Guarded by mu. The loop was refused and waits for room.
	wanted bool
	// Guarded by mu. The loop has closed; the writer ends after the queue.
	closing bool
	// Guarded by mu. What stopped the writer.
	err error

	// work has room for one: "look at the queue". Never closed.
	work chan struct{}
	// taken signals to the reader that its buffer is free again. Has room for one, never closed.
	taken chan struct{}
}

func newPipe(l *loop, s *Session, conn net.Conn) *pipe {
	p := &pipe{
		loop:    l,
		session: s,
		conn:    conn,
		work:    make(chan struct{}, 1),
		taken:   make(chan struct{}, 1),
	}
	l.hub.pipes.Add(1)
	go p.writeLoop()
	return p
}

// start begins to read.
func (p *pipe) start() {
	p.loop.hub.pipes.Add(1)
	go p.readLoop()
}

func (p *pipe) write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return 0, p.err
	}
	n := min(len(b), pipeWriteBuffer-len(p.queue))
	p.queue = append(p.queue, b[:n]...)
	p.wanted = n < len(b)
	p.signal()
	return n, nil
}

func (p *pipe) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closing = true
	// The goodbye of a peer that does not read must not keep the writer.
	_ = p.conn.SetWriteDeadline(time.Now().Add(p.loop.hub.opts.CloseGrace))
	p.signal()
}

func (p *pipe) abort() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closing = true
	p.queue = nil
	// Below TLS, whose own Close would wait to say goodbye.
	if inner, ok := p.conn.(interface{ NetConn() net.Conn }); ok {
		inner.NetConn().Close()
	} else {
		p.conn.Close()
	}
	p.signal()
}

func (p *pipe) signal() {
	select {
	case p.work <- struct{}{}:
	default:
	}
}

// next waits for bytes to write; none means that the pipe is closing.
func (p *pipe) next() []byte {
	for {
		p.mu.Lock()
		batch, closing := p.queue, p.closing
		p.queue = nil
		p.mu.Unlock()
		if len(batch) > 0 || closing {
			return batch
		}
		<-p.work
	}
}

func (p *pipe) writeLoop() {
	defer p.loop.hub.pipes.Done()
	defer p.conn.Close()
	for {
		batch := p.next()
		if len(batch) == 0 {
			return
		}
		_, err := p.conn.Write(batch)
		p.mu.Lock()
		p.err = err
		// Hearing of every free byte would be a task for the loop each; half
		// of the buffer is worth one.
		tell := p.wanted && len(p.queue) <= pipeWriteBuffer/2 || err != nil
		if tell {
			p.wanted = false
		}
		p.mu.Unlock()
		if tell {
			p.loop.post(func() { p.loop.writable(p.session) })
		}
		if err != nil {
			return
		}
	}
}

func (p *pipe) readLoop() {
	defer p.loop.hub.pipes.Done()
	buf := make([]byte, pipeReadBuffer)
	for {
		n, err := p.conn.Read(buf)
		if err != nil {
			p.loop.post(func() { p.loop.drop(p.session, ReasonGone) })
			return
		}
		if !p.loop.post(func() {
			p.loop.input(p.session, buf[:n])
			p.taken <- struct{}{}
		}) {
			return
		}
		// The loop runs every task it accepted, so this cannot hang.
		<-p.taken
	}
}
