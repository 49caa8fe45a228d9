package contents

import (
	"sync"
	"time"

	"atelier/actors/files"
)

// keepFor is the lifetime of a cached copy. It is limited, because copies of erased objects must
// not stay on the nodes.
const keepFor = time.Hour

// cache tracks the cached copies. A reader of a copy that is removed can still read the copy to its
// end.
type cache struct {
	limit int64
	drop  func(files.Sum)

	mu sync.Mutex
	// Guarded by mu.
	bytes  int64
	copies map[files.Sum]copied
}

type copied struct {
	size  int64
	since time.Time
	used  time.Time
}

// add is called for a copy that was created or used. While the copies exceed the limit, add removes
// the copy that was used least recently.
func (c *cache) add(sum files.Sum, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	was, known := c.copies[sum]
	if !known {
		was = copied{size: size, since: now}
		c.bytes += size
	}
	was.used = now
	c.copies[sum] = was
	for c.bytes > c.limit && len(c.copies) > 1 {
		oldest := sum
		for other, o := range c.copies {
			if other != sum && (oldest == sum || o.used.Before(c.copies[oldest].used)) {
				oldest = other
			}
		}
		c.removeLocked(oldest)
	}
}

func (c *cache) remove(sum files.Sum) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.removeLocked(sum)
}

func (c *cache) removeLocked(sum files.Sum) {
	c.bytes -= c.copies[sum].size
	delete(c.copies, sum)
	c.drop(sum)
}

// expire removes copies that were created too long ago.
func (c *cache) expire() { c.removeIf(func(o copied) bool { return time.Since(o.since) > keepFor }) }

func (c *cache) clear() { c.removeIf(func(copied) bool { return true }) }

func (c *cache) removeIf(unwanted func(copied) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for sum, o := range c.copies {
		if unwanted(o) {
			c.removeLocked(sum)
		}
	}
}
