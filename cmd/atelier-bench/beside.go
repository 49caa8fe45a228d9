//go:build linux

package main

import (
	"context"
	"errors"
	"os"

	"atelier/bench/beside"
)

// uploadsCommand is a workshop in which people submit files.
type uploadsCommand struct {
	beside.Uploads
	serverFlags
	outputFlags
}

// Validate is called by kong.
func (u *uploadsCommand) Validate() error {
	return errors.Join(u.alone("uploads"), u.serverFlags.check(), u.outputFlags.check(u.names()), u.Check())
}

// Run is called by kong.
func (u *uploadsCommand) Run(ctx context.Context) error {
	return holdWorkshop(ctx, &u.serverFlags, &u.outputFlags, &u.Config, u.Uploads.Run)
}

// clonesCommand is a workshop in which many clone the code.
type clonesCommand struct {
	beside.Clones
	serverFlags
	outputFlags
}

// Validate is called by kong.
func (c *clonesCommand) Validate() error {
	return errors.Join(c.alone("clones"), c.serverFlags.check(), c.outputFlags.check(c.names()), c.Check())
}

// Run is called by kong.
func (c *clonesCommand) Run(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c.Cloner = []string{self, "cloner"}
	return holdWorkshop(ctx, &c.serverFlags, &c.outputFlags, &c.Config, c.Clones.Run)
}

// clonerCommand is the process that clones.
type clonerCommand struct{}

// Run is called by kong.
func (clonerCommand) Run(ctx context.Context) error {
	return beside.ServeClones(ctx, os.Stdin, os.Stdout)
}

// pollsCommand is a workshop with a poll.
type pollsCommand struct {
	beside.Polls
	serverFlags
	outputFlags
}

// Validate is called by kong.
func (p *pollsCommand) Validate() error {
	return errors.Join(p.alone("polls"), p.serverFlags.check(), p.outputFlags.check(p.names()), p.Check())
}

// Run is called by kong.
func (p *pollsCommand) Run(ctx context.Context) error {
	return holdWorkshop(ctx, &p.serverFlags, &p.outputFlags, &p.Config, p.Polls.Run)
}
