//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"time"

	"atelier/bench/clones"
	"atelier/bench/report"
	"atelier/bench/workshop"
)

// clonesCommand is the command line of the clones scenario.
type clonesCommand struct {
	Attendees int           `default:"500" help:"Attendees of the workshop."`
	Duration  time.Duration `default:"2m" help:"Measured time."`

	serverFlags
	outputFlags

	People    int           `default:"300" group:"Clones" help:"Number of simultaneous clones."`
	Line      float64       `default:"125" group:"Clones" help:"Bandwidth that all clones share, in MB/s, as in one room; 0 is unlimited."`
	Every     time.Duration `default:"10s" group:"Clones" help:"Time between two rounds of clones."`
	Settle    time.Duration `default:"1s" group:"Clones" help:"Time after a round of clones that is not measured."`
	Steps     int           `default:"10" group:"Clones" help:"Number of steps, each with a branch for its start and its end."`
	Files     int           `default:"10" group:"Clones" help:"Number of files per branch."`
	FileBytes int           `default:"4096" group:"Clones" help:"Size of a file."`

	Join time.Duration `default:"10s" group:"Workshop" help:"Time over which registrations are spread."`
	Chat float64       `default:"10" group:"Workshop" help:"Chat messages per second, in total."`
	Seed uint64        `help:"Seed of the random numbers; 0 draws one and prints it."`
}

// Validate is called by kong.
func (c *clonesCommand) Validate() error {
	return errors.Join(c.alone("clones"), c.serverFlags.check(), c.outputFlags.check(c.names()), atLeast("attendees", c.Attendees, 1), atLeast("duration", c.Duration, c.Every),
		atLeast("people", c.People, 1), atLeast("line", c.Line, 0), atLeast("every", c.Every, 3*time.Second), atLeast("settle", c.Settle, 0), atLeast("steps", c.Steps, 1), atLeast("files", c.Files, 1), atLeast("file-bytes", c.FileBytes, 1))
}

// Run is called by kong.
func (c *clonesCommand) Run(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cfg := &clones.Config{
		Cloner: []string{self, "cloner"}, People: c.People, Line: c.Line * 1e6, Every: c.Every, Settle: c.Settle, Steps: c.Steps, Files: c.Files, FileBytes: c.FileBytes,
		Workshop: besideWorkshop(c.Attendees, c.Duration, c.Join, c.Chat, c.Seed),
	}
	return hold(ctx, &c.serverFlags, &c.outputFlags, nil, func(t *bench) (*report.Result, error) {
		cfg.Workshop.Progress = t.screen.workshop
		return clones.Run(ctx, cfg, t.Target)
	})
}

// clonerCommand is the process that clones.
type clonerCommand struct{}

// Run is called by kong.
func (clonerCommand) Run(ctx context.Context) error {
	return clones.Serve(ctx, os.Stdin, os.Stdout)
}

// besideWorkshop is a workshop that runs concurrently with another load.
func besideWorkshop(attendees int, duration, join time.Duration, chat float64, seed uint64) workshop.Config {
	return workshop.Config{
		Attendees: attendees, Facilitators: 2, Join: join, Warmup: 2 * time.Second, Duration: duration,
		StepEvery: 20 * time.Second, Chat: chat, Help: 1, Comments: 1, Drain: 30 * time.Second,
		Seed: cmp.Or(seed, uint64(rand.Uint32())),
	}
}
