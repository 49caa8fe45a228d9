package httpapi

import (
	"errors"
	"io"
	"net"
	"time"
)

// Stream answers what write writes, while it is written. When that fails on
// the way, the answer breaks off without its end.
func (r *Exchange) Stream(name, mediaType string, write func(io.Writer) error) {
	pr, pw := io.Pipe()
	log := r.api.Logger.With("request_id", r.ID)
	go func() {
		err := write(pw)
		_ = pw.CloseWithError(err)
		// A client that left has closed the other end.
		if err != nil && !errors.Is(err, io.ErrClosedPipe) {
			log.Warn("a download was not finished", "error", err)
		}
	}()
	r.Response.Header.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	r.SetContentType(mediaType)
	r.Response.SetBodyStream(r.Paced(pr), -1) // closes it, also when the client has left
}

// pieceFor is how long a client may take for one piece of a download.
const pieceFor = 60 * time.Second

// Paced lets a download take as long as it needs, as long as it goes on: the
// server's time-out is for whole answers.
func (r *Exchange) Paced(content io.ReadCloser) io.ReadCloser {
	return &paced{content, r.Conn()}
}

type paced struct {
	io.ReadCloser
	conn net.Conn
}

func (p *paced) Read(b []byte) (int, error) {
	_ = p.conn.SetWriteDeadline(time.Now().Add(pieceFor))
	return p.ReadCloser.Read(b)
}
