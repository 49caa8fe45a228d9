package cow

import "sync/atomic"

// Encoded keeps what readers made of something immutable, in three variants, so
// that it is encoded once however often it is read. The zero value is empty.
// Safe for concurrent use.
type Encoded struct{ slots [3]atomic.Pointer[[]byte] }

// Get returns what an earlier call made for this slot, or makes it. make must
// always give the same; two callers at the same time may both make it. The
// result must not be written.
func (e *Encoded) Get(slot int, make func() ([]byte, error)) ([]byte, error) {
	if b := e.slots[slot].Load(); b != nil {
		return *b, nil
	}
	b, err := make()
	if err == nil {
		e.slots[slot].Store(&b)
	}
	return b, err
}
