//go:build linux

package workshop

import (
	"time"

	"atelier/bench/latency"
)

// Snapshot is how a run is going.
type Snapshot struct {
	// Phase is what the run is doing.
	Phase string
	// Elapsed since the start of the run.
	Elapsed time.Duration
	// Online people of all Attendees and facilitators.
	Online, People int
	// Events that arrived, Acked operations, so far.
	Events, Acked int64
	// Chat is the latency of chat deliveries so far.
	Chat latency.Summary
}

func (c *crowd) snapshot(phase string) Snapshot {
	return Snapshot{
		Phase: phase, Elapsed: c.clock.Now(), People: len(c.people),
		Online: c.count(func(p *person) bool { return p.online }),
		Events: c.events, Acked: c.acked, Chat: c.deliveries.Summary(),
	}
}
