//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"atelier/bench/faults"
	"atelier/bench/report"
	"atelier/bench/workshop"
)

// workshopFlags describe a workshop.
type workshopFlags struct {
	Codelab   string `type:"existingfile" xor:"codelab" placeholder:"FILE.md" group:"Workshop" help:"Markdown file to import; the default is a small built-in codelab."`
	CodelabID string `xor:"codelab" placeholder:"ID" group:"Workshop" help:"Existing codelab to use; nobody else should use it during the run."`

	Facilitators     int           `default:"2" group:"Workshop" help:"Number of facilitators; each receives all progress and all requests for help."`
	FacilitatorReads float64       `default:"1" group:"Workshop" help:"Lists that facilitators read per second, in total."`
	Join             time.Duration `default:"20s" group:"Workshop" help:"Time over which registrations are spread."`
	Warmup           time.Duration `default:"2s" group:"Workshop" help:"Load before the measured time; audited, not measured."`
	StepEvery        time.Duration `default:"20s" group:"Workshop" help:"Time between two steps of one attendee; 0 for none."`
	Chat             float64       `default:"10" group:"Workshop" help:"Chat messages per second, in total."`
	HelpRate         float64       `default:"1" group:"Workshop" help:"Requests for help per second, in total."`
	Comments         float64       `default:"1" group:"Workshop" help:"Inline comments per second, in total."`
	Churn            float64       `default:"0" group:"Workshop" help:"Attendees per second who lose their connection and reconnect."`
	BurstEvery       time.Duration `default:"0s" group:"Workshop" help:"Time between two bursts of help and comments; 0 for none."`
	Burst            int           `default:"20" group:"Workshop" help:"Number of requests for help, and of comments, in a burst."`
	Regular          bool          `group:"Workshop" help:"Equal intervals between operations instead of a Poisson process."`
	Stalled          float64       `placeholder:"PERCENT" group:"Workshop" help:"Share of attendees who stop reading their socket."`
	Drain            time.Duration `default:"30s" group:"Workshop" help:"Maximum wait for outstanding messages, at the end and while joining."`
	Seed             uint64        `help:"Seed of the random numbers; 0 draws one and prints it."`
}

// workshopCommand is the command line of the workshop scenario.
type workshopCommand struct {
	Attendees int           `default:"1000" help:"Number of attendees."`
	Duration  time.Duration `default:"30s" help:"Measured time."`

	serverFlags
	outputFlags
	workshopFlags
	nodeFaultFlags

	KillEvery time.Duration `placeholder:"DURATION" group:"Workshop" help:"Kill the spawned server with SIGKILL at this interval and start it again."`
}

// chaosCommand is a workshop with repeated server faults.
type chaosCommand struct {
	Attendees int           `default:"300" help:"Number of attendees."`
	Duration  time.Duration `default:"60s" help:"Measured time."`
	Every     time.Duration `default:"8s" help:"Time between two faults."`
	Faults    []string      `default:"kill,pause,restart" help:"Faults to repeat in this order: kill (SIGKILL), pause (SIGSTOP for --pause), restart (SIGTERM), each of any node or with :NODE. With --nodes also cut:A-B, cut:A-B:to, cut:A-B:from, restart-db, roll, upgrade (to --upgrade-to, and back the next time), kill-all."`
	Stages    string        `placeholder:"DURATION@FAULT,…" help:"Faults with a duration each, instead of --faults and --duration, such as 20s@kill:1,30s@pause:2. A fault happens at the start of its time."`
	Pause     time.Duration `default:"500ms" help:"Duration of a pause."`
	CutFor    time.Duration `default:"10s" help:"Duration of a cut."`
	UpgradeTo string        `type:"existingfile" placeholder:"PATH" help:"Server binary of another version, for the fault upgrade; the default is the same binary."`

	serverFlags
	outputFlags
	workshopFlags
}

// Validate is called by kong.
func (w *workshopCommand) Validate() error {
	var err error
	if w.KillEvery > 0 && !w.Spawn {
		err = errors.New("--kill-every needs --spawn")
	}
	return errors.Join(err, w.nodeFaultFlags.check(w.Nodes), w.serverFlags.check(), w.outputFlags.check(w.names()), w.workshopFlags.check(),
		atLeast("attendees", w.Attendees, 1), atLeast("duration", w.Duration, time.Second))
}

// Validate is called by kong.
func (c *chaosCommand) Validate() error {
	var problems []error
	if !c.Spawn {
		problems = append(problems, errors.New("chaos needs --spawn: it harms no server but its own"))
	}
	_, _, err := c.plan()
	problems = append(problems, err, atLeast("cut-for", c.CutFor, time.Millisecond), c.serverFlags.check(), c.outputFlags.check(c.names()), c.workshopFlags.check(), atLeast("attendees", c.Attendees, 1),
		atLeast("duration", c.Duration, time.Second), atLeast("every", c.Every, time.Second), atLeast("pause", c.Pause, time.Millisecond))
	return errors.Join(problems...)
}

func (w *workshopFlags) check() error {
	return errors.Join(atLeast("facilitators", w.Facilitators, 1), atLeast("facilitator-reads", w.FacilitatorReads, 0),
		atLeast("join", w.Join, 0), atLeast("warmup", w.Warmup, 0), atLeast("step-every", w.StepEvery, 0), atLeast("drain", w.Drain, 0),
		atLeast("chat", w.Chat, 0), atLeast("help-rate", w.HelpRate, 0), atLeast("comments", w.Comments, 0), atLeast("stalled", w.Stalled, 0),
		atLeast("churn", w.Churn, 0), atLeast("burst-every", w.BurstEvery, 0), atLeast("burst", w.Burst, 0))
}

// Run is called by kong.
func (w *workshopCommand) Run(ctx context.Context) error {
	cfg, err := w.config(w.Attendees, w.Duration)
	if err != nil {
		return err
	}
	cfg.Faults = faults.Merge(w.plan(w.Nodes, w.Duration), faults.Every(w.KillEvery, w.Duration, faults.Fault{Kind: faults.Kill}))
	cfg.Pause, cfg.Cut = w.PauseFor, w.CutFor
	return holdWorkshop(ctx, &w.serverFlags, &w.outputFlags, cfg, "workshop")
}

// Run is called by kong.
func (c *chaosCommand) Run(ctx context.Context) error {
	plan, duration, err := c.plan()
	if err != nil {
		return err
	}
	cfg, err := c.config(c.Attendees, duration)
	if err != nil {
		return err
	}
	cfg.Faults, cfg.Pause, cfg.Cut, cfg.Upgrade = plan, c.Pause, c.CutFor, c.UpgradeTo
	return holdWorkshop(ctx, &c.serverFlags, &c.outputFlags, cfg, "chaos")
}

// plan returns the planned faults, and the duration of the load.
func (c *chaosCommand) plan() ([]faults.Planned, time.Duration, error) {
	if c.Stages != "" {
		plan, all, err := faults.Stages(c.Stages, c.Nodes)
		if err != nil {
			err = fmt.Errorf("--stages: %w", err)
		}
		return plan, all, err
	}
	var turns []faults.Fault
	for _, text := range c.Faults {
		f, err := faults.Parse(text, c.Nodes)
		if err != nil {
			return nil, 0, fmt.Errorf("--faults: %w", err)
		}
		turns = append(turns, f)
	}
	return faults.Every(c.Every, c.Duration, turns...), c.Duration, nil
}

func holdWorkshop(ctx context.Context, s *serverFlags, o *outputFlags, cfg *workshop.Config, name string) error {
	return hold(ctx, s, o, nil, func(t *bench) (*report.Result, error) {
		cfg.Progress = t.screen.workshop
		r, err := workshop.Run(ctx, cfg, t.Target)
		if err == nil {
			r.Scenario = name
		}
		return r, err
	})
}

// workshop returns the status of a workshop.
func (s *screen) workshop(p workshop.Snapshot) {
	st := status{Phase: p.Phase, Elapsed: p.Elapsed, Done: p.Done, P99: p.Chat.P99, Numbers: []number{
		{"online", fmt.Sprintf("%d/%d", p.Online, p.People)}, {"events", fmt.Sprint(p.Events)}, {"acked", fmt.Sprint(p.Acked)},
	}}
	if p.Chat.Count > 0 {
		st.Numbers = append(st.Numbers, number{"chat p50", fmt.Sprintf("%.1f ms", p.Chat.P50)}, number{"p99", fmt.Sprintf("%.1f ms", p.Chat.P99)})
	}
	s.show(st)
}

func (w *workshopFlags) config(attendees int, duration time.Duration) (*workshop.Config, error) {
	cfg := &workshop.Config{
		Attendees: attendees, Facilitators: w.Facilitators,
		Join: w.Join, Warmup: w.Warmup, Duration: duration, StepEvery: w.StepEvery,
		Chat: w.Chat, Help: w.HelpRate, Comments: w.Comments, Regular: w.Regular,
		Stalled: w.Stalled / 100, Churn: w.Churn, BurstEvery: w.BurstEvery, Burst: w.Burst, FacilitatorReads: w.FacilitatorReads, Drain: w.Drain, Seed: w.Seed, CodelabID: w.CodelabID,
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
