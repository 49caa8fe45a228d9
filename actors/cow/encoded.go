package cow

import "sync/atomic"

// Encoded caches the encodings of an immutable value, so that the value is not encoded again for
// each read. There are up to three variants, each uncompressed and in up to two compressed codings.
// The zero value is empty. Safe for concurrent use.
type Encoded struct {
	made  [variants][codings]atomic.Pointer[[]byte]
	timed atomic.Pointer[[variants][codings]atomic.Pointer[madeAt]] // nil until used
}

type madeAt struct {
	at int64
	b  []byte
}

// An encoding has a variant and a coding. The users of the value number the variants and the
// codings; coding 0 is uncompressed.
const (
	variants = 3
	codings  = 3
)

// Get returns the cached uncompressed result for the variant slot, or calls make. make must always
// return the same result, because concurrent callers can call it at the same time. An error is
// returned and not cached. The result must not be modified.
func (e *Encoded) Get(slot int, make func() ([]byte, error)) ([]byte, error) {
	return kept(&e.made[slot][0], make)
}

// GetCoded does the same as Get for a compressed encoding, for example with gzip.
func (e *Encoded) GetCoded(slot, coding int, make func() ([]byte, error)) ([]byte, error) {
	return kept(&e.made[slot][coding], make)
}

// GetAt does the same as GetCoded, for an encoding that is valid only at the time at. For another
// time, it creates the encoding again.
func (e *Encoded) GetAt(slot, coding int, at int64, make func() ([]byte, error)) ([]byte, error) {
	all := e.timed.Load()
	if all == nil {
		e.timed.CompareAndSwap(nil, new([variants][codings]atomic.Pointer[madeAt]))
		all = e.timed.Load()
	}
	p := &all[slot][coding]
	if c := p.Load(); c != nil && c.at == at {
		return c.b, nil
	}
	b, err := make()
	if err == nil {
		p.Store(&madeAt{at, b})
	}
	return b, err
}

func kept(p *atomic.Pointer[[]byte], make func() ([]byte, error)) ([]byte, error) {
	if b := p.Load(); b != nil {
		return *b, nil
	}
	b, err := make()
	if err == nil {
		p.Store(&b)
	}
	return b, err
}
