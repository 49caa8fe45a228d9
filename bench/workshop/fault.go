//go:build linux

package workshop

import (
	"context"
	"fmt"
	"time"

	"atelier/bench/latency"
	"atelier/bench/report"
)

// Fault is what can be done to a server.
type Fault string

// Faults.
const (
	// Kill ends the server as a power cut does, and starts it again.
	Kill Fault = "kill"
	// Pause stops it where it is for a while; connections stay.
	Pause Fault = "pause"
	// Restart asks it to end, as an upgrade does, and starts it again.
	Restart Fault = "restart"
)

// resumeWithin bounds the wait for everybody after a fault.
const resumeWithin = 60 * time.Second

// faults does the faults in turns at the interval, while the load goes on. The
// last leaves time to come back before the end.
func (r *run) faults(ctx context.Context) error {
	n := 0
	for at := r.crowd.from + r.cfg.FaultEvery; at < r.crowd.until-time.Second; at += r.cfg.FaultEvery {
		r.sleepUntil(ctx, at)
		if ctx.Err() != nil {
			return nil
		}
		fault := r.cfg.Faults[n%len(r.cfg.Faults)]
		n++
		if err := r.harm(ctx, fault); err != nil {
			return fmt.Errorf("%s %d: %w", fault, n, err)
		}
	}
	return nil
}

// harm is one fault. Times count from its beginning.
func (r *run) harm(ctx context.Context, fault Fault) error {
	c := r.crowd
	expected := 0
	r.loop.Do(func() {
		// A paused server keeps its connections.
		c.down = fault != Pause
		expected = c.tallies[opResume].done
		if c.down {
			expected += c.count(func(p *person) bool { return p.joined() && !p.stalled })
		}
	})
	began := r.clock.Now()
	// A run that is interrupted now still needs its server for the audit.
	if err := r.carryOut(context.WithoutCancel(ctx), fault); err != nil {
		return err
	}
	ready := r.clock.Now()
	r.loop.Do(func() { c.down = false })
	all := r.until(ctx, resumeWithin, func() bool {
		return c.tallies[opResume].done >= expected &&
			c.count(func(p *person) bool { return p.joined() && !p.stalled && !p.online }) == 0
	})
	restart := report.Restart{Fault: string(fault), Ready: latency.Milliseconds(ready - began), Resumed: latency.Milliseconds(ready - began), AllResumed: all}
	if fault != Pause {
		r.loop.Do(func() { restart.Resumed = latency.Milliseconds(c.welcomed - began) })
	}
	r.result.Restarts = append(r.result.Restarts, restart)
	return nil
}

func (r *run) carryOut(ctx context.Context, fault Fault) error {
	switch p := r.target.Process; fault {
	case Pause:
		if err := p.Pause(); err != nil {
			return err
		}
		r.sleepUntil(ctx, r.clock.Now()+r.cfg.Pause)
		return p.Continue()
	case Restart:
		if err := p.Stop(); err != nil {
			return err
		}
		return p.Start(ctx)
	default:
		p.Kill()
		return p.Start(ctx)
	}
}
