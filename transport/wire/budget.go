package wire

import (
	"errors"
	"sync/atomic"
)

// ErrBusy means that the bodies being read already use all permitted memory.
var ErrBusy = errors.New("too many bodies are being read")

// BodyBudget bounds the total size of all bodies in memory. The nil budget has no bound. Safe for
// concurrent use.
type BodyBudget struct {
	max int64
	// used is the total; open is the part of bodies that anybody may send.
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
	// Open means that anybody may send such a body. All open bodies together get half of the
	// budget, so that strangers do not block known callers.
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

// take adds more to a number if the sum is within a bound, or if more is negative.
func take(n *atomic.Int64, more, bound int64) bool {
	if n.Add(more) > bound && more > 0 {
		n.Add(-more)
		return false
	}
	return true
}

// Release returns the share; the body must not be used any more.
func (s *BodyShare) Release() {
	_ = s.resize(0)
}
