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
	// People is the number of attendees who clone at the same moment.
	People int
	// Line is the bandwidth of the line that they share, in bytes per second; 0 for no limit.
	Line float64
	// Every is the interval of these moments. The first is after half an interval.
	Every time.Duration
	// Settle is the time after the last clone of a moment that does not count.
	Settle time.Duration
	// Steps each have a branch for their start and one for their end. Each branch has Files files
	// of FileBytes.
	Steps, Files, FileBytes int
}

// perPerson is how often per minute a person clones: less than the server's limit.
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

// Parts of a run.
const (
	resting = iota
	cloning
	parts
)
