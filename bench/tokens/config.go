//go:build linux

package tokens

import (
	"errors"
	"time"

	"atelier/bench/faults"
	"atelier/bench/report"
)

// Names are what a run measures.
var Names = report.Names{
	Operations: named(),
	Figures: []string{
		"pairs_per_second", "raced", "live_tokens", "live_rss", "live_peak_rss", "minted_per_second",
		"restarted_ms", "restarted_rss", "expiry_cores", "expiry_goroutines", "idle_cores", "idle_goroutines",
	},
}

// Config of a run.
type Config struct {
	// Rate is pairs a second; 0 is as many as there are connections for.
	Rate             float64
	Connections      int
	Warmup, Duration time.Duration
	// Reuse is the share of tokens, 0..1, that two callers use at once.
	Reuse float64
	// Participants is how many platforms, and as many businesses, take part;
	// each has a rate limit of its own.
	Participants int
	// Live tokens are made and left before the load; they expire together.
	Live int
	// LiveFor is how long they live, at least.
	LiveFor time.Duration
	// Faults are done to the servers in the measured time, from whose beginning
	// they count. Pause is how long a paused server stands, Cut how long a cut
	// lasts.
	Faults     []faults.Planned
	Pause, Cut time.Duration
	// Progress gets a line now and then; nil for none.
	Progress func(line string)
}

func (c *Config) validate() error {
	switch {
	case c.Connections < 1 || c.Connections > 4096:
		return errors.New("connections must be 1 to 4096")
	case c.Participants < 1 || c.Participants > 1000:
		return errors.New("participants must be 1 to 1000")
	case c.Rate < 0 || c.Reuse < 0 || c.Reuse > 1:
		return errors.New("rate and reuse must not be negative, and reuse at most all")
	case c.Live < 0 || c.Live > 10_000_000:
		return errors.New("live must be 0 to 10,000,000")
	case c.Live > 0 && (c.LiveFor < 2*time.Minute || c.LiveFor > 30*time.Minute):
		return errors.New("live-for must be 2m to 30m")
	}
	return nil
}
