//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"text/tabwriter"

	"atelier/bench/profiles"
)

// runCommand exists only for the help text. [expand] replaces it by the profile's own command
// line before kong parses the command line.
type runCommand struct {
	Profile string   `arg:"" help:"Name of an included profile, or a TOML file."`
	Flags   []string `arg:"" optional:"" passthrough:"" help:"Flags of its scenario; they override the profile."`
}

// Run is called by kong if a flag precedes the name of the profile: [run] expands no such
// command line.
func (c *runCommand) Run() error {
	return errors.New("a profile must follow 'run', before all flags")
}

// expand returns the command line of a profile, with further arguments.
func expand(name string, more []string) ([]string, error) {
	p, err := profiles.Load(name)
	if err != nil {
		return nil, err
	}
	if p.Scenario == "run" {
		return nil, fmt.Errorf("profile %s has the scenario run: a profile cannot run another profile", name)
	}
	return p.Args(more), nil
}

// profilesCommand lists the profiles.
type profilesCommand struct{}

// Run is called by kong.
func (profilesCommand) Run() error {
	all, err := profiles.Included()
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, p := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\n", p.Name, p.Scenario, p.Description)
	}
	return t.Flush()
}
