package live

import (
	"net"
	"sync"
	"time"
)

// wire is the output of one connection. All methods are called by the loop goroutine that owns the
// connection, and none of them blocks. Only Attach also calls abort, if the loop refuses the
// session.
type wire interface {
	// write sends as much of p as the peer accepts. If the peer accepts only a part, the loop is
	// notified when the peer accepts more.
	write(p []byte) (int, error)
	// close ends the connection after delivery of earlier writes.
	close()
	// abort ends the connection and discards undelivered bytes.
	abort()
}

const (
	// pipeReadBuffer is the size of a pipe's read buffer.
	pipeReadBuffer = 4 << 10
	// pipeWriteBuffer bounds the bytes queued for the writer goroutine, as SO_SNDBUF does for a
	// socket.
	pipeWriteBuffer = 64 << 10
)

// pipe is the wire for connections whose descriptor the loop cannot use, such as all connections on
// systems without epoll. One goroutine reads and hands the bytes to the loop; another writes from a
// bounded buffer. A pipe costs about 20 kB, so it is used only if no other wire is possible.
type pipe struct {
	// Immutable after newPipe.
	loop *loop
	// Immutable after newPipe.
	session *Session
	// Immutable after newPipe. Read by the reader, written by the writer goroutine, and closed by
	// the writer or by abort.
	conn net.Conn

	mu sync.Mutex
	// Guarded by mu. Bytes from the loop that the writer has not taken.
	queue []byte
	// Guarded by mu. A write of the loop was not accepted completely, so the loop must be notified
	// when the queue has room.
	wanted bool
	// Guarded by mu. The loop has closed the pipe, so the writer ends after it has written the
	// queue.
	closing bool
	// Guarded by mu. The error that stopped the writer.
	err error

	// work makes the writer check the queue. It has capacity 1 and is never closed.
	work chan struct{}
	// taken signals to the reader that its buffer is free again. It has capacity 1 and is never
	// closed.
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

// start starts the reader goroutine.
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
	// Without the deadline, the close frame for a peer that does not read could block the writer
	// forever.
	_ = p.conn.SetWriteDeadline(time.Now().Add(p.loop.hub.opts.CloseGrace))
	p.signal()
}

func (p *pipe) abort() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closing = true
	p.queue = nil
	// The connection below TLS is closed, because Close of the TLS connection would wait until
	// close_notify is sent.
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

// next waits for bytes to write. It returns nothing if the pipe is closing and the queue is empty.
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
		// Each notification is a task for the loop. To limit their number, a notification is sent
		// only when half of the buffer is free, or the write has failed.
		notify := p.wanted && len(p.queue) <= pipeWriteBuffer/2 || err != nil
		if notify {
			p.wanted = false
		}
		p.mu.Unlock()
		if notify {
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
		// The loop runs every task that it accepted, so this receive always ends.
		<-p.taken
	}
}
