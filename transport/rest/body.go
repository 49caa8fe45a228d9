package rest

import (
	"bytes"
	"errors"

	"atelier/transport/body"
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
	b, err := body.Read(r.RequestCtx, limit)
	switch {
	case errors.Is(err, body.ErrTooLarge):
		return nil, errBodyTooBig
	case err != nil:
		return nil, wire.Invalid("%v", err)
	}
	return b, r.still()
}

// drainBytes bounds what is read of a body that nobody wants. It is more than
// any body may have: an upload just over its limit is refused, not cut.
const drainBytes = maxImport + 128<<20

func (r *Request) discardBody() { body.Discard(r.RequestCtx, drainBytes) }

// decode reads the JSON body into a value.
func (r *Request) decode(into any) error {
	b, err := r.body()
	if err != nil {
		return err
	}
	return wire.Decode(b, into)
}

// decodeOptional is decode for a body that may be left out.
func (r *Request) decodeOptional(into any) error {
	b, err := r.body()
	if err != nil || len(b) == 0 {
		return err
	}
	return wire.Decode(b, into)
}
