//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"atelier/bench/fanout"
	"atelier/bench/pacing"
	"atelier/bench/report"
	"atelier/bench/server"
)

// selftestCommand checks the measurement itself. It pauses the server, and the report must show the
// pause.
type selftestCommand struct {
	Pause time.Duration `default:"200ms" help:"Duration of the pause."`
	serverFlags
	outputFlags
}

// Validate is called by kong.
func (c *selftestCommand) Validate() error {
	if !c.Spawn || c.Nodes > 0 || len(c.URL) > 0 {
		return fmt.Errorf("the self-test pauses its own server: it needs --spawn, and one server")
	}
	return c.outputFlags.check(fanout.Names)
}

// Run is called by kong.
func (c *selftestCommand) Run(ctx context.Context) error {
	return hold(ctx, &c.serverFlags, &c.outputFlags, fanout.Relaxed, func(t *bench) (*report.Result, error) {
		cfg := &fanout.Config{
			Scenario: "selftest", Subscribers: 200, Publishing: fanout.Publishing{Publishers: 1, Rate: 100, Regular: true, Warmup: time.Second},
			Connect: time.Second, Duration: 5 * time.Second, Drain: 30 * time.Second, Seed: 1,
			Prepare: fanout.Atelier(t.Target, server.Trust{}, 200), Target: t.Target, Progress: t.screen.broadcast,
		}
		var stopped error
		cfg.Beside = func(ctx context.Context) {
			if pacing.Sleep(ctx, 2*time.Second) {
				stopped = c.stop(t)
			}
		}
		r, err := cfg.Run(ctx)
		if err != nil || stopped != nil {
			return nil, fmt.Errorf("self-test: %w", errors.Join(err, stopped))
		}
		return r, c.believe(r)
	})
}

// stop pauses the server for the configured time.
func (c *selftestCommand) stop(t *bench) error {
	if err := t.Process.Pause(); err != nil {
		return err
	}
	time.Sleep(c.Pause)
	return t.Process.Continue()
}

// believe records a fault for each effect of the pause that the report does not show.
func (c *selftestCommand) believe(r *report.Result) error {
	pause := float64(c.Pause) / float64(time.Millisecond)
	// The first message that was scheduled during the pause was delayed by nearly the whole pause.
	// Half of these messages were delayed by at least half of the pause.
	late := 0.0
	if r.Counts != nil {
		share := c.Pause.Seconds() / r.Duration / 2
		late = float64(r.Counts.Quantile(1-share)) / float64(time.Millisecond)
	}
	if r.Latency.Max < 0.9*pause {
		r.Faults = append(r.Faults, fmt.Sprintf("a pause of %.0f ms does not show: the slowest delivery took %.1f ms", pause, r.Latency.Max))
	}
	if late < 0.35*pause {
		r.Faults = append(r.Faults, fmt.Sprintf("a pause of %.0f ms is not counted: half of the deliveries that were due meanwhile took only %.1f ms or more, want half of the pause", pause, late))
	}
	fmt.Fprintf(os.Stderr, "paused for %.0f ms: the slowest delivery took %.1f ms, and half of the deliveries that were due meanwhile took %.1f ms or more\n", pause, r.Latency.Max, late)
	return nil
}
