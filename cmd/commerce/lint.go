package main

import (
	"context"

	"atelier/transport/commerce/lint"
)

type lintCmd struct {
	Paths  []string `arg:"" name:"path" help:"Files, or folders to search for *.json."`
	As     string   `help:"Side of the profiles: ${enum}. Default: detected from each profile." enum:",business,platform" default:"" placeholder:"SIDE"`
	Strict bool     `help:"Fail on warnings and advice, too."`
	Format string   `help:"Output format: ${enum}." enum:"${formats}" default:"text"`
	Remote bool     `help:"Fetch referenced schemas by URL."`
}

// Run lints schemas. Unreadable paths take precedence over findings, because the run was
// incomplete.
func (c lintCmd) Run(ctx context.Context, s streams) error {
	r, err := lint.Files(ctx, c.Paths, lint.Options{Fetcher: fetcher(c.Remote), As: lint.Side(c.As)})
	if err != nil {
		return err
	}
	if err := r.Write(s.out, c.Format); err != nil {
		return err
	}
	if r.Unreadable {
		return failure{code: exitIO}
	}
	if r.Failed(c.Strict) {
		return findings()
	}
	return nil
}
