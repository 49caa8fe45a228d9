package pacing

import "time"

// Clock returns the time since the start of a run. It is monotonic and safe for concurrent use.
type Clock struct {
	start time.Time
}

// NewClock returns a clock that starts now.
func NewClock() Clock { return Clock{time.Now()} }

// Now returns the time since the start.
func (c Clock) Now() time.Duration { return time.Since(c.start) }
