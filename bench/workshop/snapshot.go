//go:build linux

package workshop

import (
	"time"

	"atelier/bench/latency"
)

// Snapshot is the state of a run in progress.
type Snapshot struct {
	// Phase is the current activity of the run.
	Phase string
	// Elapsed is the time since the start of the run.
	Elapsed time.Duration
	// Done is the completed fraction of the load, 0 to 1.
	Done float64
	// Online is the number of connected people. People is the number of all attendees and
	// facilitators.
	Online, People int
	// Events is the number of events received so far. Acked is the number of operations
	// acknowledged so far.
	Events, Acked int64
	// Chat is the latency of the measured chat deliveries so far.
	Chat latency.Summary
}

func (c *crowd) snapshot(phase string) Snapshot {
	return Snapshot{
		Phase: phase, Done: c.part(), Elapsed: c.clock.Now(), People: len(c.people),
		Online: c.count(func(p *person) bool { return p.online }),
		Events: c.events, Acked: c.acked, Chat: c.deliveries.Summary(),
	}
}

// part returns the completed fraction of the load, 0 to 1.
func (c *crowd) part() float64 {
	if c.until == 0 {
		return 0
	}
	start := c.from - c.cfg.Warmup
	return min(max(float64(c.clock.Now()-start)/float64(c.until-start), 0), 1)
}
