package badger

import (
	"fmt"
	"time"
)

// collector periodically frees the space of replaced large values, and verifies the tables once per
// day. Without this verification, damage to data that nobody reads would be noticed only by a
// backup, a scrub or the next start.
type collector struct {
	store *Store
	quit  chan struct{} // closed by stop
	done  chan struct{} // closed when run returns
}

// patrolInterval is the interval between verifications of all tables.
const patrolInterval = 24 * time.Hour

func newCollector(s *Store) *collector {
	return &collector{store: s, quit: make(chan struct{}), done: make(chan struct{})}
}

func (c *collector) run() {
	defer close(c.done)
	if c.store.opts.ReadOnly {
		return
	}
	sweep, patrol := time.NewTicker(c.store.opts.GCInterval), time.NewTicker(patrolInterval)
	defer sweep.Stop()
	defer patrol.Stop()
	for {
		select {
		case <-c.quit:
			return
		case <-sweep.C:
			if err := c.collect(); err != nil {
				c.store.opts.Logger.Warn("reclaiming the disk space of replaced values failed; it is tried again later", "error", err)
			}
		case <-patrol.C:
			c.patrol()
		}
	}
}

// collect removes unreferenced parts of large values.
func (c *collector) collect() error {
	if c.store.writable() != nil {
		return nil
	}
	return c.store.health.read(func() error { return c.store.sweepLarge(c.stopped) })
}

// patrol verifies the tables. After finding a damaged table, patrol stops all writes, because the
// table's keys can be damaged. A compaction would write these keys as if they were valid, and a
// look-up could then miss stored data.
func (c *collector) patrol() {
	c.store.verifyTables(c.stopped, func(name string, err error) {
		c.store.breakDown(faultRead, fmt.Errorf("%s: %w", name, err))
	})
}

func (c *collector) stopped() bool {
	select {
	case <-c.quit:
		return true
	default:
		return false
	}
}

func (c *collector) stop() {
	close(c.quit)
	<-c.done
}
