package rest

import (
	"strconv"

	"atelier/actors/codelab"
	"atelier/actors/cow"
	"atelier/transport/wire"
)

// cached answers 200 with what was encoded before of the same thing, or with
// what value gives, which is kept. Slot tells two variants apart.
func (r *Request) cached(e *cow.Encoded, slot int, value func() any) error {
	b, err := e.Get(slot, func() ([]byte, error) { return wire.Codec.Marshal(value()) })
	if err != nil {
		return err
	}
	return r.Answer(b)
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
	return r.Answer(statusOK)
}

var statusOK = []byte(`{"status":"ok"}`)

// view returns the codelab's view and tells the client which position of the
// stream it shows.
func (r *Request) view() *codelab.View {
	v, seq := r.Codelab.ViewAt()
	r.Response.Header.Set("X-Codelab-Seq", strconv.FormatUint(seq, 10))
	return v
}
