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
	tokens.Config
	serverFlags
	outputFlags
	nodeFaultFlags
}

// Validate is called by kong.
func (c *tokensCommand) Validate() error {
	if c.Live > 0 && !c.Spawn {
		return errors.New("--live needs --spawn")
	}
	if c.Live > 0 && c.Nodes > 0 {
		return errors.New("--live measures only one server")
	}
	return errors.Join(c.nodeFaultFlags.check(c.Nodes), c.serverFlags.check(), c.outputFlags.check(c.names()), c.Check())
}

// Run is called by kong.
func (c *tokensCommand) Run(ctx context.Context) error {
	cfg := &c.Config
	cfg.Faults, cfg.Pause, cfg.Cut = c.plan(c.Nodes, c.Duration), c.PauseFor, c.CutFor
	return hold(ctx, &c.serverFlags, &c.outputFlags, nil, func(t *bench) (*report.Result, error) {
		began := time.Now()
		cfg.Progress = func(text string) { t.screen.show(status{Phase: text, Elapsed: time.Since(began)}) }
		return cfg.Run(ctx, t.Target)
	})
}
