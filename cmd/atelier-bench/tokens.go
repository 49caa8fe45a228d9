//go:build linux

package main

import (
	"context"
	"errors"
	"time"

	"atelier/bench/report"
	"atelier/bench/tokens"
)

// tokensCommand is the command line of the tokens scenario.
type tokensCommand struct {
	Rate        float64       `default:"8000" help:"Pairs of tokenize and detokenize a second; 0 for as many as the connections carry."`
	Duration    time.Duration `default:"20s" help:"How long the load is measured; 0 for no load."`
	Warmup      time.Duration `default:"3s" help:"Load before the measured time."`
	Connections int           `default:"256" help:"Connections kept alive."`

	serverFlags
	outputFlags
	nodeFaultFlags

	Participants int           `default:"16" group:"Tokens" help:"Platforms, and as many businesses; each has its own rate limit."`
	Reuse        float64       `default:"1" placeholder:"PERCENT" group:"Tokens" help:"Share of tokens that two callers use at once: exactly one must win."`
	Live         int           `group:"Tokens" help:"Make this many tokens first and leave them: weigh the server, restart it, watch them all expire within a minute. Needs --spawn."`
	LiveFor      time.Duration `default:"5m" group:"Tokens" help:"How long the live tokens live at least."`
}

// Validate is called by kong.
func (c *tokensCommand) Validate() error {
	if c.Live > 0 && !c.Spawn {
		return errors.New("--live needs --spawn")
	}
	if c.Live > 0 && c.Nodes > 0 {
		return errors.New("--live is for one server")
	}
	return errors.Join(c.nodeFaultFlags.check(c.Nodes), c.serverFlags.check(), c.outputFlags.check(c.names()), atLeast("rate", c.Rate, 0), atLeast("duration", c.Duration, 0), atLeast("warmup", c.Warmup, 0),
		atLeast("connections", c.Connections, 1), atLeast("participants", c.Participants, 1), atLeast("reuse", c.Reuse, 0), atLeast("live", c.Live, 0))
}

// Run is called by kong.
func (c *tokensCommand) Run(ctx context.Context) error {
	cfg := &tokens.Config{
		Rate: c.Rate, Connections: c.Connections, Warmup: c.Warmup, Duration: c.Duration, Reuse: c.Reuse / 100,
		Participants: c.Participants, Live: c.Live, LiveFor: c.LiveFor,
	}
	cfg.Faults, cfg.Pause, cfg.Cut = c.plan(c.Nodes, c.Duration), c.PauseFor, c.CutFor
	return hold(ctx, &c.serverFlags, &c.outputFlags, nil, func(t *bench) (*report.Result, error) {
		began := time.Now()
		cfg.Progress = func(text string) { t.screen.show(status{Phase: text, Elapsed: time.Since(began)}) }
		return tokens.Run(ctx, cfg, t.Target)
	})
}
