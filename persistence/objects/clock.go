package objects

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Clock is a store's clock. The ages of objects are measured with it, because a node's clock can be
// wrong or paused. Now reads it by putting an object and reading the object's time, and then
// extrapolates with the node's clock for at most a minute.
type Clock struct {
	store Store

	mu sync.Mutex
	// there and here are the last readings of the store's clock and of this node's clock. Guarded
	// by mu.
	there, here time.Time
}

// NewClock returns the clock of a store.
func NewClock(s Store) *Clock { return &Clock{store: s} }

// OwnClock returns the clock of a store that is on this machine.
func OwnClock() *Clock { return &Clock{} }

const (
	clockPrefix = "clock/"
	// measuredFor is the maximum time of extrapolation with the node's clock.
	measuredFor = time.Minute
)

// Now returns the store's time, or a slightly earlier one.
func (c *Clock) Now(ctx context.Context) (time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.store == nil {
		return now, nil
	}
	gone := now.Sub(c.here) // by the monotonic clock, which pauses while the machine is suspended
	if c.there.IsZero() || gone > measuredFor || (now.Round(0).Sub(c.here.Round(0))-gone).Abs() > time.Second {
		key := clockPrefix + Random()
		if err := PutBytes(ctx, c.store, key, nil); err != nil {
			return time.Time{}, fmt.Errorf("read the clock of the store: %w", err)
		}
		info, err := c.store.Stat(ctx, key)
		if err != nil {
			return time.Time{}, fmt.Errorf("read the clock of the store: %w", err)
		}
		// An error can be ignored, because the object is empty, and a sweep removes it.
		_ = c.store.Delete(ctx, key)
		c.there, c.here = info.Changed, time.Now()
		gone = 0
	}
	return c.there.Add(gone), nil
}
