package rest

import (
	"bytes"
	"io"
	"time"

	"atelier/transport/wire"
)

// Body returns a JSON body of at most the operation's limit.
func (r *Request) body() ([]byte, error) {
	ct := r.Request.Header.ContentType()
	if i := bytes.IndexByte(ct, ';'); i >= 0 {
		ct = ct[:i]
	}
	if ct = bytes.TrimSpace(ct); len(ct) > 0 && !bytes.EqualFold(ct, []byte("application/json")) {
		return nil, errMediaType
	}
	limit := r.op.body
	if limit == 0 {
		limit = maxJSON
	}
	return r.readBody(limit)
}

// JSONBody returns the JSON body, not yet decoded.
func (r *Request) JSONBody() ([]byte, error) { return r.body() }

// readBody reads a body of at most limit bytes.
func (r *Request) readBody(limit int) ([]byte, error) {
	if r.Request.Header.ContentLength() > limit {
		return nil, errBodyTooBig
	}
	if !r.Request.IsBodyStream() {
		b := r.Request.Body()
		if len(b) > limit {
			return nil, errBodyTooBig
		}
		return b, nil
	}
	b, err := io.ReadAll(io.LimitReader(r.Request.BodyStream(), int64(limit)+1))
	if err != nil {
		r.SetConnectionClose()
		return nil, wire.Invalid("the body broke off")
	}
	if len(b) > limit {
		return nil, errBodyTooBig
	}
	return b, nil
}

const (
	// drainBytes and drainFor bound what is read of a body that nobody wants,
	// so that the client, still sending, gets to read the answer. It is more
	// than any body may have: an upload just over its limit is refused, not cut.
	drainBytes = maxImport + 128<<20
	drainFor   = 5 * time.Second
)

// discardBody reads what is left of the body; the next request of the
// connection begins behind it.
func (r *Request) discardBody() {
	if !r.Request.IsBodyStream() {
		return
	}
	s := r.Request.BodyStream()
	if r.Request.Header.ContentLength() > maxJSON {
		_ = r.Conn().SetReadDeadline(time.Now().Add(drainFor))
	}
	n, err := io.Copy(io.Discard, io.LimitReader(s, drainBytes))
	if err != nil || n == drainBytes {
		r.SetConnectionClose()
	}
}

// decode reads the JSON body into a value.
func (r *Request) decode(into any) error {
	b, err := r.body()
	if err != nil {
		return err
	}
	return wire.Decode(b, into)
}
