package httpapi

import (
	"bytes"
	"fmt"
	"io"
	"iter"

	"atelier/transport/wire"
)

// wholeList is the size up to which a list is encoded before its response begins, in bytes.
const wholeList = 1 << 20

// JSONList responds 200 with a list. Its values are generated and encoded one by one. A list of
// more than wholeList bytes is generated while it is sent, so that a list of a hundred thousand
// values is never in memory. The iteration over values then lasts until the response has been sent.
// It must not panic, because the response would break off.
func JSONList[T any](r *Exchange, values iter.Seq[T]) error {
	next, stop := iter.Pull(values)
	l := &list{r: r, stop: stop, buf: []byte{'['}}
	encoder := wire.Codec.NewEncoder(l)
	var v T // shared, so that not every value is allocated on the heap
	begun := false
	l.next = func() error {
		value, ok := next()
		if !ok {
			return io.EOF
		}
		if v = value; begun {
			l.buf = append(l.buf, ',')
		}
		begun = true
		return encoder.Encode(&v)
	}
	l.fill(wholeList)
	switch {
	case l.end == io.EOF:
		stop()
		return r.Answer(l.buf)
	case l.end != nil:
		stop()
		return l.end
	}
	r.SetContentType("application/json")
	r.Send(&made{paced{l, r.Conn(), r.api.turns}}, -1) // closes the list, even if the client has disconnected
	return nil
}

// list is the encoded part of a list that has not been sent.
type list struct {
	r    *Exchange
	next func() error // writes the next value; io.EOF after the last
	stop func()
	buf  []byte
	end  error // io.EOF, or the error of a value; nil if more follows
}

// Write implements io.Writer for an encoder, which ends each value with a newline.
func (l *list) Write(b []byte) (int, error) {
	l.buf = append(l.buf, bytes.TrimSuffix(b, []byte{'\n'})...)
	return len(b), nil
}

// fill encodes values until n bytes are available, or the list ends or fails.
func (l *list) fill(n int) {
	defer func() {
		// While the response is being sent, nothing else recovers panics.
		if p := recover(); p != nil {
			l.end = fmt.Errorf("a value of a list panicked: %T", p) // the panic's value can contain a person's text
		}
	}()
	for len(l.buf) < n && l.end == nil {
		if l.end = l.next(); l.end == io.EOF {
			l.buf = append(l.buf, ']')
		}
	}
}

// Read implements io.Reader.
func (l *list) Read(b []byte) (int, error) {
	l.fill(len(b))
	n := copy(b, l.buf)
	l.buf = l.buf[:copy(l.buf, l.buf[n:])]
	if n == 0 {
		return 0, l.end
	}
	return n, nil
}

// Close implements io.Closer.
func (l *list) Close() error {
	l.stop()
	if l.end != nil && l.end != io.EOF {
		l.r.api.Logger.Error("a list broke off before its end", "request_id", l.r.ID, "operation", l.r.Operation(), "error", l.end)
	}
	return nil
}

// made is content that is generated while it is being sent.
type made struct{ paced }

// SupportsBodyWriteTo implements fasthttp.BodyWriterTo, so that the content is sent piece by piece,
// although its total size is unknown.
func (*made) SupportsBodyWriteTo() bool { return true }
