//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"atelier/bench/report"
	"atelier/bench/workshop"
)

// workshopCommand is the command line of the workshop scenario.
type workshopCommand struct {
	Attendees int           `default:"1000" help:"People who register and connect."`
	Duration  time.Duration `default:"30s" help:"How long the load is measured."`

	serverFlags

	Codelab   string `type:"existingfile" xor:"codelab" placeholder:"FILE.md" group:"Workshop" help:"Markdown file to import; the default is a small codelab of the test's own."`
	CodelabID string `xor:"codelab" placeholder:"ID" group:"Workshop" help:"Existing codelab, used by nobody else during the run."`

	Facilitators int           `default:"2" group:"Workshop" help:"Facilitators; each sees all progress and all requests for help."`
	Join         time.Duration `default:"20s" group:"Workshop" help:"Time over which registrations are spread."`
	Warmup       time.Duration `default:"2s" group:"Workshop" help:"Load before the measured time; audited, not measured."`
	StepEvery    time.Duration `default:"20s" group:"Workshop" help:"Time between two steps of one attendee; 0 for none."`
	Chat         float64       `default:"10" group:"Workshop" help:"Chat messages a second, in total."`
	HelpRate     float64       `default:"1" group:"Workshop" help:"Requests for help a second, in total."`
	Comments     float64       `default:"1" group:"Workshop" help:"Inline comments a second, in total."`
	Regular      bool          `group:"Workshop" help:"Equal distances between operations instead of a Poisson process."`
	Stalled      float64       `placeholder:"PERCENT" group:"Workshop" help:"Share of attendees who stop reading their socket."`
	KillEvery    time.Duration `placeholder:"DURATION" group:"Workshop" help:"Kill the spawned server with SIGKILL at this interval and start it again."`
	Drain        time.Duration `default:"30s" group:"Workshop" help:"Longest wait for what is still on its way, at the end and in the join."`
	Seed         uint64        `help:"Decides everything that is drawn; drawn itself and printed when 0."`

	MaxP99     time.Duration `name:"max-p99" placeholder:"DURATION" group:"Thresholds" help:"Fail when the p99 of chat deliveries is over this."`
	MaxP999    time.Duration `name:"max-p999" placeholder:"DURATION" group:"Thresholds" help:"Fail when the p99.9 of chat deliveries is over this."`
	MaxLost    int           `default:"0" group:"Thresholds" help:"Fail when more is lost than this."`
	MaxRefused int           `default:"0" group:"Thresholds" help:"Fail when more operations are refused than this; -1 for any number."`
	MaxLag     time.Duration `default:"10ms" group:"Thresholds" help:"The run is invalid when the p99 of the generator's own lag is over this."`
	AllowLag   bool          `group:"Thresholds" help:"Let a run with a late generator pass."`

	JSON string `name:"json" type:"path" placeholder:"FILE" help:"Write the result for machines."`
}

// Validate is called by kong.
func (w *workshopCommand) Validate() error {
	if w.KillEvery > 0 && !w.Spawn {
		return errors.New("--kill-every needs --spawn")
	}
	return errors.Join(w.check(),
		atLeast("attendees", w.Attendees, 1), atLeast("facilitators", w.Facilitators, 1), atLeast("duration", w.Duration, time.Second),
		atLeast("join", w.Join, 0), atLeast("warmup", w.Warmup, 0), atLeast("step-every", w.StepEvery, 0), atLeast("drain", w.Drain, 0),
		atLeast("chat", w.Chat, 0), atLeast("help-rate", w.HelpRate, 0), atLeast("comments", w.Comments, 0), atLeast("stalled", w.Stalled, 0),
		atLeast("max-lost", w.MaxLost, 0), atLeast("max-refused", w.MaxRefused, -1))
}

// Run is called by kong.
func (w *workshopCommand) Run(ctx context.Context) error {
	if err := raiseFileLimit(); err != nil {
		return err
	}
	cfg, err := w.config()
	if err != nil {
		return err
	}
	return w.hold(ctx, cfg, w.thresholds(), w.JSON, func(target *workshop.Target) (*report.Result, error) {
		return workshop.Run(ctx, cfg, target)
	})
}

// hold runs a scenario with a workshop in it, whose progress is shown, and
// judges and prints the result.
func (w *serverFlags) hold(ctx context.Context, cfg *workshop.Config, limits *report.Thresholds, json string,
	scenario func(*workshop.Target) (*report.Result, error)) error {
	t, done, err := w.target(ctx)
	if err != nil {
		return err
	}
	target := &workshop.Target{URL: t.URL, Via: t.Via, AdminID: t.AdminID, AdminPW: t.AdminPW, Process: t.Process, Usage: t.Usage}
	line := newStatusLine(os.Stderr)
	if line.terminal {
		cfg.Progress = line.show
	}
	result, err := scenario(target)
	line.clear()
	failed := err != nil
	if err == nil {
		result.Command, result.Versions = commandLine(os.Args), w.versions()
		result.Judge(limits)
		failed = result.ExitCode() == report.ExitFailed
	}
	// What a server left behind that failed is what its author needs.
	if stopped := done(w.Keep || failed); err == nil {
		err = stopped
	}
	if err != nil {
		return err
	}
	if err := result.Text(os.Stdout, report.Style{Colour: colours(os.Stdout)}); err != nil {
		return err
	}
	if json != "" {
		if err := result.WriteJSON(json); err != nil {
			return err
		}
	}
	if code := result.ExitCode(); code != report.ExitPassed {
		return exitCode(code)
	}
	return nil
}

func (w *workshopCommand) thresholds() *report.Thresholds {
	return &report.Thresholds{
		MaxP99: w.MaxP99, MaxP999: w.MaxP999, MaxLost: w.MaxLost, MaxRefused: w.MaxRefused, MaxLag: w.MaxLag, AllowLag: w.AllowLag,
	}
}

// commandLine is the command as it was given, without the password.
func commandLine(args []string) []string {
	const flag = "--admin-pw"
	out := slices.Clone(args)
	for i, arg := range out {
		switch {
		case strings.HasPrefix(arg, flag+"="):
			out[i] = flag + "=***"
		case i > 0 && args[i-1] == flag:
			out[i] = "***"
		}
	}
	return out
}

func (w *workshopCommand) config() (*workshop.Config, error) {
	cfg := &workshop.Config{
		Attendees: w.Attendees, Facilitators: w.Facilitators,
		Join: w.Join, Warmup: w.Warmup, Duration: w.Duration, StepEvery: w.StepEvery,
		Chat: w.Chat, Help: w.HelpRate, Comments: w.Comments, Regular: w.Regular,
		Stalled: w.Stalled / 100, KillEvery: w.KillEvery, Drain: w.Drain, Seed: w.Seed, CodelabID: w.CodelabID,
	}
	if cfg.Seed == 0 {
		cfg.Seed = uint64(rand.Uint32())
	}
	if w.Codelab != "" {
		text, err := os.ReadFile(w.Codelab)
		if err != nil {
			return nil, fmt.Errorf("codelab: %w", err)
		}
		cfg.Markdown = text
	}
	return cfg, nil
}
