//go:build linux

package workshop

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"atelier/bench/api"
	"atelier/bench/faults"
	"atelier/bench/pacing"
)

// Config is the configuration of a workshop. The fields with a help text are flags of
// cmd/atelier-bench. A command that embeds Config sets the variables in its defaults.
type Config struct {
	Attendees int           `default:"${attendees}" help:"Number of attendees."`
	Duration  time.Duration `default:"${duration}" help:"Measured time."`

	Codelab   string `type:"existingfile" xor:"codelab" placeholder:"FILE.md" group:"Workshop" help:"Markdown file to import; the default is a small built-in codelab."`
	CodelabID string `xor:"codelab" placeholder:"ID" group:"Workshop" help:"Existing codelab to use; nobody else should use it during the run."`

	Facilitators     int           `default:"2" group:"Workshop" help:"Number of facilitators; each receives all progress and all requests for help."`
	FacilitatorReads float64       `default:"${reads}" group:"Workshop" help:"Lists that facilitators read per second, in total."`
	Join             time.Duration `default:"${join}" group:"Workshop" help:"Time over which registrations are spread."`
	Warmup           time.Duration `default:"2s" group:"Workshop" help:"Time of load before the measured time; audited, not measured."`
	StepEvery        time.Duration `default:"20s" group:"Workshop" help:"Time between two steps of one attendee; 0 for none."`
	Chat             float64       `default:"10" group:"Workshop" help:"Chat messages per second, in total."`
	Help             float64       `name:"help-rate" default:"1" group:"Workshop" help:"Requests for help per second, in total."`
	Comments         float64       `default:"1" group:"Workshop" help:"Inline comments per second, in total."`
	Churn            float64       `default:"0" group:"Workshop" help:"Attendees per second who lose their connection and reconnect."`
	BurstEvery       time.Duration `default:"0s" group:"Workshop" help:"Time between two bursts of help and comments; 0 for none."`
	Burst            int           `default:"20" group:"Workshop" help:"Number of requests for help, and of comments, in a burst."`
	Regular          bool          `group:"Workshop" help:"Equal intervals between operations instead of a Poisson process."`
	Stalled          float64       `placeholder:"PERCENT" group:"Workshop" help:"Share of attendees who stop reading their socket."`
	Drain            time.Duration `default:"30s" group:"Workshop" help:"Maximum wait for outstanding messages, at the end and while joining."`
	Seed             uint64        `help:"Seed of the random numbers; 0 draws one and prints it."`

	// Scenario is the name of the scenario in the report.
	Scenario string `kong:"-"`
	// Faults are injected in the measured time, and their times count from its beginning. Pause is
	// the duration of a server pause, and Cut the duration of a network cut. Upgrade is the program
	// to upgrade to; "" means the servers' current program.
	Faults     []faults.Planned `kong:"-"`
	Pause, Cut time.Duration    `kong:"-"`
	Upgrade    string           `kong:"-"`

	// Parts is the number of parts of the measured time whose latencies are also reported
	// separately; 0 for none. PartOf returns the part of a chat message, 0 to Parts-1, or -1 if the
	// message is in none of them. Its argument is the planned time of the message since the
	// beginning of the measured time. The message's deliveries are counted in the same part.
	Parts  int                           `kong:"-"`
	PartOf func(since time.Duration) int `kong:"-"`
	// Beside, if set, runs on its own goroutine from the beginning of the measured time. Its ctx
	// ends with the measured time.
	Beside func(context.Context, *Live) `kong:"-"`
	// Unstored, if set, is called for each message to a facilitator that the server does not store,
	// such as the counts of a poll. It runs on the goroutine of the socket loop.
	Unstored func(facilitator int, kind string) `kong:"-"`

	// Progress is called about every second from its own goroutine; nil for none.
	Progress func(Snapshot) `kong:"-"`
}

// Live is the workshop at the beginning of the measured time.
type Live struct {
	Began   time.Time
	Codelab string
	// Facilitator is the login of a facilitator. People are the attendees who have joined, except
	// those who do not read.
	Facilitator api.Session
	People      []api.Person
}

// maxAttendees is the maximum number of attendees. It is below the number of files that one process
// can open (20,000 on the reference machine), and the number of people that one codelab supports.
const maxAttendees = 19_000

// Check refuses invalid values.
func (c *Config) Check() error {
	switch {
	case c.Attendees < 1 || c.Attendees > maxAttendees:
		return fmt.Errorf("attendees: want 1..%d", maxAttendees)
	case c.Facilitators < 1 || c.Facilitators > 100:
		return errors.New("facilitators: want 1..100")
	case c.Duration <= 0 || c.Duration > 24*time.Hour:
		return errors.New("duration: want up to 24h")
	case c.Warmup < 0 || c.Join < 0 || c.StepEvery < 0 || c.Cut < 0 || c.Pause < 0:
		return errors.New("times must not be negative")
	case c.Drain <= 0:
		return errors.New("drain: want more than 0")
	case !pacing.IsRate(c.Chat) || !pacing.IsRate(c.Help) || !pacing.IsRate(c.Comments) || !pacing.IsRate(c.Churn) || !pacing.IsRate(c.FacilitatorReads):
		return errors.New("rates must be finite and not negative")
	case c.Burst < 0 || c.BurstEvery < 0:
		return errors.New("bursts must not be negative")
	case !(c.Stalled >= 0 && c.Stalled <= 90): // also refuses NaN
		return errors.New("stalled: want at most 90 percent")
	}
	return nil
}

// DrawSeed draws a seed if there is none.
func (c *Config) DrawSeed() {
	if c.Seed == 0 {
		c.Seed = uint64(rand.Uint32())
	}
}

// pacer plans one kind of operation of the load.
func (c *Config) pacer(perSecond float64, rng *rand.Rand) pacing.Pacer {
	during := c.Warmup + c.Duration
	if c.Regular {
		return pacing.Uniform(perSecond, during)
	}
	return pacing.Poisson(perSecond, during, rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64())))
}
