//go:build linux

package workshop

import (
	"context"
	"fmt"
	"slices"
	"time"

	"atelier/bench/faults"
	"atelier/bench/latency"
	"atelier/bench/pacing"
	"atelier/bench/report"
)

// resumeWithin is the time after the repair of a fault within which everybody must resume.
const resumeWithin = 60 * time.Second

// harm is an injected fault with its effects. The loop owns it.
type harm struct {
	fault faults.Fault
	// nodes contains the affected nodes, counted from 0.
	nodes []int
	// began and over are the times at which the fault began, and at which the harness had repaired
	// it completely.
	began, over time.Duration
	// stuck marks, by index, the people of a paused node, who cannot notice the fault.
	stuck []bool
	// well contains the messages between other people. late contains the messages that a stuck
	// person sent or received.
	well, late faults.Recovery
	repeated   int
	failed     map[string]int // by operation
	// report is the fault's part of the report. The recovery times are added at the end.
	report report.Restart
}

// faults injects the planned faults during the load. It injects none in the last second, so that
// people have time to reconnect before the end.
func (r *run) faults(ctx context.Context) error {
	for n, planned := range r.cfg.Faults {
		at := r.crowd.from + planned.At
		if at >= r.crowd.until-time.Second {
			return nil
		}
		if !pacing.Sleep(ctx, at-r.clock.Now()) {
			return nil
		}
		if err := r.harm(ctx, r.inflictor.Choose(planned.Fault)); err != nil {
			return fmt.Errorf("%s %d: %w", planned.Fault, n+1, err)
		}
	}
	return nil
}

// harm injects one fault and waits until everybody has resumed, at most for resumeWithin. The times
// in the report count from the beginning of the fault.
func (r *run) harm(ctx context.Context, fault faults.Fault) error {
	c := r.crowd
	h := &harm{fault: fault, nodes: r.inflictor.Harmed(fault), failed: map[string]int{}}
	whole := len(h.nodes) == len(c.addresses) // no node remains
	expected := 0
	r.loop.Do(func() {
		h.began, h.stuck = r.clock.Now(), make([]bool, len(c.people))
		if fault.Kind == faults.Pause {
			for i, p := range c.people {
				h.stuck[i] = slices.Contains(h.nodes, p.node)
			}
			c.standing = h.nodes
		}
		c.faults = append(c.faults, h)
		c.timeline.Fault(fault.String())
		// A paused server keeps its connections, and a restart of the database can go unnoticed.
		ends := fault.Kind == faults.Kill || fault.Kind == faults.Restart || fault.Kind == faults.KillAll
		c.down = ends && whole
		expected = c.tallies[opResume].Done
		if ends {
			expected += c.count(func(p *person) bool { return p.joined() && !p.stalled && slices.Contains(h.nodes, p.node) })
		}
	})
	// A run that is interrupted now still needs its servers for the audit.
	if err := r.inflictor.Do(context.WithoutCancel(ctx), fault); err != nil {
		return err
	}
	ready := r.clock.Now()
	r.loop.Do(func() {
		h.over = ready
		c.down, c.standing = false, nil
	})
	all := r.until(ctx, resumeWithin, func() bool {
		return c.tallies[opResume].Done >= expected &&
			c.count(func(p *person) bool { return p.joined() && !p.stalled && !p.online }) == 0
	})
	r.loop.Do(func() {
		since := func(t time.Duration) float64 { return latency.Milliseconds(max(t, h.began) - h.began) }
		h.report = report.Restart{Fault: string(fault.Kind), Ready: since(ready), Resumed: since(ready), AllResumed: all}
		if fault.Kind != faults.Pause {
			h.report.Resumed = since(c.welcomed)
		}
	})
	return nil
}

// harmAt returns the last fault that began before a time, or nil before the first fault.
func (c *crowd) harmAt(at time.Duration) *harm {
	for _, h := range slices.Backward(c.faults) {
		if h.began <= at {
			return h
		}
	}
	return nil
}

// charge assigns a delivery to the last fault before its planned time, unless the author or the
// receiver was absent for another reason.
func (c *crowd) charge(p *person, sent *chatMessage, took time.Duration) {
	h := c.harmAt(sent.due)
	switch {
	case h == nil || sent.due >= c.until || c.away(p, sent.due) || c.away(c.people[sent.by], sent.due):
	case h.stuck[p.index] || h.stuck[sent.by]:
		h.late.Add(sent.due-h.began, took)
	default:
		h.well.Add(sent.due-h.began, took)
	}
}

// recovery returns the time from a fault to the recovery of the service, using the deliveries up to
// end. It returns false if the service did not recover, or if this is unknown because nobody
// chatted. Operations on a paused node cannot end before the node resumes, so their time counts
// from the resumption.
func (h *harm) recovery(end time.Duration) (took time.Duration, ok bool) {
	switch {
	case !h.well.Empty():
		took, ok = h.well.Time(end - h.began)
	case h.late.Empty():
		return 0, false
	default:
		ok = true // everybody was stuck
	}
	if !h.late.Empty() {
		stuck, free := h.late.Time(end - h.began)
		took, ok = max(took, stuck-(h.over-h.began)), ok && free
	}
	return took, ok
}

// recoveries adds to the report each fault with the time that the service took to recover.
func (r *run) recoveries() {
	c := r.crowd
	for i, h := range c.faults {
		end := c.until
		if i+1 < len(c.faults) {
			end = min(end, c.faults[i+1].began)
		}
		out := h.report
		out.At = (h.began - c.from).Seconds()
		out.Lasted = latency.Milliseconds(h.over - h.began)
		out.Repeated, out.FailedBy = h.repeated, h.failed
		for _, n := range h.failed {
			out.Failed += n
		}
		if len(c.addresses) > 1 {
			out.What = h.fault.String()
			for _, n := range h.nodes {
				out.Nodes = append(out.Nodes, c.names[n])
			}
		}
		took, ok := h.recovery(end)
		out.Recovery, out.Recovered = latency.Milliseconds(took), ok
		r.result.Restarts = append(r.result.Restarts, out)
	}
}
