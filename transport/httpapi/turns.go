package httpapi

import (
	"io"
	"net"
	"runtime"
	"sync"
	"time"
)

// turns let few of those who move many bytes go on at a moment. Go runs what is ready in
// the order in which it became so: of hundreds of downloads at once each has a goroutine
// that is ready again and again, and a message of the chat waits behind all of them at
// each of the half dozen hops from its connection to those of the others. With turns it
// waits behind one. (300 clones of 8 MB at once beside a workshop of 500, on two cores with
// their clients: chat p99 675 ms without turns, 70 with them, 20 without clones.)
type turns chan struct{}

func newTurns() turns { return make(turns, max(1, runtime.GOMAXPROCS(0)/2)) }

// turnFor is how long a turn lasts at most. A download that waits for a slow client or
// for the disk loses its turn by that, and holds up nobody.
const turnFor = time.Millisecond

// take waits for a turn. The function that it returns gives it back.
func (t turns) take() func() {
	t <- struct{}{}
	give := sync.OnceFunc(func() { <-t })
	over := time.AfterFunc(turnFor, give)
	return func() {
		over.Stop()
		give()
	}
}

// Turn waits until it is the caller's turn to do what many may want at the same moment,
// and what none of them needs at once. The function that it returns gives it back.
func (r *Exchange) Turn() func() { return r.api.turns.take() }

// piece is how much of a download goes out in one turn, bytes.
const piece = 128 << 10

var pieces = sync.Pool{New: func() any { return new([piece]byte) }}

// pieceFor is how long a client may take for one piece of a download.
const pieceFor = 60 * time.Second

// Paced lets a download take as long as it needs, as long as it goes on: the
// server's time-out is for whole answers. Each of its pieces goes out in a turn.
func (r *Exchange) Paced(content io.ReadCloser) io.ReadCloser {
	return &paced{content, r.Conn(), r.api.turns}
}

type paced struct {
	io.ReadCloser
	conn  net.Conn
	turns turns
}

// Read is for content whose size is not known before, which goes out as it comes.
func (p *paced) Read(b []byte) (int, error) {
	_ = p.conn.SetWriteDeadline(time.Now().Add(pieceFor))
	return p.ReadCloser.Read(b)
}

// WriteTo implements io.WriterTo.
func (p *paced) WriteTo(w io.Writer) (written int64, err error) {
	buffer := pieces.Get().(*[piece]byte)
	defer pieces.Put(buffer)
	for err == nil {
		var n int
		n, err = p.send(w, buffer[:])
		written += int64(n)
	}
	if err == io.EOF {
		err = nil
	}
	return written, err
}

// send sends one piece; io.EOF is the end.
func (p *paced) send(w io.Writer, buffer []byte) (int, error) {
	defer p.turns.take()()
	n, err := io.ReadFull(p.ReadCloser, buffer)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	if n == 0 {
		return 0, err
	}
	_ = p.conn.SetWriteDeadline(time.Now().Add(pieceFor))
	n, failed := w.Write(buffer[:n])
	if failed != nil {
		err = failed
	}
	return n, err
}
