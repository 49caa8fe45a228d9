//go:build linux

package rest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"atelier/bench/audit"
	"atelier/bench/latency"
	"atelier/bench/report"
	"atelier/bench/timeline"
)

// conclude creates the report. The workers have ended.
func (r *run) conclude(begin, end timeline.Weight, found []int, interrupted bool) *report.Result {
	out := &report.Result{
		Scenario: "rest", About: r.cfg.about(), Subject: "request", Started: time.Now().Add(-r.clock.Now()).UTC().Truncate(time.Second),
		Seed: r.cfg.Seed, Warmup: (r.from - r.start).Seconds(), Interrupted: interrupted,
	}
	all, lag := latency.New(), latency.New()
	merged := map[string]*report.Tally{}
	for _, w := range r.workers {
		lag.Merge(w.lag)
		for kind, t := range w.tallies {
			if merged[kind] == nil {
				merged[kind] = report.NewTally(kind)
			}
			merged[kind].Merge(t)
			all.Merge(t.Timed)
		}
	}
	counted := map[string]int64{}
	for _, kind := range slices.Sorted(maps.Keys(merged)) {
		out.Operations = append(out.Operations, merged[kind].Result())
		side, _, _ := strings.Cut(kind, " ")
		counted[side] += merged[kind].Timed.Count()
	}
	out.Latency, out.Counts = all.Summary(), all
	out.Generator.Workers, out.Generator.Lag = 1, lag.Summary()
	if end.Account(begin, r.target, nil, out) {
		seconds := out.Duration
		out.Figures = append(out.Figures, report.Figure{Key: "requests_per_second", Name: "requests", Value: float64(all.Count()) / seconds, Unit: "per second"})
		for _, side := range []string{"read", "write"} {
			if n := counted[side]; n > 0 {
				out.Figures = append(out.Figures, report.Figure{Key: side + "s_per_second", Name: side + "s", Value: float64(n) / seconds, Unit: "per second"})
			}
		}
	}
	if len(r.fates) > 0 && found != nil {
		from := keptFrom(found, r.cfg.WriteConnections)
		if from > 0 {
			out.Figures = append(out.Figures, report.Figure{Key: "forgotten", Name: "messages that the codelab no longer keeps", Value: float64(from)})
		}
		out.Audit.Writes = map[string]audit.Writes{"chat": audit.Reconcile(r.fates[from:], found[from:])}
	}
	r.timeline.Put(out)
	return out
}

// keptMessages is the number of newest messages that a codelab keeps, according to the server's own
// description of GET /codelabs/{id}/chat.
const keptMessages = 200_000

// keptFrom returns the number of the first message that the codelab certainly keeps, or 0 if it
// keeps all. found contains how often each message was found. Up to atATime concurrent messages can
// be stored in another order.
func keptFrom(found []int, atATime int) int {
	first, all := len(found), 0
	for n, times := range found {
		if times > 0 {
			first, all = min(first, n), all+1
		}
	}
	if all < keptMessages {
		return 0
	}
	return min(first+atATime, len(found))
}

func (c *Config) about() string {
	parts := []string{report.Count(c.Attendees, "attendee")}
	for _, side := range []struct {
		name string
		s    side
	}{{"reader", c.reading()}, {"writer", c.writing()}} {
		switch s := side.s; {
		case s.connections == 0:
		case s.count > 0:
			parts = append(parts, fmt.Sprintf("%s with %s", report.Count(s.connections, side.name), report.Count(s.count, "request")))
		case s.rate > 0:
			parts = append(parts, fmt.Sprintf("%s with %g requests a second", report.Count(s.connections, side.name), s.rate))
		default:
			parts = append(parts, fmt.Sprintf("%s with as many requests as go", report.Count(s.connections, side.name)))
		}
	}
	return strings.Join(parts, ", ")
}
