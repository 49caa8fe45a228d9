package wire

import (
	"errors"
	"sync/atomic"
)

// ErrBusy means that the bodies being read already take all the memory that
// they may.
var ErrBusy = errors.New("too many bodies are being read")

// BodyBudget bounds the total size of all bodies in memory. The nil budget has no bound.
// Safe for concurrent use.
type BodyBudget struct {
	max int64
	// used is by all, open by those that anybody may send.
	used, open, refused atomic.Int64
}

// NewBodyBudget returns a budget in bytes; 0 is no bound.
func NewBodyBudget(bytes int64) *BodyBudget {
	if bytes <= 0 {
		return nil
	}
	return &BodyBudget{max: bytes}
}

// Refused returns how many bodies there was no memory for.
func (b *BodyBudget) Refused() int64 {
	if b == nil {
		return 0
	}
	return b.refused.Load()
}

// Used returns how many bytes the bodies in memory take.
func (b *BodyBudget) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used.Load()
}

// BodyShare is the part of a budget that one request holds. It is used by one goroutine.
type BodyShare struct {
	Of *BodyBudget
	// Open means that anybody may send such a body: all of these together get
	// half of the budget, so that strangers do not keep out those who are known.
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

// take adds to a number that stays within a bound, unless it becomes smaller.
func take(n *atomic.Int64, more, bound int64) bool {
	if n.Add(more) > bound && more > 0 {
		n.Add(-more)
		return false
	}
	return true
}

// Release gives the share back; the body must not be used any more.
func (s *BodyShare) Release() {
	_ = s.resize(0)
}
