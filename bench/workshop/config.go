//go:build linux

package workshop

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"atelier/bench/faults"
	"atelier/bench/pacing"
)

// Config is the configuration of a workshop. The flags of cmd/atelier-bench define the defaults.
type Config struct {
	// Attendees and Facilitators are the numbers of people, at least one each.
	Attendees, Facilitators int
	// Join is the time over which the registrations are spread.
	Join time.Duration
	// Warmup precedes Duration and has the same load. It is audited but not measured.
	Warmup, Duration time.Duration
	// StepEvery is the interval between an attendee's steps; 0 for none.
	StepEvery time.Duration
	// Chat, Help and Comments are the total rates of chat messages, help requests and inline
	// comments, per second.
	Chat, Help, Comments float64
	// Churn is the number of attendees per second who lose their connection and reconnect.
	Churn float64
	// BurstEvery is the interval of bursts, 0 for none: In a burst, Burst people ask for help and
	// Burst people comment, all at the same moment.
	BurstEvery time.Duration
	Burst      int
	// FacilitatorReads is the number of reads per second by facilitators' screens: lists of
	// attendees, help requests, threads and the overview.
	FacilitatorReads float64
	// Regular plans operations at equal intervals instead of as a Poisson process.
	Regular bool
	// Stalled is the fraction of attendees, 0 to 1, who stop reading after the join.
	Stalled float64
	// Faults are injected in the measured time, and their times count from its beginning. Pause is
	// the duration of a server pause, and Cut the duration of a network cut. Upgrade is the program
	// to upgrade to; "" is the servers' own program.
	Faults     []faults.Planned
	Pause, Cut time.Duration
	Upgrade    string
	// Drain is the timeout of each final wait for messages in flight.
	Drain time.Duration
	// Seed determines all random choices.
	Seed uint64

	// CodelabID is an existing codelab, and Markdown is a codelab to import. Without either, a
	// small codelab is created for the run.
	CodelabID string
	Markdown  []byte

	// Votes is a poll in the measured time. The poll divides the measured time into Parts.
	Votes Votes

	// Parts, if positive, divides the measured time. PartOf returns the part of a chat message, 0
	// to Parts-1, or -1 for none. Its argument is the planned time of the message since the
	// beginning. The message's deliveries are counted in the same part.
	Parts  int
	PartOf func(since time.Duration) int
	// Beside, if set, runs on its own goroutine from the beginning of the measured time. Its ctx
	// ends with the measured time.
	Beside func(ctx context.Context)

	// Progress is called about every second from its own goroutine; nil for none.
	Progress func(Snapshot)
}

// maxAttendees keeps a run within the number of files that one process can open (20,000 on the
// intended machines), and within the number of people that one codelab supports.
const maxAttendees = 19_000

func (c *Config) validate() error {
	switch {
	case c.Attendees < 1 || c.Attendees > maxAttendees:
		return fmt.Errorf("attendees: want 1..%d", maxAttendees)
	case c.Facilitators < 1 || c.Facilitators > 100:
		return errors.New("facilitators: want 1..100")
	case c.Duration <= 0 || c.Duration > 24*time.Hour:
		return errors.New("duration: want up to 24h")
	case c.Warmup < 0 || c.Join < 0 || c.StepEvery < 0 || c.Cut < 0 || c.Pause < 0 || c.Drain <= 0:
		return errors.New("times must not be negative")
	case c.Chat < 0 || c.Help < 0 || c.Comments < 0 || c.Churn < 0 || c.FacilitatorReads < 0 || c.Burst < 0 || c.BurstEvery < 0:
		return errors.New("rates must not be negative")
	case c.Stalled < 0 || c.Stalled > 0.9:
		return errors.New("stalled: want at most 90 percent")
	}
	if err := c.Votes.check(c); err != nil {
		return err
	}
	if c.Votes.Count > 0 {
		c.Parts, c.PartOf = votingParts, c.partOfVotes
	}
	return nil
}

// pacer plans one kind of operation of the load.
func (c *Config) pacer(perSecond float64, rng *rand.Rand) pacing.Pacer {
	during := c.Warmup + c.Duration
	if c.Regular {
		return pacing.Uniform(perSecond, during)
	}
	return pacing.Poisson(perSecond, during, rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64())))
}
