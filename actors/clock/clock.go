package clock

import "time"

// Clock returns the time and starts timers. Implementations are safe for concurrent use.
type Clock interface {
	// Now returns the time of day. It can jump in both directions. Use it for times that are
	// stored, sent to other machines or shown, never to measure a duration.
	Now() time.Time
	// Uptime returns the time since some moment in the past. It never jumps, and it is positive, so
	// that 0 can mean "never". It stops while the machine sleeps. Only comparing or subtracting two
	// values of the same Clock makes sense.
	Uptime() time.Duration
	// AfterFunc calls fn once, after d, in its own goroutine. The Timer's C is nil.
	AfterFunc(d time.Duration, fn func()) Timer
	// NewTimer sends the time on C once, after d.
	NewTimer(d time.Duration) Timer
	// NewTicker sends the time on C every d, which must be positive. It drops ticks for slow
	// receivers.
	NewTicker(d time.Duration) Ticker
}

// Timer is one event in the future. A Timer that has fired or was stopped uses no resources.
type Timer interface {
	C() <-chan time.Time
	// Stop prevents the Timer from firing and reports whether it did so. After Stop, C yields
	// nothing.
	Stop() bool
}

// Ticker is an event that repeats until Stop.
type Ticker interface {
	C() <-chan time.Time
	Stop()
}

// System is the clock of the machine.
var System Clock = system{}

type system struct{}

// began is 50 years ago, so that Uptime is positive even in a bubble of testing/synctest, whose
// time begins in 2000. Add keeps the monotonic reading.
var began = time.Now().Add(-50 * 365 * 24 * time.Hour)

func (system) Now() time.Time { return time.Now() }

func (system) Uptime() time.Duration { return time.Since(began) }

func (system) AfterFunc(d time.Duration, fn func()) Timer { return timer{time.AfterFunc(d, fn)} }

func (system) NewTimer(d time.Duration) Timer { return timer{time.NewTimer(d)} }

func (system) NewTicker(d time.Duration) Ticker { return ticker{time.NewTicker(d)} }

// timer and ticker each consist of one pointer, so that storing them in an interface needs no
// allocation.
type (
	timer  struct{ *time.Timer }
	ticker struct{ *time.Ticker }
)

func (t timer) C() <-chan time.Time  { return t.Timer.C }
func (t ticker) C() <-chan time.Time { return t.Ticker.C }
