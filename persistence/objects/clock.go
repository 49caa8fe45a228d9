package objects

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Clock is the clock of a store, by which ages are measured, because a node's clock can be wrong or
// paused. It is read from an object that is put for this purpose, and extrapolated with the node's
// clock for a while.
type Clock struct {
	store Store

	mu sync.Mutex
	// Guarded by mu: the readings of the store's clock and of this node's.
	there, here time.Time
}

// NewClock returns the clock of a store.
func NewClock(s Store) *Clock { return &Clock{store: s} }

// OwnClock returns the clock of a store on this machine.
func OwnClock() *Clock { return &Clock{} }

const (
	clockPrefix = "clock/"
	// measuredFor is how long the node's clock may be used for extrapolation.
	measuredFor = time.Minute
)

// Now returns the time of the store, or a slightly earlier one.
func (c *Clock) Now(ctx context.Context) (time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.store == nil {
		return now, nil
	}
	gone := now.Sub(c.here) // monotonic, which pauses while the machine is suspended
	if c.there.IsZero() || gone > measuredFor || (now.Round(0).Sub(c.here.Round(0))-gone).Abs() > time.Second {
		key := clockPrefix + Random()
		if err := PutBytes(ctx, c.store, key, nil); err != nil {
			return time.Time{}, fmt.Errorf("read the clock of the store: %w", err)
		}
		info, err := c.store.Stat(ctx, key)
		if err != nil {
			return time.Time{}, fmt.Errorf("read the clock of the store: %w", err)
		}
		// If it remains, that costs an empty object, which the next sweep removes.
		_ = c.store.Delete(ctx, key)
		c.there, c.here = info.Changed, time.Now()
		gone = 0
	}
	return c.there.Add(gone), nil
}
