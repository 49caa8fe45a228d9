package rest

import (
	"strconv"

	"github.com/valyala/fasthttp"

	"atelier/actors/codelab"
	"atelier/actors/cow"
	"atelier/transport/wire"
)

// Answer answers 200 with encoded JSON.
func (r *Request) Answer(b []byte) error {
	r.raw(b)
	return nil
}

// json answers 200 with a value.
func (r *Request) json(v any) error {
	b, err := wire.Codec.Marshal(v)
	if err != nil {
		return err
	}
	r.raw(b)
	return nil
}

func (r *Request) raw(b []byte) {
	r.SetContentType("application/json")
	r.Response.SetBodyRaw(b)
}

// cached answers 200 with what was encoded before of the same thing, or with
// what value gives, which is kept. Slot tells two variants apart.
func (r *Request) cached(e *cow.Encoded, slot int, value func() any) error {
	b, err := e.Get(slot, func() ([]byte, error) { return wire.Codec.Marshal(value()) })
	if err != nil {
		return err
	}
	r.raw(b)
	return nil
}

// Slots of cow.Encoded: what facilitators and what others are shown; where those
// who are registered are shown more than anyone, they have their own.
const (
	forAdmins  = 0
	forOthers  = 1
	forMembers = 2
)

func (r *Request) slot() int {
	if r.IsAdmin() {
		return forAdmins
	}
	return forOthers
}

// ok answers the plain success.
func (r *Request) ok() error {
	r.raw(statusOK)
	return nil
}

var statusOK = []byte(`{"status":"ok"}`)

func (r *Request) noContent() error {
	r.SetStatusCode(fasthttp.StatusNoContent)
	return nil
}

// view returns the codelab's view and tells the client which position of the
// stream it shows.
func (r *Request) view() *codelab.View {
	v, seq := r.Lab.ViewAt()
	r.Response.Header.Set("X-Codelab-Seq", strconv.FormatUint(seq, 10))
	return v
}
