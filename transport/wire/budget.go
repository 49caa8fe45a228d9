package wire

import (
	"errors"
	"sync/atomic"
)

// ErrBusy means that the bodies being read already use all memory that is permitted for them.
var ErrBusy = errors.New("too many bodies are being read")

// BodyBudget bounds the total size of all bodies in memory. The nil budget has no bound. A budget
// is safe for concurrent use.
type BodyBudget struct {
	max int64
	// used is the total; open is the part used by bodies that anybody can send.
	used, open, refused atomic.Int64
}

// NewBodyBudget returns a budget in bytes; 0 means no bound.
func NewBodyBudget(bytes int64) *BodyBudget {
	if bytes <= 0 {
		return nil
	}
	return &BodyBudget{max: bytes}
}

// Refused returns the number of bodies that were refused for lack of memory.
func (b *BodyBudget) Refused() int64 {
	if b == nil {
		return 0
	}
	return b.refused.Load()
}

// Used returns the bytes of the bodies in memory.
func (b *BodyBudget) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used.Load()
}

// BodyShare is one request's part of a budget. It is used by one goroutine.
type BodyShare struct {
	Of *BodyBudget
	// Open means that anybody can send such a body. All open bodies together get at most half of the
	// budget, so that unknown callers do not block known callers.
	Open bool
	held int64
}

// resize sets the size of the share in bytes. Only growing can fail.
func (s *BodyShare) resize(bytes int) error {
	more := int64(bytes) - s.held
	if s.Of == nil || more == 0 {
		return nil
	}
	if !take(&s.Of.used, more, s.Of.max) {
		s.Of.refused.Add(1)
		return ErrBusy
	}
	if s.Open && !take(&s.Of.open, more, s.Of.max/2) {
		s.Of.used.Add(-more)
		s.Of.refused.Add(1)
		return ErrBusy
	}
	s.held += more
	return nil
}

// take adds delta to n. If delta is positive and the sum would exceed bound, it adds nothing and
// returns false.
func take(n *atomic.Int64, delta, bound int64) bool {
	if n.Add(delta) > bound && delta > 0 {
		n.Add(-delta)
		return false
	}
	return true
}

// Release returns the share to the budget. The body must not be used afterwards.
func (s *BodyShare) Release() {
	_ = s.resize(0)
}
