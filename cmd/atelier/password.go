package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"atelier/cmd/atelier/service"
)

type passwordCmd struct {
	common
	Reveal bool `help:"Print it even if the output is not a terminal."`
}

// Run prints the owner's password, because a container image has no other program that can read the
// file. A user who can run this command can also read the file.
func (c passwordCmd) Run() error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	if cfg.Admin.Password != "" {
		return errors.New("the owner's password is configured, in ADMIN_PW or admin.password, and is not printed")
	}
	if !c.Reveal && !service.IsTerminal(os.Stdout) {
		return errors.New("the output is not a terminal, and can be stored: add --reveal to print the password anyway")
	}
	password, err := ownersPassword(cfg)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no password yet: the server generates it at its first start (%w)", err)
	}
	if err != nil {
		return err
	}
	fmt.Println(password)
	return nil
}
