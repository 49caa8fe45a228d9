package pacing

import (
	"math"
	"math/rand/v2"
	"time"
)

// Pacer plans a stream of operations. Next returns the time of the next one, counted from the start
// of the stream and never decreasing, and false at the end. A Pacer is not safe for concurrent use.
type Pacer interface {
	Next() (due time.Duration, ok bool)
}

// IsRate reports whether a number is usable as a rate: finite and not negative. A flag can also be
// NaN or infinite.
func IsRate(perSecond float64) bool { return perSecond >= 0 && !math.IsInf(perSecond, 1) }

// Uniform plans perSecond operations per second at equal intervals for a duration, beginning at
// once. A rate of zero or less plans nothing.
func Uniform(perSecond float64, during time.Duration) Pacer {
	return &uniform{perSecond: perSecond, during: during}
}

type uniform struct {
	perSecond float64
	during    time.Duration
	count     int
}

func (u *uniform) Next() (time.Duration, bool) {
	if u.perSecond <= 0 {
		return 0, false
	}
	// The time is computed from the count instead of the last time, so that rounding errors do not
	// add up.
	due := time.Duration(float64(u.count) / u.perSecond * float64(time.Second))
	if due >= u.during {
		return 0, false
	}
	u.count++
	return due, true
}

// Poisson plans operations as independent people would make them: perSecond per second on average,
// with exponential intervals drawn from rng.
func Poisson(perSecond float64, during time.Duration, rng *rand.Rand) Pacer {
	return &poisson{perSecond: perSecond, during: during, rng: rng}
}

type poisson struct {
	perSecond float64
	during    time.Duration
	rng       *rand.Rand
	last      float64 // seconds
}

func (p *poisson) Next() (time.Duration, bool) {
	if p.perSecond <= 0 {
		return 0, false
	}
	p.last += p.rng.ExpFloat64() / p.perSecond
	if p.last >= p.during.Seconds() {
		return 0, false
	}
	return time.Duration(p.last * float64(time.Second)), true
}

// Count plans exactly n operations at equal intervals over a duration, each in the middle of its
// slot.
func Count(n int, over time.Duration) Pacer {
	return &count{n: n, over: over}
}

type count struct {
	n, done int
	over    time.Duration
}

func (c *count) Next() (time.Duration, bool) {
	if c.done >= c.n {
		return 0, false
	}
	due := time.Duration((float64(c.done) + 0.5) / float64(c.n) * float64(c.over))
	c.done++
	return due, true
}
