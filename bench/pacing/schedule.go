package pacing

import (
	"sync/atomic"
	"time"
)

// Schedule assigns numbered operations to callers that ask for work, in the order of the planned
// times. It is safe for concurrent use.
type Schedule struct {
	// Rate is in operations per second. 0 means unthrottled: each operation is scheduled for the
	// time at which it is taken.
	Rate float64
	// Start and Until bound the times of operations.
	Start, Until time.Duration

	next atomic.Int64
}

// Take returns the next operation and its time. ok is false at the end.
func (s *Schedule) Take(now time.Duration) (number int64, due time.Duration, ok bool) {
	number = s.next.Add(1) - 1
	if due = now; s.Rate > 0 {
		due = s.Start + time.Duration(float64(number)/s.Rate*float64(time.Second))
	}
	return number, due, due < s.Until
}

// Taken returns the number of assigned operations.
func (s *Schedule) Taken() int64 { return s.next.Load() }
