package main

import (
	"fmt"
	"os"

	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/service"
)

type checkconfigCmd struct{ common }

// Run prints the effective configuration to standard output, without secrets, and warnings to
// standard error.
func (c checkconfigCmd) Run() error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	warnings, err := cfg.Check()
	if err != nil {
		return err
	}
	more, err := service.Check(cfg)
	if err != nil {
		return err
	}
	warnings = append(warnings, more...)
	if err := config.Write(os.Stdout, cfg); err != nil {
		return err
	}
	for _, w := range warnings {
		fmt.Fprintln(os.Stderr, "warning:", w)
	}
	fmt.Fprintln(os.Stderr, "the configuration is fine")
	return nil
}
