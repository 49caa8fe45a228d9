package objects

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Clock is the clock of a store, by which ages are measured, because a node's clock can be
// wrong or have paused. It is read from an object that is put for this purpose, and
// continues with the node's clock for a while.
type Clock struct {
	store Store

	mu sync.Mutex
	// Guarded by mu: what the store's clock and this node's were.
	there, here time.Time
}

// NewClock returns the clock of a store.
func NewClock(s Store) *Clock { return &Clock{store: s} }

// OwnClock is the clock of a store on this machine.
func OwnClock() *Clock { return &Clock{} }

const (
	clockPrefix = "clock/"
	// measuredFor is how long the node's clock is taken for one that goes as
	// the store's does.
	measuredFor = time.Minute
)

// Now is the time of the store, never later than it is there.
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
		// That it stays costs an empty object; the next sweep finds it.
		_ = c.store.Delete(ctx, key)
		c.there, c.here = info.Changed, time.Now()
		gone = 0
	}
	return c.there.Add(gone), nil
}
