package httpapi

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http/httputil"
	"time"

	"github.com/valyala/fasthttp"
)

// Detached writes the response to a request after the handler has returned. It is for slow
// responses, during which the client can disconnect. Its methods are for one goroutine; another
// goroutine can read from Conn.
type Detached struct {
	ID   string // request id
	Conn net.Conn

	refuse  func(error) Problem
	begun   func(status int)
	sharing sharing
	http11  bool
	head    bool // the header was sent
}

// writeFor is the time limit for a client to accept one piece of a response.
const writeFor = 20 * time.Second

// Detach takes over the connection and calls serve on a new goroutine once the handler has returned
// without an error. When serve returns, the connection is closed. refuse returns the response to an
// error. begun is called with the response's status when the response begins.
func (r *Exchange) Detach(refuse func(error) Problem, begun func(status int), serve func(d *Detached)) {
	d := &Detached{ID: r.ID, refuse: refuse, begun: begun, sharing: r.sharing, http11: r.Request.Header.IsHTTP11()}
	r.detached = true
	r.HijackSetNoResponse(true)
	r.Hijack(func(c net.Conn) {
		defer c.Close()
		d.Conn = c
		serve(d)
	})
}

// Fail sends the response to err. It returns an error if a response has already begun, or if the
// response cannot be written.
func (d *Detached) Fail(err error) error {
	if d.head {
		return errors.New("the response has already begun")
	}
	p := d.refuse(err)
	res := fasthttp.AcquireResponse()
	defer fasthttp.ReleaseResponse(res)
	setHeaders(&res.Header, d.ID)
	d.sharing.setHeaders(res.Header.Set)
	res.SetConnectionClose()
	p.write(res)
	d.begin(p.Status)
	w := bufio.NewWriter(d.Conn)
	if err := res.Write(w); err != nil {
		return fmt.Errorf("write response: %w", err)
	}
	return w.Flush()
}

func (d *Detached) begin(status int) {
	d.head = true
	_ = d.Conn.SetWriteDeadline(time.Now().Add(writeFor))
	d.begun(status)
}

// Begun reports whether a response has begun.
func (d *Detached) Begun() bool { return d.head }

// Send sends a piece of an event stream immediately; the first piece includes the header. With HTTP
// 1.1 the stream is chunked, so that a client can distinguish a complete response from a broken
// one.
func (d *Detached) Send(piece []byte) error {
	w := bufio.NewWriter(d.Conn)
	if !d.head {
		d.begin(fasthttp.StatusOK)
		fmt.Fprintf(w, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nX-Accel-Buffering: no\r\n"+
			"X-Content-Type-Options: nosniff\r\nConnection: close\r\nDate: %s\r\nX-Request-Id: %s\r\n", fasthttp.AppendHTTPDate(nil, time.Now()), d.ID)
		d.sharing.setHeaders(func(key, value string) { fmt.Fprintf(w, "%s: %s\r\n", key, value) })
		if d.http11 {
			_, _ = w.WriteString("Transfer-Encoding: chunked\r\n")
		}
		_, _ = w.WriteString("\r\n")
	}
	_ = d.Conn.SetWriteDeadline(time.Now().Add(writeFor))
	if d.http11 {
		if _, err := httputil.NewChunkedWriter(w).Write(piece); err != nil {
			return fmt.Errorf("write response: %w", err)
		}
	} else {
		_, _ = w.Write(piece)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write response: %w", err)
	}
	return nil
}

// End completes an event stream.
func (d *Detached) End() {
	if d.head && d.http11 {
		_ = d.Conn.SetWriteDeadline(time.Now().Add(writeFor))
		_, _ = d.Conn.Write([]byte("0\r\n\r\n"))
	}
}
