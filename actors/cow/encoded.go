package cow

import "sync/atomic"

// Encoded keeps what readers made of something immutable, in three variants, so
// that it is encoded once however often it is read. The zero value is empty.
// Safe for concurrent use.
type Encoded struct {
	made  [variants][codings]atomic.Pointer[[]byte]
	timed atomic.Pointer[[variants][codings]atomic.Pointer[madeAt]] // nil until it is used
}

type madeAt struct {
	at int64
	b  []byte
}

// Variants of one thing, which readers number as they like, and codings of each: 0 is the
// plain one.
const (
	variants = 3
	codings  = 3
)

// Get returns what an earlier call made for this slot, or makes it. make must
// always give the same; two callers at the same time may both make it. The
// result must not be written.
func (e *Encoded) Get(slot int, make func() ([]byte, error)) ([]byte, error) {
	return kept(&e.made[slot][0], make)
}

// GetCoded is Get for an encoding that is compressed, for example with gzip.
func (e *Encoded) GetCoded(slot, coding int, make func() ([]byte, error)) ([]byte, error) {
	return kept(&e.made[slot][coding], make)
}

// GetAt is GetCoded for a value that is valid for one moment; another moment makes it again.
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
