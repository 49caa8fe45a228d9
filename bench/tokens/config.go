//go:build linux

package tokens

import (
	"errors"
	"fmt"
	"time"

	"atelier/bench/faults"
	"atelier/bench/pacing"
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

// Config is the configuration of a run. The fields with a help text are flags of cmd/atelier-bench.
type Config struct {
	Rate        float64       `default:"8000" help:"Pairs of tokenize and detokenize per second; 0 is unthrottled."`
	Duration    time.Duration `default:"20s" help:"Measured time; 0 for no load."`
	Warmup      time.Duration `default:"3s" help:"Load before the measured time."`
	Connections int           `default:"256" help:"Number of connections."`

	Participants int           `default:"16" group:"Tokens" help:"Number of platforms, and of businesses; each has its own rate limit."`
	Reuse        float64       `default:"1" placeholder:"PERCENT" group:"Tokens" help:"Share of tokens that two callers use concurrently; exactly one must get the credential."`
	Live         int           `group:"Tokens" help:"Number of tokens to keep alive: measure the server with them, restart it, and let all expire within a minute. Needs --spawn."`
	LiveFor      time.Duration `default:"5m" group:"Tokens" help:"Minimum lifetime of these tokens."`

	// Faults are injected in the measured time, and their times count from its beginning. Pause is
	// the duration of a server pause. Cut is the duration of a network cut.
	Faults     []faults.Planned `kong:"-"`
	Pause, Cut time.Duration    `kong:"-"`
	// Progress is called with a line of text when the run's activity changes; nil for none.
	Progress func(line string) `kong:"-"`
}

// Check refuses invalid values.
func (c *Config) Check() error {
	switch {
	case c.Connections < 1 || c.Connections > 4096:
		return errors.New("connections must be 1 to 4096")
	case c.Participants < 1 || c.Participants > 1000:
		return errors.New("participants must be 1 to 1000")
	case !pacing.IsRate(c.Rate) || c.Duration < 0 || c.Warmup < 0:
		return errors.New("rate, duration and warmup must be finite and not negative")
	case c.Reuse < 0 || c.Reuse > 100:
		return errors.New("reuse must be 0 to 100 percent")
	case c.Live < 0 || c.Live > 10_000_000:
		return errors.New("live must be 0 to 10,000,000")
	case c.Live > 0 && (c.LiveFor < 2*time.Minute || c.LiveFor > 30*time.Minute):
		return errors.New("live-for must be 2m to 30m")
	case c.Live > 0 && c.liveUntil() > maxLife:
		return fmt.Errorf("live-for: with %d tokens, their creation takes about %v, and the sum must be at most %v", c.Live, c.liveUntil()-c.LiveFor, maxLife)
	}
	return nil
}

// maxLife is the maximum lifetime of a token with the policy ttl.
const maxLife = 30 * time.Minute

// liveUntil is the time from the beginning of the creation to the expiry of the live tokens. It
// allows for the creation of 8,000 tokens per second.
func (c *Config) liveUntil() time.Duration {
	return c.LiveFor + time.Duration(c.Live/8000)*time.Second
}
