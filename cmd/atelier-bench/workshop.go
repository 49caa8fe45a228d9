//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"atelier/bench/faults"
	"atelier/bench/report"
	"atelier/bench/server"
	"atelier/bench/workshop"
)

// workshopCommand is the command line of the workshop scenario.
type workshopCommand struct {
	workshop.Config `kong:"set=attendees=1000,set=duration=30s,set=join=20s,set=reads=1"`
	serverFlags
	outputFlags
	nodeFaultFlags

	KillEvery time.Duration `placeholder:"DURATION" group:"Workshop" help:"Kill the spawned server with SIGKILL at this interval and start it again."`
}

// chaosCommand is a workshop with repeated server faults.
type chaosCommand struct {
	workshop.Config `kong:"set=attendees=300,set=duration=60s,set=join=20s,set=reads=1"`

	Every     time.Duration `default:"8s" help:"Time between two faults."`
	Faults    []string      `default:"kill,pause,restart" help:"Faults to repeat in this order: kill (SIGKILL), pause (SIGSTOP for --pause), restart (SIGTERM). Each affects any node, or with :NODE that node. With --nodes also cut:A-B, cut:A-B:to, cut:A-B:from, restart-db, roll, upgrade (to --upgrade-to, and back the next time), kill-all."`
	Stages    string        `placeholder:"DURATION@FAULT,…" help:"Faults with a duration each, instead of --faults and --duration, such as 20s@kill:1,30s@pause:2. A fault happens at the start of its time."`
	Pause     time.Duration `default:"500ms" help:"Duration of a pause."`
	CutFor    time.Duration `default:"10s" help:"Duration of a cut."`
	UpgradeTo string        `type:"existingfile" placeholder:"PATH" help:"Server binary of another version, for the fault upgrade; the default is the same binary."`

	serverFlags
	outputFlags
}

// Validate is called by kong.
func (w *workshopCommand) Validate() error {
	var err error
	if w.KillEvery > 0 && !w.Spawn {
		err = errors.New("--kill-every needs --spawn")
	}
	return errors.Join(err, w.nodeFaultFlags.check(w.Nodes), w.serverFlags.check(), w.outputFlags.check(w.names()), w.Check())
}

// Validate is called by kong.
func (c *chaosCommand) Validate() error {
	var problems []error
	if !c.Spawn {
		problems = append(problems, errors.New("chaos needs --spawn: it injects faults only into servers that it starts"))
	}
	_, _, err := c.plan()
	problems = append(problems, err, atLeast("cut-for", c.CutFor, time.Millisecond), c.serverFlags.check(), c.outputFlags.check(c.names()), c.Check(),
		atLeast("every", c.Every, time.Second), atLeast("pause", c.Pause, time.Millisecond))
	return errors.Join(problems...)
}

// Run is called by kong.
func (w *workshopCommand) Run(ctx context.Context) error {
	cfg := &w.Config
	cfg.Faults = faults.Merge(w.plan(w.Nodes, w.Duration), faults.Every(w.KillEvery, w.Duration, faults.Fault{Kind: faults.Kill}))
	cfg.Pause, cfg.Cut = w.PauseFor, w.CutFor
	return runWorkshop(ctx, &w.serverFlags, &w.outputFlags, cfg, cfg.Run)
}

// Run is called by kong.
func (c *chaosCommand) Run(ctx context.Context) error {
	plan, duration, err := c.plan()
	if err != nil {
		return err
	}
	cfg := &c.Config
	cfg.Scenario, cfg.Duration, cfg.Faults, cfg.Pause, cfg.Cut, cfg.Upgrade = "chaos", duration, plan, c.Pause, c.CutFor, c.UpgradeTo
	return runWorkshop(ctx, &c.serverFlags, &c.outputFlags, cfg, cfg.Run)
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

// runWorkshop runs a scenario with a workshop.
func runWorkshop(ctx context.Context, s *serverFlags, o *outputFlags, cfg *workshop.Config, scenario func(context.Context, *server.Target) (*report.Result, error)) error {
	return hold(ctx, s, o, nil, func(t *bench) (*report.Result, error) {
		cfg.Progress = t.screen.workshop
		return scenario(ctx, t.Target)
	})
}

// workshop shows the progress of a workshop.
func (s *screen) workshop(p workshop.Snapshot) {
	st := status{Phase: p.Phase, Elapsed: p.Elapsed, Done: p.Done, P99: p.Chat.P99, Numbers: []number{
		{"online", fmt.Sprintf("%d/%d", p.Online, p.People)}, {"events", fmt.Sprint(p.Events)}, {"acked", fmt.Sprint(p.Acked)},
	}}
	if p.Chat.Count > 0 {
		st.Numbers = append(st.Numbers, number{"chat p50", fmt.Sprintf("%.1f ms", p.Chat.P50)}, number{"p99", fmt.Sprintf("%.1f ms", p.Chat.P99)})
	}
	s.show(st)
}
