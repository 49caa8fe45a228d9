//go:build linux

package main

import (
	"context"
	"errors"
	"os"
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

	Participants int           `default:"16" group:"Tokens" help:"Platforms, and as many businesses; each has its own rate limit."`
	Reuse        float64       `default:"1" placeholder:"PERCENT" group:"Tokens" help:"Share of tokens that two callers use at once: exactly one must win."`
	Live         int           `group:"Tokens" help:"Make this many tokens first and leave them: weigh the server, restart it, watch them all expire within a minute. Needs --spawn."`
	LiveFor      time.Duration `default:"5m" group:"Tokens" help:"How long the live tokens live at least."`

	MinPairs  float64       `placeholder:"N" group:"Thresholds" help:"Fail under this many pairs a second."`
	MaxP99    time.Duration `name:"max-p99" placeholder:"DURATION" group:"Thresholds" help:"Fail when the p99 of either operation is over this."`
	MaxLag    time.Duration `default:"10ms" group:"Thresholds" help:"The run is invalid when the p99 of the generator's own lag is over this."`
	MaxRSSMiB int64         `name:"max-rss" placeholder:"MIB" group:"Thresholds" help:"Fail when the live tokens take more memory."`

	JSON string `name:"json" type:"path" placeholder:"FILE" help:"Write the result for machines."`
}

// Validate is called by kong.
func (c *tokensCommand) Validate() error {
	if c.Live > 0 && !c.Spawn {
		return errors.New("--live needs --spawn")
	}
	return errors.Join(c.serverFlags.check(), atLeast("rate", c.Rate, 0), atLeast("duration", c.Duration, 0), atLeast("warmup", c.Warmup, 0),
		atLeast("connections", c.Connections, 1), atLeast("participants", c.Participants, 1), atLeast("reuse", c.Reuse, 0), atLeast("live", c.Live, 0))
}

// Run is called by kong.
func (c *tokensCommand) Run(ctx context.Context) error {
	if err := raiseFileLimit(); err != nil {
		return err
	}
	cfg := &tokens.Config{
		Rate: c.Rate, Connections: c.Connections, Warmup: c.Warmup, Duration: c.Duration, Reuse: c.Reuse / 100,
		Participants: c.Participants, Live: c.Live, LiveFor: c.LiveFor,
	}
	t, done, err := c.target(ctx)
	if err != nil {
		return err
	}
	target := &tokens.Target{URL: t.URL, Via: t.Via, AdminID: t.AdminID, AdminPW: t.AdminPW, Process: t.Process, Usage: t.Usage}
	if t.Process != nil {
		target.Goroutines = t.Process.Goroutines
	}
	line := newStatusLine(os.Stderr)
	if line.terminal {
		cfg.Progress = func(text string) { line.say(text) }
	}
	result, err := tokens.Run(ctx, cfg, target)
	line.clear()
	failed := err != nil
	if err == nil {
		result.Command, result.Versions = commandLine(os.Args), c.versions()
		result.Judge(&tokens.Thresholds{MinPairs: c.MinPairs, MaxP99: c.MaxP99, MaxLag: c.MaxLag, MaxRSS: c.MaxRSSMiB << 20})
		failed = result.ExitCode() == report.ExitFailed
	}
	if stopped := done(c.Keep || failed); err == nil {
		err = stopped
	}
	if err != nil {
		return err
	}
	if err := result.Text(os.Stdout); err != nil {
		return err
	}
	if c.JSON != "" {
		if err := result.WriteJSON(c.JSON); err != nil {
			return err
		}
	}
	if code := result.ExitCode(); code != report.ExitPassed {
		return exitCode(code)
	}
	return nil
}
