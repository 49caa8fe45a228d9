//go:build linux

package main

import (
	"context"
	"errors"
	"time"

	"atelier/bench/report"
	"atelier/bench/uploads"
)

// uploadsCommand is the command line of the uploads scenario.
type uploadsCommand struct {
	Attendees int           `default:"500" help:"Attendees of the workshop."`
	Duration  time.Duration `default:"2m" help:"Measured time; must hold an even number of phases."`

	serverFlags
	outputFlags

	Phase      time.Duration `default:"10s" group:"Uploads" help:"Length of a phase: phases with and without uploads alternate."`
	Settle     time.Duration `default:"1s" group:"Uploads" help:"Time at the start of each phase that is not measured."`
	Small      float64       `default:"4" group:"Uploads" help:"Small uploads per second."`
	Large      float64       `default:"0.5" group:"Uploads" help:"Large uploads per second."`
	SmallBytes int           `default:"1048576" group:"Uploads" help:"Size of a small upload."`
	LargeBytes int           `default:"10485760" group:"Uploads" help:"Size of a large upload."`
	AtOnce     int           `default:"64" group:"Uploads" help:"Maximum number of uploads in progress."`

	Join time.Duration `default:"10s" group:"Workshop" help:"Time over which registrations are spread."`
	Chat float64       `default:"10" group:"Workshop" help:"Chat messages per second, in total."`
	Seed uint64        `help:"Seed of the random numbers; 0 draws one and prints it."`
}

// Validate is called by kong.
func (u *uploadsCommand) Validate() error {
	return errors.Join(u.alone("uploads"), u.serverFlags.check(), u.outputFlags.check(u.names()), atLeast("attendees", u.Attendees, 1), atLeast("duration", u.Duration, 2*u.Phase), atLeast("phase", u.Phase, time.Second),
		atLeast("small", u.Small, 0), atLeast("large", u.Large, 0), atLeast("small-bytes", u.SmallBytes, 1), atLeast("large-bytes", u.LargeBytes, 1), atLeast("at-once", u.AtOnce, 1))
}

// Run is called by kong.
func (u *uploadsCommand) Run(ctx context.Context) error {
	cfg := &uploads.Config{
		Phase: u.Phase, Settle: u.Settle, Small: u.Small, Large: u.Large, SmallBytes: u.SmallBytes, LargeBytes: u.LargeBytes,
		AtOnce: u.AtOnce, Weigh: time.Second,
		Workshop: besideWorkshop(u.Attendees, u.Duration, u.Join, u.Chat, u.Seed),
	}
	return hold(ctx, &u.serverFlags, &u.outputFlags, nil, func(t *bench) (*report.Result, error) {
		cfg.Workshop.Progress = t.screen.workshop
		return uploads.Run(ctx, cfg, t.Target)
	})
}
