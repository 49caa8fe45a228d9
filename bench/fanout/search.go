//go:build linux

package fanout

import (
	"context"
	"fmt"

	"atelier/bench/broadcast"
	"atelier/bench/report"
)

// search is how far it is known which rate a server keeps up with. Rates are messages a
// second of all publishers.
type search struct {
	// kept is the highest that was, missed the lowest that was not; 0 for none. unsure
	// means that the generator was too slow for the latter.
	kept, missed float64
	unsure       bool
	// doubted was missed once, and is tried again: whatever else a machine does for a
	// moment must not pass for its limit. 0: none.
	doubted float64
}

// closeEnough is by which share the rate that was missed is above the one that was kept
// when the search ends.
const closeEnough = 0.05

// Bounds of the tried rates, in messages per second.
const (
	leastRate = 1
	mostRate  = 10_000_000
)

// note inserts the result of a rate between the known results.
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

// next is the rate of the next step. While nothing was missed it is double the highest rate
// that was kept. While nothing was kept it is half of the lowest that was missed. Then it
// is the middle. It is 0 when the precision is sufficient.
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
	if rate < leastRate || rate > mostRate {
		return 0
	}
	return rate
}

// limit is why the search ends, when this rate is not tried any more.
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

// FindMax searches for the highest rate that judge accepts. It repeats the load test at
// most most times, first with the rate of the configuration. It returns the result of the
// highest rate that passed, or of the lowest when none did, with all steps; the caller
// judges it again. When ctx ends, the search ends with its results so far. An error means
// that there are none.
func FindMax(ctx context.Context, cfg *Config, most int, judge func(*report.Result) error) (*report.Result, error) {
	return findMax(cfg, most, func(c *Config) (*report.Result, error) {
		r, err := Run(ctx, c)
		if err == nil {
			err = judge(r)
		}
		return r, err
	})
}

// findMax is FindMax with a step as a function.
func findMax(cfg *Config, most int, run func(*Config) (*report.Result, error)) (*report.Result, error) {
	var s search
	var found *report.Result
	log := &report.Search{}
	for rate := cfg.Stages[0].Rate; log.LimitedBy == ""; {
		r, err := run(step(cfg, rate, len(log.Steps)+1))
		if err != nil && found == nil {
			return nil, err
		}
		if err != nil {
			// Such as a server that takes no clients any more.
			found.Faults = append(found.Faults, fmt.Sprintf("the step at %g a second could not be run: %v", rate, err))
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
	found.Figures = append(found.Figures, report.Figure{Key: HighestRate, Name: "highest rate", Value: s.kept, Unit: "messages a second"})
	return found, nil
}

// HighestRate is the figure that a search finds.
const HighestRate = "highest_messages_per_second"

// step is a load test at one rate.
func step(cfg *Config, rate float64, number int) *Config {
	c := *cfg
	c.Stages = []broadcast.Stage{{Rate: rate}}
	if cfg.Progress != nil {
		c.Progress = func(p Progress) {
			p.Step, p.Rate = number, rate
			cfg.Progress(p)
		}
	}
	return &c
}
