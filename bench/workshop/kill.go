//go:build linux

package workshop

import (
	"context"
	"fmt"
	"time"

	"atelier/bench/latency"
	"atelier/bench/report"
)

// resumeWithin bounds the wait for everybody after a kill.
const resumeWithin = 60 * time.Second

// kills kills the server at the interval and starts it again, while the load
// goes on. The last kill leaves time to come back before the end.
func (r *run) kills(ctx context.Context) error {
	for at := r.crowd.from + r.cfg.KillEvery; at < r.crowd.until-time.Second; at += r.cfg.KillEvery {
		r.sleepUntil(ctx, at)
		if ctx.Err() != nil {
			return nil
		}
		if err := r.kill(ctx); err != nil {
			return fmt.Errorf("kill %d: %w", len(r.result.Restarts)+1, err)
		}
	}
	return nil
}

// kill is one kill. Times count from the kill.
func (r *run) kill(ctx context.Context) error {
	c := r.crowd
	expected := 0
	r.loop.Do(func() {
		c.down = true
		expected = c.tallies[opResume].done + c.count(func(p *person) bool { return p.joined() && !p.stalled })
	})
	killed := r.clock.Now()
	r.target.Process.Kill()
	// A run that is interrupted now still needs its server for the audit.
	if err := r.target.Process.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	ready := r.clock.Now()
	r.loop.Do(func() { c.down = false })
	all := r.until(ctx, resumeWithin, func() bool {
		return c.tallies[opResume].done >= expected &&
			c.count(func(p *person) bool { return p.joined() && !p.stalled && !p.online }) == 0
	})
	restart := report.Restart{Ready: latency.Milliseconds(ready - killed), AllResumed: all}
	r.loop.Do(func() { restart.Resumed = latency.Milliseconds(c.welcomed - killed) })
	r.result.Restarts = append(r.result.Restarts, restart)
	return nil
}
