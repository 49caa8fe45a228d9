//go:build linux

package tokens

import (
	"errors"
	"time"

	"atelier/bench/faults"
	"atelier/bench/report"
)

// Names lists the values that a run measures.
var Names = report.Names{
	Operations: named(),
	Figures: []string{
		"pairs_per_second", "raced", "live_tokens", "live_rss", "live_peak_rss", "minted_per_second",
		"restarted_ms", "restarted_rss", "expiry_cores", "expiry_goroutines", "idle_cores", "idle_goroutines",
	},
}

// Config is the configuration of a run.
type Config struct {
	// Rate is the number of pairs per second. With 0, the load is unthrottled.
	Rate             float64
	Connections      int
	Warmup, Duration time.Duration
	// Reuse is the fraction of tokens, 0 to 1, that two callers use concurrently.
	Reuse float64
	// Participants is the number of platforms, and also of businesses. Each has its own rate limit.
	Participants int
	// Live is the number of tokens that are created before the load and left unused. They expire
	// together.
	Live int
	// LiveFor is the minimum lifetime of these tokens.
	LiveFor time.Duration
	// Faults are injected in the measured time, and their times count from its beginning. Pause is
	// the duration of a server pause, and Cut the duration of a network cut.
	Faults     []faults.Planned
	Pause, Cut time.Duration
	// Progress is called occasionally with a progress line; nil for none.
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
