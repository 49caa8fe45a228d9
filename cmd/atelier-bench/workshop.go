//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"atelier/bench/report"
	"atelier/bench/workshop"
)

// workshopCommand is the command line of the workshop scenario.
type workshopCommand struct {
	Attendees int           `default:"1000" help:"People who register and connect."`
	Duration  time.Duration `default:"30s" help:"How long the load is measured."`

	serverFlags
	outputFlags

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
}

// Validate is called by kong.
func (w *workshopCommand) Validate() error {
	if w.KillEvery > 0 && !w.Spawn {
		return errors.New("--kill-every needs --spawn")
	}
	return errors.Join(w.serverFlags.check(), w.outputFlags.check(),
		atLeast("attendees", w.Attendees, 1), atLeast("facilitators", w.Facilitators, 1), atLeast("duration", w.Duration, time.Second),
		atLeast("join", w.Join, 0), atLeast("warmup", w.Warmup, 0), atLeast("step-every", w.StepEvery, 0), atLeast("drain", w.Drain, 0),
		atLeast("chat", w.Chat, 0), atLeast("help-rate", w.HelpRate, 0), atLeast("comments", w.Comments, 0), atLeast("stalled", w.Stalled, 0))
}

// Run is called by kong.
func (w *workshopCommand) Run(ctx context.Context) error {
	cfg, err := w.config()
	if err != nil {
		return err
	}
	return hold(ctx, &w.serverFlags, &w.outputFlags, nil, func(t *bench) (*report.Result, error) {
		cfg.Progress = t.screen.workshop
		return workshop.Run(ctx, cfg, t.Target)
	})
}

// workshop shows how a workshop is going.
func (s *screen) workshop(p workshop.Snapshot) {
	s.show(status{Phase: p.Phase, Elapsed: p.Elapsed, Done: p.Done, P99: p.Chat.P99, Numbers: []number{
		{"online", fmt.Sprintf("%d/%d", p.Online, p.People)}, {"events", fmt.Sprint(p.Events)}, {"acked", fmt.Sprint(p.Acked)},
		{"chat p50", fmt.Sprintf("%.1f ms", p.Chat.P50)}, {"p99", fmt.Sprintf("%.1f ms", p.Chat.P99)},
	}})
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
