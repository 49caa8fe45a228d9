//go:build linux

package clones

import (
	"errors"
	"slices"
	"time"

	"atelier/bench/report"
	"atelier/bench/workshop"
)

// Names are the names of the values that a run measures.
var Names = report.Names{Operations: slices.Concat(workshop.Names.Operations, []string{"clone"}), Figures: workshop.Names.Figures}

// Config is the configuration of a run. The flags of cmd/atelier-bench have the defaults.
type Config struct {
	// Workshop is the workshop that runs all the time. The run sets its CodelabID, Parts, PartOf
	// and Beside.
	Workshop workshop.Config
	// Cloner is the command that calls Serve.
	Cloner []string
	// People clone, all at the same moment.
	People int
	// Line is the bytes per second of the line that they share; 0 for no limit.
	Line float64
	// Every is the time from one such moment to the next. The first comes after half
	// of it.
	Every time.Duration
	// Settle is the time after the last of them that is not counted.
	Settle time.Duration
	// Steps have a branch each for their start and their end, and each branch Files of
	// FileBytes.
	Steps, Files, FileBytes int
}

// perPerson is how often per minute somebody clones: less than the server allows.
const perPerson = 20

func (c *Config) validate() error {
	switch {
	case c.People < 1 || c.People > 1000:
		return errors.New("people: want 1..1000")
	case c.Every < time.Minute/perPerson || c.Settle < 0 || c.Settle >= c.Every/2:
		return errors.New("every: want 3s or more, and more than twice what settles")
	case c.Workshop.Duration < c.Every:
		return errors.New("duration: want at least one time")
	case c.Steps < 1 || c.Steps > 50 || c.Files < 1 || c.Files > 100 || c.FileBytes < 1 || c.FileBytes > 1<<20:
		return errors.New("code: want 1..50 steps, 1..100 files of at most 1 MiB")
	}
	return nil
}

// The parts of a run.
const (
	resting = iota
	cloning
	parts
)
