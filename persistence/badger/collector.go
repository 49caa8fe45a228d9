package badger

import (
	"errors"
	"time"

	badgerdb "github.com/dgraph-io/badger/v4"
)

// collector gives the space of replaced large values back, now and then. What
// it finds depends on the compactions before: Badger counts there what of a
// file is garbage.
type collector struct {
	store *Store
	quit  chan struct{} // closed by stop
	done  chan struct{} // closed when run returns
}

const (
	// garbageRatio is the part of a file that must be garbage to rewrite it.
	garbageRatio = 0.5
	// maxCollections bounds what one round rewrites: four files of 256 MiB.
	maxCollections = 4
)

func newCollector(s *Store) *collector {
	return &collector{store: s, quit: make(chan struct{}), done: make(chan struct{})}
}

func (c *collector) run() {
	defer close(c.done)
	if c.store.opts.ReadOnly {
		return
	}
	ticker := time.NewTicker(c.store.opts.GCInterval)
	defer ticker.Stop()
	for {
		select {
		case <-c.quit:
			return
		case <-ticker.C:
			if err := c.collect(); err != nil {
				c.store.opts.Logger.Warn("journal cannot collect its value log", "error", err)
			}
		}
	}
}

// collect rewrites files until one round's bound, or nothing is worth it.
func (c *collector) collect() error {
	for range maxCollections {
		select {
		case <-c.quit:
			return nil
		default:
		}
		// Rewriting needs space before it gives space.
		if c.store.writable() != nil {
			return nil
		}
		err := c.store.db.RunValueLogGC(garbageRatio)
		if errors.Is(err, badgerdb.ErrNoRewrite) || errors.Is(err, badgerdb.ErrRejected) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) stop() {
	close(c.quit)
	<-c.done
}
