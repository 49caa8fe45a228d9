package badger

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

// spaceGuard watches the free space. Badger writes through memory maps. On a full disk this causes
// a SIGBUS, which ends the process, so the store stops writing earlier.
type spaceGuard struct {
	measure  func() (uint64, error)
	min      uint64
	interval time.Duration
	log      *slog.Logger
	each     func() // called at each check; may be nil

	free atomic.Uint64
	low  atomic.Bool

	quit chan struct{} // closed by stop
	done chan struct{} // closed when run returns
}

// newSpaceGuard checks the free space once, so that a store on a full disk opens read-only.
func newSpaceGuard(o Options) (*spaceGuard, error) {
	g := &spaceGuard{
		measure:  o.FreeBytes,
		min:      o.MinFreeBytes,
		interval: o.SpaceInterval,
		log:      o.Logger,
		quit:     make(chan struct{}),
		done:     make(chan struct{}),
	}
	return g, g.check()
}

func (g *spaceGuard) run() {
	defer close(g.done)
	ticker := time.NewTicker(g.interval)
	defer ticker.Stop()
	for {
		select {
		case <-g.quit:
			return
		case <-ticker.C:
			// If the disk cannot be queried, the last result is kept.
			if err := g.check(); err != nil {
				g.log.Warn("the store cannot measure the free space of its disk", "error", err)
			}
			if g.each != nil {
				g.each()
			}
		}
	}
}

// check measures the free space. Writing resumes only when at least a quarter more than the minimum
// is free, so that the state does not change repeatedly near the minimum.
func (g *spaceGuard) check() error {
	free, err := g.measure()
	if err != nil {
		return fmt.Errorf("measure free space: %w", err)
	}
	g.free.Store(free)
	switch low := g.low.Load(); {
	case !low && free < g.min:
		g.low.Store(true)
		g.log.Error("the store is read-only because its disk is nearly full; free some space", "free", free, "min", g.min)
	case low && free >= g.min+g.min/4:
		g.low.Store(false)
		g.log.Info("the store writes again", "free", free)
	}
	return nil
}

func (g *spaceGuard) stop() {
	close(g.quit)
	<-g.done
}
