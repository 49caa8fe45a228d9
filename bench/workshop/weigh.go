//go:build linux

package workshop

import (
	"time"

	"atelier/bench/latency"
	"atelier/bench/report"
	"atelier/bench/server"
)

// weight is what generator and server had taken of the machine at a moment.
type weight struct {
	at, generator, busy time.Duration
	server              server.Usage
	// turns of the socket loop since the last weighing.
	turns *latency.Histogram
}

func (r *run) weigh() weight {
	w := weight{at: r.clock.Now(), generator: server.OwnCPU()}
	if r.target.Usage != nil {
		// A server that is just gone is reported by what follows.
		w.server, _ = r.target.Usage()
	}
	r.loop.Do(func() {
		// The turns of the join are not those of the load, nor are those of the
		// drain: each weighing begins to count anew.
		w.busy, w.turns = r.loop.Busy, r.loop.Turns
		r.loop.Turns = latency.New()
	})
	return w
}

// account reports what was taken between two moments.
func (r *run) account(begin, end weight) {
	seconds := (end.at - begin.at).Seconds()
	if seconds <= 0 {
		return
	}
	g := &r.result.Generator
	g.Seconds = seconds
	g.Turns = end.turns.Summary()
	g.CPU = (end.generator - begin.generator).Seconds() / seconds
	g.Busy = (end.busy - begin.busy).Seconds() / seconds
	if r.target.Usage != nil {
		r.result.Server = &report.Server{
			CPU:     (end.server.CPU - begin.server.CPU).Seconds() / seconds,
			RSS:     end.server.RSS,
			PeakRSS: end.server.PeakRSS,
		}
	}
}
