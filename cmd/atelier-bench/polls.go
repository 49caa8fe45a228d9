//go:build linux

package main

import (
	"context"
	"errors"
	"time"

	"atelier/bench/workshop"
)

// pollsCommand is a workshop with voting attendees. The chat is measured before and during the
// votes.
type pollsCommand struct {
	Attendees int           `default:"1000" help:"Number of attendees."`
	Duration  time.Duration `default:"30s" help:"Measured time; the votes come at its end."`

	Votes  int           `default:"500" group:"Polls" help:"Number of voters; each votes once."`
	Within time.Duration `default:"10s" group:"Polls" help:"Time over which the votes are spread."`

	serverFlags
	outputFlags
	workshopFlags
}

// Validate is called by kong.
func (p *pollsCommand) Validate() error {
	return errors.Join(p.alone("polls"), p.serverFlags.check(), p.outputFlags.check(p.names()), p.workshopFlags.check(),
		atLeast("attendees", p.Attendees, 1), atLeast("votes", p.Votes, 1), atLeast("within", p.Within, time.Second), atLeast("duration", p.Duration, time.Second))
}

// Run is called by kong.
func (p *pollsCommand) Run(ctx context.Context) error {
	cfg, err := p.config(p.Attendees, p.Duration)
	if err != nil {
		return err
	}
	cfg.Votes = workshop.Votes{Count: p.Votes, Within: p.Within}
	return holdWorkshop(ctx, &p.serverFlags, &p.outputFlags, cfg, "polls")
}
