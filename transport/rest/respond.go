package rest

import (
	"slices"
	"strconv"

	"atelier/actors/codelab"
	"atelier/actors/cow"
	"atelier/transport/wire"
)

// cached responds 200 with the encoded value in the slot of e. If the slot is empty, cached encodes
// the result of value and stores it there. Variants have different slots.
func (r *Request) cached(e *cow.Encoded, slot int, value func() any) error {
	return r.cachedOr(e, slot, func() (any, error) { return value(), nil })
}

// cachedOr does the same as cached, but value can fail.
func (r *Request) cachedOr(e *cow.Encoded, slot int, value func() (any, error)) error {
	b, err := e.Get(slot, func() ([]byte, error) {
		v, err := value()
		if err != nil {
			return nil, err
		}
		return wire.Codec.Marshal(v)
	})
	if err != nil {
		return err
	}
	if slot == forAdmins || len(b) < wire.SmallestCompressed {
		return r.Answer(b)
	}
	return r.compressed(e, slot, b)
}

// stamped does the same as cached for responses with their time in "now", the first member of the
// first object. All responses within a tenth of a second contain the time of the first of them and
// share its bytes. Without this sharing, copying a codelab of 17 kB per response took two thirds of
// the memory for reads. The compressed form is rebuilt once per second.
func (r *Request) stamped(e *cow.Encoded, slot int, value func() any) error {
	now := r.api.TimeOf(r.Codelab)
	plain, err := e.GetAt(slot, 0, now.UnixMilli()/100, func() ([]byte, error) {
		kept, err := e.Get(slot, func() ([]byte, error) { return wire.Codec.Marshal(value()) })
		if err != nil {
			return nil, err
		}
		plain := slices.Clone(kept)
		copy(plain[len(nowIsAt):], wire.Stamp(now.UnixMilli()))
		return plain, nil
	})
	if err != nil {
		return err
	}
	if slot == forAdmins || len(plain) < wire.SmallestCompressed {
		return r.Answer(plain)
	}
	return r.inCoding(plain, func(c wire.Coding) ([]byte, error) {
		return e.GetAt(slot, int(c), now.Unix(), func() ([]byte, error) { return c.Compress(plain) })
	})
}

// nowIsAt is the text before the time in a stamped response.
const nowIsAt = `[{"now":"`

// compressed sends an encoded value in the client's preferred coding. The value is compressed once
// for all clients.
//
// Only responses that are the same for all their readers are compressed. The length of a compressed
// response reveals something about its content. A response with both confidential data and texts
// from other people therefore stays uncompressed. For example, facilitators' views contain the
// e-mail addresses of people who choose their own names.
func (r *Request) compressed(e *cow.Encoded, slot int, plain []byte) error {
	return r.inCoding(plain, func(c wire.Coding) ([]byte, error) {
		return e.GetCoded(slot, int(c), func() ([]byte, error) { return c.Compress(plain) })
	})
}

// inCoding sends the response in the client's preferred coding.
func (r *Request) inCoding(plain []byte, coded func(wire.Coding) ([]byte, error)) error {
	h := &r.Response.Header
	h.Add("Vary", "Accept-Encoding")
	c := wire.ChooseCoding(r.Request.Header.Peek("Accept-Encoding"), func(wire.Coding) bool { return true })
	if c == wire.Identity {
		return r.Answer(plain)
	}
	b, err := coded(c)
	if err != nil {
		return err
	}
	// Different bytes need a different tag (RFC 9110, 8.8.3.3). The suffix is removed when tags
	// are compared.
	if tag := h.Peek("ETag"); len(tag) > 1 {
		h.Set("ETag", string(tag[:len(tag)-1])+"-"+c.String()+`"`)
	}
	h.Set("Content-Encoding", c.String())
	return r.Answer(b)
}

// Slots of cow.Encoded: the variants for facilitators and for others. If registered people see more
// than other people, they have their own slot.
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

// created is the body of the response of operations that create an object.
type created struct {
	ID string `json:"id" is:"Id"`
}

// ok sends a response that reports only success.
func (r *Request) ok() error {
	return r.Answer(statusOK)
}

var statusOK = []byte(`{"status":"ok"}`)

type statusRecord struct {
	Status string `json:"status" const:"ok"`
}

// codelabSeq is in the library's canonical form, which avoids normalizing it.
var codelabSeq = []byte("X-Codelab-Seq")

// view returns the codelab's view and sets the header with its position in the stream.
func (r *Request) view() *codelab.View {
	v, seq := r.Codelab.ViewAt()
	r.Response.Header.SetCanonical(codelabSeq, strconv.AppendUint(nil, seq, 10))
	return v
}
