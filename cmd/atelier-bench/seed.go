//go:build linux

package main

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// seeded returns a command line with --seed added, unless it has a seed or its scenario has no such
// flag. A profile is expanded first, because it can contain a seed.
func seeded(args []string, seed string) ([]string, error) {
	if len(args) > 1 && args[0] == "run" {
		expanded, err := expand(args[1], args[2:])
		if err != nil {
			return nil, err
		}
		args = expanded
	}
	parser, err := kong.New(&commands{})
	if err != nil || len(args) == 0 {
		return args, err
	}
	named := slices.ContainsFunc(args, func(arg string) bool { return arg == "--seed" || strings.HasPrefix(arg, "--seed=") })
	takes := slices.ContainsFunc(parser.Model.Children, func(n *kong.Node) bool {
		return n.Name == args[0] && slices.ContainsFunc(n.Flags, func(f *kong.Flag) bool { return f.Name == "seed" })
	})
	if named || !takes {
		return args, nil
	}
	return slices.Concat(args, []string{"--seed", seed}), nil
}
