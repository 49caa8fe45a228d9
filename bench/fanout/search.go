//go:build linux

package fanout

import (
	"context"
	"fmt"

	"atelier/bench/report"
)

// search contains the known bounds of the rate that a server sustains. Rates are in messages per
// second, for all publishers together.
type search struct {
	// kept is the highest successful rate. missed is the lowest failed rate. Each is 0 for none.
	// unsure means that the generator was too slow for missed.
	kept, missed float64
	unsure       bool
	// doubted is a rate that failed once, or 0. It is tried again, so that a brief disturbance of
	// the machine does not count as the server's limit.
	doubted float64
}

// closeEnough is the relative distance between the failed and the successful rate at which the
// search ends.
const closeEnough = 0.05

// Bounds of the tried rates, in messages per second.
const (
	minRate = 1
	maxRate = 10_000_000
)

// note records the result of a rate.
func (s *search) note(rate float64, outcome report.Outcome) {
	switch {
	case outcome == report.Kept:
		s.kept, s.doubted = rate, 0
	case s.doubted != rate:
		s.doubted = rate
	default:
		s.missed, s.unsure, s.doubted = rate, outcome == report.Invalid, 0
	}
}

// next returns the rate of the next step. It repeats a doubted rate. Otherwise, without a failed
// rate, it is double the highest successful one. Without a successful rate it is half of the lowest
// failed one. With both, it is the middle. It is 0 if the precision is sufficient, or if the rate
// would be out of bounds.
func (s *search) next() float64 {
	rate := 0.0
	switch {
	case s.doubted > 0:
		return s.doubted
	case s.missed == 0:
		rate = 2 * s.kept
	case s.kept == 0:
		rate = s.missed / 2
	case s.missed > s.kept*(1+closeEnough):
		rate = (s.kept + s.missed) / 2
	}
	if rate < minRate || rate > maxRate {
		return 0
	}
	return rate
}

// limit returns why the search ends if the rate next is not tried. next is 0 if there is no next
// rate.
func (s *search) limit(next float64) report.Limit {
	switch {
	case s.unsure:
		return report.LimitedByGenerator
	case next > 0:
		return report.LimitedBySteps
	case s.missed == 0:
		return report.LimitedByRange
	}
	return report.LimitedByServer
}

// FindMax searches for the highest rate that judge accepts. most is the maximum number of load
// tests, and the first has the configured rate. FindMax returns the result of the highest
// successful rate, or of the lowest rate if none was successful, with all steps. The caller must
// judge the result again. If ctx ends, the search ends with its results so far. An error means that
// there are no results.
func (c *Config) FindMax(ctx context.Context, most int, judge func(*report.Result) error) (*report.Result, error) {
	return findMax(c, most, func(c *Config) (*report.Result, error) {
		r, err := c.Run(ctx)
		if err == nil {
			err = judge(r)
		}
		return r, err
	})
}

// findMax is FindMax with a function that runs and judges a step.
func findMax(cfg *Config, most int, run func(*Config) (*report.Result, error)) (*report.Result, error) {
	var s search
	var found *report.Result
	log := &report.Search{}
	for rate := cfg.Rate; log.LimitedBy == ""; {
		r, err := run(step(cfg, rate, len(log.Steps)+1))
		if err != nil && found == nil {
			return nil, err
		}
		if err != nil {
			// For example, the server no longer accepts clients.
			found.Faults = append(found.Faults, fmt.Sprintf("the step at %g messages/s could not be run: %v", rate, err))
			s.missed = rate
			log.LimitedBy = report.LimitedByError
			continue
		}
		if r.Interrupted {
			if found == nil {
				found = r
			}
			found.Interrupted, log.LimitedBy = true, report.LimitedByInterruption
			continue
		}
		made := report.NewStep(rate, r)
		log.Steps = append(log.Steps, made)
		if made.Outcome == report.Kept || s.kept == 0 {
			found = r
		}
		s.note(rate, made.Outcome)
		if rate = s.next(); rate == 0 || len(log.Steps) == most {
			log.LimitedBy = s.limit(rate)
		}
	}
	log.HighestRate, log.LowestMissed = s.kept, s.missed
	found.Search, found.About = log, about(cfg)+" or more"
	found.Figures = append(found.Figures, report.Figure{Key: HighestRate, Name: "highest rate", Value: s.kept, Unit: "messages per second"})
	return found, nil
}

// HighestRate is the figure that a search determines.
const HighestRate = "highest_messages_per_second"

// step returns the configuration of a load test at one rate.
func step(cfg *Config, rate float64, number int) *Config {
	c := *cfg
	c.Rate = rate
	if cfg.Progress != nil {
		c.Progress = func(p Progress) {
			p.Step, p.Rate = number, rate
			cfg.Progress(p)
		}
	}
	return &c
}
