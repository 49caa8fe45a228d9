//go:build linux

package main

import (
	"context"
	"errors"
	"os"

	"atelier/bench/beside"
)

// uploadsCommand measures a workshop with and without other people who submit files.
type uploadsCommand struct {
	beside.Uploads
	serverFlags
	outputFlags
}

// Validate is called by kong.
func (u *uploadsCommand) Validate() error {
	return errors.Join(u.singleServer("uploads"), u.serverFlags.check(), u.outputFlags.check(u.names()), u.Check())
}

// Run is called by kong.
func (u *uploadsCommand) Run(ctx context.Context) error {
	return runWorkshop(ctx, &u.serverFlags, &u.outputFlags, &u.Config, u.Uploads.Run)
}

// clonesCommand measures a workshop with and without hundreds of Git clients that clone the code.
type clonesCommand struct {
	beside.Clones
	serverFlags
	outputFlags
}

// Validate is called by kong.
func (c *clonesCommand) Validate() error {
	return errors.Join(c.singleServer("clones"), c.serverFlags.check(), c.outputFlags.check(c.names()), c.Check())
}

// Run is called by kong.
func (c *clonesCommand) Run(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c.Cloner = []string{self, "cloner"}
	return runWorkshop(ctx, &c.serverFlags, &c.outputFlags, &c.Config, c.Clones.Run)
}

// clonerCommand is the child process of clonesCommand that runs the Git clients.
type clonerCommand struct{}

// Run is called by kong.
func (clonerCommand) Run(ctx context.Context) error {
	return beside.ServeClones(ctx, os.Stdin, os.Stdout)
}

// pollsCommand measures a workshop before and while its attendees vote in a poll.
type pollsCommand struct {
	beside.Polls
	serverFlags
	outputFlags
}

// Validate is called by kong.
func (p *pollsCommand) Validate() error {
	return errors.Join(p.singleServer("polls"), p.serverFlags.check(), p.outputFlags.check(p.names()), p.Check())
}

// Run is called by kong.
func (p *pollsCommand) Run(ctx context.Context) error {
	return runWorkshop(ctx, &p.serverFlags, &p.outputFlags, &p.Config, p.Polls.Run)
}
