//go:build linux

package workshop

import (
	"cmp"
	"time"

	"atelier/bench/report"
)

func newResult(cfg *Config) *report.Result {
	return &report.Result{
		Scenario: cmp.Or(cfg.Scenario, "workshop"), Started: time.Now().UTC().Truncate(time.Second), Seed: cfg.Seed,
		About: report.Count(cfg.Attendees, "attendee") + ", " + report.Count(cfg.Facilitators, "facilitator"), Subject: "chat delivery",
		Attendees: cfg.Attendees, Facilitators: cfg.Facilitators,
		Warmup: cfg.Warmup.Seconds(), Duration: cfg.Duration.Seconds(),
	}
}

// conclude adds the results to the report. The loop has ended. t is nil if the server's state could
// not be read.
func (r *run) conclude(t *truth) {
	c, out := r.crowd, r.result
	out.Joined = c.count(func(p *person) bool { return !p.facilitator && p.joined() })
	out.Latency, out.Counts, out.Deliveries = c.deliveries.Summary(), c.deliveries, c.deliveries.Count()
	out.Messages = c.measuredChat
	if seconds := out.Generator.Seconds; seconds > 0 {
		out.DeliveriesPerSecond = float64(c.deliveries.Count()) / seconds
	}
	for _, part := range c.parts {
		out.Parts = append(out.Parts, report.Part{Latency: part.Summary()})
	}
	r.recoveries()
	out.Events, out.Acked = c.events, c.acked
	out.Audit = c.verify(t)
	out.Disconnects = c.disconnects
	c.timeline.Put(out)
	out.Generator.Workers = 1
	out.Generator.Lag = c.lag.Summary()
	out.Generator.Shed = c.shed
	for op := range operations {
		if t := c.tallies[op]; t.Done+t.Refused+t.Unanswered > 0 {
			out.Operations = append(out.Operations, t.Result())
		}
	}
}
