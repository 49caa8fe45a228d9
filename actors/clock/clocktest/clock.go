// Package clocktest provides a clock for tests of several nodes. Its time of day can be wrong and
// can jump, and it can pause.
package clocktest

import (
	"slices"
	"sync"
	"time"

	"atelier/actors/clock"
)

// Clock is a clock.Clock over package time, for testing/synctest: in a bubble it follows the
// bubble's time. It has no goroutine and keeps no fired or stopped timers. Safe for concurrent use.
type Clock struct {
	began time.Time // Immutable.

	mu     sync.Mutex
	offset time.Duration // Guarded by mu.
	// Guarded by mu. While the clock is stopped, late contains the timers that became due, in this
	// order and without duplicates.
	stopped bool
	late    []*timer
}

var _ clock.Clock = (*Clock)(nil)

// New returns a running clock with the correct time of day.
func New() *Clock { return &Clock{began: time.Now().Add(-time.Hour)} } // so that Uptime is positive

// SetOffset makes the time of day differ from the correct one by d. Uptime and timers do not
// change.
func (c *Clock) SetOffset(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset = d
}

// Stop delays all timers until Continue, as when the operating system suspends a process. Time
// still passes, and running functions continue.
func (c *Clock) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
}

// Continue fires the timers that became due since Stop, immediately and in order. A ticker fires
// only once, however often it was due, and its later ticks are not shifted.
func (c *Clock) Continue() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = false
	late := c.late
	c.late = nil
	for _, t := range late {
		if fn := t.fire(); fn != nil {
			go fn()
		}
	}
}

// Now implements clock.Clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

// now is called with mu held.
func (c *Clock) now() time.Time { return time.Now().Add(c.offset) }

// Uptime implements clock.Clock.
func (c *Clock) Uptime() time.Duration { return time.Since(c.began) }

// AfterFunc implements clock.Clock.
func (c *Clock) AfterFunc(d time.Duration, fn func()) clock.Timer {
	return c.start(d, &timer{clock: c, fn: fn})
}

// NewTimer implements clock.Clock.
func (c *Clock) NewTimer(d time.Duration) clock.Timer {
	return c.start(d, &timer{clock: c, c: make(chan time.Time, 1)})
}

// NewTicker implements clock.Clock.
func (c *Clock) NewTicker(d time.Duration) clock.Ticker {
	if d <= 0 {
		panic("clocktest: the period of a ticker must be positive")
	}
	return ticker{c.start(d, &timer{clock: c, c: make(chan time.Time, 1), period: d})}
}

func (c *Clock) start(d time.Duration, t *timer) *timer {
	c.mu.Lock() // so that due does not run before t.under is set
	defer c.mu.Unlock()
	t.under = time.AfterFunc(d, t.due)
	return t
}

// timer is a Timer, or the timer of a Ticker.
type timer struct {
	clock  *Clock
	fn     func()         // the function of AfterFunc, or nil
	c      chan time.Time // nil if fn is set; the channel holds one tick
	period time.Duration  // the period of a ticker, or 0

	// Guarded by clock.mu.
	under *time.Timer // calls due
	over  bool        // it has fired or was stopped
	late  bool        // it is in clock.late
}

// due is called by package time, in its own goroutine.
func (t *timer) due() {
	c := t.clock
	c.mu.Lock()
	if t.over {
		c.mu.Unlock()
		return
	}
	if t.period > 0 {
		t.under.Reset(t.period)
	}
	if c.stopped {
		if !t.late {
			t.late = true
			c.late = append(c.late, t)
		}
		c.mu.Unlock()
		return
	}
	fn := t.fire()
	c.mu.Unlock()
	if fn != nil {
		fn()
	}
}

// fire sends the time, or returns the function to call. The caller holds clock.mu.
func (t *timer) fire() func() {
	t.late, t.over = false, t.period == 0
	if t.fn == nil {
		select {
		case t.c <- t.clock.now():
		default:
		}
	}
	return t.fn
}

// C implements clock.Timer.
func (t *timer) C() <-chan time.Time { return t.c }

// Stop implements clock.Timer. As in package time, Stop removes a time that was sent but not
// received.
func (t *timer) Stop() bool {
	c := t.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	stopped := !t.over
	t.over = true
	t.under.Stop()
	if t.late {
		t.late = false
		c.late = slices.DeleteFunc(c.late, func(l *timer) bool { return l == t })
	}
	select {
	case <-t.c:
		stopped = true
	default:
	}
	return stopped
}

type ticker struct{ *timer }

// Stop implements clock.Ticker.
func (t ticker) Stop() { t.timer.Stop() }
