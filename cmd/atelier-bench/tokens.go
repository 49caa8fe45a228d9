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
	Rate        float64       `default:"8000" help:"Pairs of tokenize and detokenize per second; 0 is unthrottled."`
	Duration    time.Duration `default:"20s" help:"Measured time; 0 for no load."`
	Warmup      time.Duration `default:"3s" help:"Load before the measured time."`
	Connections int           `default:"256" help:"Number of connections."`

	serverFlags
	outputFlags
	nodeFaultFlags

	Participants int           `default:"16" group:"Tokens" help:"Number of platforms, and of businesses; each has its own rate limit."`
	Reuse        float64       `default:"1" placeholder:"PERCENT" group:"Tokens" help:"Share of tokens that two callers use concurrently; exactly one must get the credential."`
	Live         int           `group:"Tokens" help:"Number of tokens to keep alive: measure the server with them, restart it, and let all expire within a minute. Needs --spawn."`
	LiveFor      time.Duration `default:"5m" group:"Tokens" help:"Minimum lifetime of these tokens."`
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
