//go:build linux

package fanout

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"time"

	"atelier/bench/broadcast"
	"atelier/bench/latency"
	"atelier/bench/report"
)

// about returns a short description of the run.
func about(cfg *Config) string {
	about := report.Count(cfg.Subscribers, "subscriber") + ", " + report.Count(cfg.Publishers, "publisher")
	switch {
	case cfg.Scenario == "idle":
		about = report.Count(cfg.Subscribers, "connection")
	case len(cfg.Stages) == 0 && cfg.Rate == 0:
		about += fmt.Sprintf(", %d messages of each under way", cfg.Window)
	case len(cfg.rates()) == 1:
		about += fmt.Sprintf(", %g messages a second", cfg.rates()[0].Rate)
	default:
		about += fmt.Sprintf(", %d stages", len(cfg.Stages))
	}
	return about
}

func newResult(cfg *Config) *report.Result {
	return &report.Result{
		Scenario: cfg.Scenario, About: about(cfg), Subject: "delivery", Started: time.Now().UTC().Truncate(time.Second), Seed: cfg.Seed,
		Warmup: cfg.Warmup.Seconds(), Duration: cfg.Duration.Seconds(),
	}
}

// conclude combines the results of the workers.
func (r *run) conclude(outcomes []*broadcast.Outcome) {
	out := r.result
	deliveries, acks, connects, resumes, lag, turns := latency.New(), latency.New(), latency.New(), latency.New(), latency.New(), latency.New()
	var parts []*latency.Histogram
	steps := int64(0)
	out.Connections = &report.Connections{Wanted: r.cfg.Subscribers, Publishers: r.cfg.Publishers}
	out.Disconnects = map[string]int{}
	out.Audit.AwayMeant = r.cfg.Scenario == "reconnect" || r.cfg.Scenario == "slow" || r.endpoint.Dialect.Resume != ""
	publish := report.Operation{Name: "publish"}
	byNode := make([]int64, len(r.cfg.Target.Several))
	for _, o := range outcomes {
		for n := range min(len(byNode), len(o.ByNode)) {
			byNode[n] += o.ByNode[n]
		}
	}
	measured := r.end.Account(r.begin, r.cfg.Target, byNode, out)
	g := &out.Generator
	for _, o := range outcomes {
		r.timeline.add(o.Rest)
		deliveries.Merge(o.Deliveries)
		acks.Merge(o.Acks)
		connects.Merge(o.Connects)
		resumes.Merge(o.Resumes)
		lag.Merge(o.Lag)
		turns.Merge(o.Turns)
		for i, part := range o.Parts {
			if i == len(parts) {
				parts = append(parts, latency.New())
			}
			parts[i].Merge(part)
		}
		out.Messages += o.Messages
		out.Deliveries += o.Arrived
		out.Connections.Open += o.Open
		out.Connections.Lost += o.Ended
		out.Connections.Gone += o.Gone
		g.Unopened += o.Unopened
		g.Lack = cmp.Or(g.Lack, o.Lack)
		a := &out.Audit
		a.Missed += int(o.Lost)
		a.Duplicated += int(o.Duplicated)
		a.Reordered += int(o.Reordered)
		a.Forged += int(o.Forged)
		a.Foreign += int(o.Foreign)
		a.Away += int(o.Away)
		a.Resyncs += int(o.Gaps)
		a.Unfinished += o.Unfinished
		s := &a.Stalled
		s.People += o.Stalled.People
		s.Closed += o.Stalled.Closed
		s.Resynced += o.Stalled.Resynced
		s.CaughtUp += o.Stalled.CaughtUp
		s.Unfinished += o.Stalled.Unfinished
		s.Gaps += o.Stalled.Gaps
		publish.Done += int(o.Acked)
		publish.Refused += int(o.Refused) + int(o.Unsent)
		steps += o.Beside
		switch {
		case o.Complaint != "":
			publish.Complaint = o.Complaint
		case o.Unsent > 0:
			publish.Complaint = "a publisher was not connected"
		}
		for how, n := range o.Disconnects {
			out.Disconnects[how] += n
		}
		if measured {
			g.Busy = max(g.Busy, o.Busy.Seconds()/g.Seconds)
			if r.workers.Separate {
				g.CPU += o.CPU.Seconds() / g.Seconds
			}
		}
	}
	if out.Messages > 0 {
		out.Faults = append(out.Faults, r.unmatchedPatterns(outcomes)...)
	}
	out.Latency, out.Counts = deliveries.Summary(), deliveries
	if last := r.lastRecipients(outcomes); last.Count() > 0 {
		s := last.Summary()
		out.Last = &s
	}
	if acks.Count() > 0 || publish.Refused > 0 {
		publish.Latency = acks.Summary()
		out.Operations = append(out.Operations, publish)
	}
	for _, op := range []struct {
		name string
		h    *latency.Histogram
	}{{"connect", connects}, {"resume", resumes}} {
		if op.h.Count() > 0 {
			out.Operations = append(out.Operations, report.Operation{Name: op.name, Latency: op.h.Summary(), Done: int(op.h.Count())})
		}
	}
	for i, name := range r.partNames() {
		if i < len(parts) {
			out.Parts = append(out.Parts, report.Part{Name: name, Latency: parts[i].Summary()})
		}
	}
	g.Workers, g.Lag, g.Turns = r.workers.Size(), lag.Summary(), turns.Summary()
	r.timeline.Put(out)
	if !measured {
		return
	}
	out.DeliveriesPerSecond = float64(out.Deliveries) / g.Seconds
	r.weights()
	if r.cfg.StepEvery > 0 {
		out.Figures = append(out.Figures, report.Figure{Key: "steps", Name: "steps of subscribers, warm-up included", Value: float64(steps)})
	}
}

// unmatchedPatterns describes the patterns that matched nothing, and whether nothing arrived at all.
// The flags are more likely to be wrong than the server.
func (r *run) unmatchedPatterns(outcomes []*broadcast.Outcome) []string {
	var messages, answers int64
	var strange, strangeAnswer string
	for _, o := range outcomes {
		messages += o.AllDeliveries + o.Forged + o.Foreign
		answers += o.Acked + o.Refused
		strange, strangeAnswer = cmp.Or(strange, o.Strange), cmp.Or(strangeAnswer, o.StrangeAnswer)
	}
	var out []string
	d := &r.endpoint.Dialect
	switch {
	case messages > 0:
	case strange != "":
		out = append(out, unmatched("--match", d.Match, "first", strange))
	default:
		out = append(out, "no subscriber received anything: perhaps the server does not pass on what a client sends, or it expects other messages than --hello and --send")
	}
	if answers == 0 && d.Ack != "" {
		out = append(out, unmatched("--ack", d.Ack, "first", strangeAnswer))
	}
	return out
}

// weights adds figures for the clock error of remote workers, and for the server's resources per
// connection and per delivery.
func (r *run) weights() {
	out := r.result
	figure := func(key, name string, value float64, unit string) {
		out.Figures = append(out.Figures, report.Figure{Key: key, Name: name, Value: value, Unit: unit})
	}
	if len(r.cfg.Plan.Remote) > 0 {
		figure("clock_error_ms", "clocks of the workers agree within", latency.Milliseconds(r.workers.Uncertain), "ms")
	}
	if out.Server == nil {
		return
	}
	if r.cfg.Scenario == "idle" && out.Connections.Open > 0 {
		// Since the first measurement, the server may have returned more memory to the system than a
		// few connections take.
		const perConnection = "memory per connection"
		if out.Server.RSS > r.empty.RSS {
			figure("bytes_per_connection", perConnection, float64(out.Server.RSS-r.empty.RSS)/float64(out.Connections.Open), "bytes")
		} else {
			out.Remarks = append(out.Remarks, report.Remark{Name: perConnection, Text: "cannot be determined with so few connections"})
		}
		figure("rss_without", "without connections", float64(r.empty.RSS), "bytes")
		figure("idle_cores", "server, without messages", out.Server.CPU, "cores")
	}
	if out.Deliveries > 0 {
		figure("cpu_per_million", "server's CPU time per million deliveries", (r.end.Server.CPU-r.begin.Server.CPU).Seconds()/float64(out.Deliveries)*1e6, "s")
	}
}

// lastRecipients returns a histogram with, for each measured message, the time until all readers of
// all workers had received it.
func (r *run) lastRecipients(outcomes []*broadcast.Outcome) *latency.Histogram {
	all := latency.New()
	for p := range r.cfg.Publishers {
		var latest []uint32
		for _, o := range outcomes {
			if p >= len(o.Last) {
				continue
			}
			b := o.Last[p]
			for n := 0; n+4 <= len(b); n += 4 {
				if n/4 == len(latest) {
					latest = append(latest, 0)
				}
				latest[n/4] = max(latest[n/4], binary.LittleEndian.Uint32(b[n:]))
			}
		}
		for _, us := range latest {
			if us > 0 {
				all.Record(time.Duration(us-1) * time.Microsecond)
			}
		}
	}
	return all
}
