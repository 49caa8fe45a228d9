package httpapi

import (
	"bytes"
	"fmt"
	"io"
	"iter"

	"atelier/transport/wire"
)

// wholeList is how long a list may be that is encoded before its answer begins, bytes.
const wholeList = 1 << 20

// JSONList answers 200 with a list of values, which are made and encoded one after the
// other. A list of over a megabyte is made while it is sent, so that a list of a hundred
// thousand is not in memory. Values are requested until the answer was sent, and must not
// fail.
func JSONList[T any](r *Exchange, values iter.Seq[T]) error {
	next, stop := iter.Pull(values)
	l := &list{r: r, stop: stop, buf: []byte{'['}}
	encoder := wire.Codec.NewEncoder(l)
	var v T // one for all: each would be made on the heap
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
	r.Send(&made{paced{l, r.Conn(), r.api.turns}}, -1) // closes it, also when the client has left
	return nil
}

// list is the part of a list that has not gone out.
type list struct {
	r    *Exchange
	next func() error // writes the next value; io.EOF: there is none
	stop func()
	buf  []byte
	end  error // io.EOF, or the error of a value; nil if more follows
}

// Write implements io.Writer for an encoder, which ends each value with a line.
func (l *list) Write(b []byte) (int, error) {
	l.buf = append(l.buf, bytes.TrimSuffix(b, []byte{'\n'})...)
	return len(b), nil
}

// fill encodes values until n bytes are there, or the list is at its end.
func (l *list) fill(n int) {
	defer func() {
		// While the answer goes out nobody else would catch it.
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

// made is content that is made when it goes out, and waits for nothing.
type made struct{ paced }

// SupportsBodyWriteTo implements fasthttp.BodyWriterTo: it sends piece by piece, although
// the total size is unknown.
func (*made) SupportsBodyWriteTo() bool { return true }
