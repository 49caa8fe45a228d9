//go:build linux

package uploads

import (
	"errors"
	"slices"
	"time"

	"atelier/bench/report"
	"atelier/bench/workshop"
)

// Names lists the values that a run measures. The names of uploads include their size.
var Names = report.Names{Operations: slices.Concat(workshop.Names.Operations, []string{"upload_*"}), Figures: workshop.Names.Figures}

// Config is the configuration of a run. The flags of cmd/atelier-bench define the defaults.
type Config struct {
	// Workshop is the workshop that runs the whole time. The run sets its Parts, PartOf and Beside.
	Workshop workshop.Config
	// Phase is the length of a phase with uploads, and of the pause after it. The run begins with a
	// pause. With an even number of phases, uploads and pauses get the same time.
	Phase time.Duration
	// Settle is the time at the beginning of each phase that is not measured.
	Settle time.Duration
	// Small and Large are the numbers of small and large uploads per second in a phase with uploads.
	Small, Large float64
	// SmallBytes and LargeBytes are the sizes of these uploads.
	SmallBytes, LargeBytes int
	// AtOnce is the maximum number of uploads in progress. Uploads beyond it are not started.
	AtOnce int
	// Weigh is the interval at which the server's memory is measured.
	Weigh time.Duration
}

// perSession is the number of uploads per minute of one attendee. It is below the server's limit.
const perSession = 40

func (c *Config) validate() error {
	switch {
	case c.Phase <= 0 || c.Settle < 0 || c.Settle >= c.Phase:
		return errors.New("phase: want more than the settling time")
	case c.Workshop.Duration < 2*c.Phase:
		return errors.New("duration: want at least two phases")
	case c.Small < 0 || c.Large < 0 || c.Small+c.Large <= 0 || c.Small+c.Large > 200:
		return errors.New("rates: want up to 200 uploads per second")
	case c.SmallBytes < 16 || c.LargeBytes < 16 || c.SmallBytes > 10<<20 || c.LargeBytes > 10<<20:
		return errors.New("sizes: want 16 bytes to 10 MiB")
	case c.AtOnce < 1 || c.AtOnce > 512:
		return errors.New("at once: want 1 to 512")
	case c.Weigh <= 0:
		return errors.New("weigh: want a positive duration")
	}
	return nil
}

// These are the parts of a run.
const (
	resting = iota
	uploading
	parts
)

// phase returns the phase at a given time since the beginning of the measured time.
func (c *Config) phase(since time.Duration) int { return int(since/c.Phase) % parts }

// partOf is like phase, but returns -1 during settling.
func (c *Config) partOf(since time.Duration) int {
	if since < 0 || since%c.Phase < c.Settle {
		return -1
	}
	return c.phase(since)
}

// sessions returns the number of attendees who upload. Each uploads one file at a time.
func (c *Config) sessions() int {
	return max(16, int((c.Small+c.Large)*60/perSession)+1)
}
