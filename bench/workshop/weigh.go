//go:build linux

package workshop

import (
	"time"

	"atelier/bench/latency"
	"atelier/bench/timeline"
)

// weight is the resource usage up to a moment, including the usage of the socket loop.
type weight struct {
	timeline.Weight
	busy time.Duration
	// turns contains the turns of the socket loop since the last measurement.
	turns *latency.Histogram
}

func (r *run) weigh() weight {
	w := weight{Weight: timeline.Weigh(r.clock.Now(), r.target)}
	r.loop.Do(func() {
		// The turns of the join and of the drain do not belong to the load. Each measurement
		// therefore counts from zero.
		w.busy, w.turns = r.loop.Busy, r.loop.Turns
		r.loop.Turns = latency.New()
	})
	return w
}

// account reports the resources used between two moments.
func (r *run) account(begin, end weight) {
	if end.Account(begin.Weight, r.target, r.crowd.byNode, r.result) {
		g := &r.result.Generator
		g.Turns, g.Busy = end.turns.Summary(), (end.busy-begin.busy).Seconds()/g.Seconds
	}
}
