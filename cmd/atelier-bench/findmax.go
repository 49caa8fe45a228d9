//go:build linux

package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"atelier/bench/fanout"
	"atelier/bench/report"
)

// stepLasts is the default duration of a step of a search.
const stepLasts = 10 * time.Second

// eachConnects limits the time over which a step opens its connections: this duration per
// connection. It is short, because a search has many steps.
const eachConnects = time.Millisecond / 2

// search completes and checks the flags for --find-max.
func (c *fanoutCommand) search() error {
	if c.Duration == nil {
		lasts := stepLasts
		c.Duration = &lasts
	}
	c.steps = c.Steps
	c.Connect = min(c.Connect, time.Duration(c.Subscribers+c.Publishers)*eachConnects)
	var err error
	if len(c.Stages) > 0 || c.Rate == 0 {
		err = errors.New("--find-max begins with a --rate above 0, and has no --stages")
	}
	limits, wrong := c.limits()
	if wrong == nil && len(eachStep(limits).Thresholds) == 0 {
		wrong = errors.New("--find-max needs a --threshold that a step can miss, such as p99<50ms")
	}
	return errors.Join(err, wrong, atLeast("steps", c.Steps, 1))
}

// eachStep returns the limits for each step of a search: all except those on the result of the
// search.
func eachStep(limits *report.Limits) *report.Limits {
	l := *limits
	l.Thresholds = slices.DeleteFunc(slices.Clone(l.Thresholds), func(t report.Threshold) bool {
		return t.Of() == "search" || t.Of() == fanout.HighestRate
	})
	return &l
}

// carryOut runs a scenario or a search.
func (b *broadcastFlags) carryOut(ctx context.Context) (*report.Result, error) {
	if b.steps == 0 {
		return b.Config.Run(ctx)
	}
	limits, err := b.limits()
	if err != nil {
		return nil, err
	}
	return b.FindMax(ctx, b.steps, func(r *report.Result) error { return r.Judge(eachStep(limits)) })
}
