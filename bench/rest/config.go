//go:build linux

package rest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"atelier/bench/report"
)

// Names are the names of the values that a run measures.
var Names = report.Names{
	Operations: []string{"read_*", "write_*", "request"},
	Figures:    []string{"requests_per_second", "reads_per_second", "writes_per_second", "forgotten"},
}

// Config is the configuration of a run.
type Config struct {
	// Attendees are registered before the load.
	Attendees int
	// Reading and Writing are the two sides of the load.
	Reading, Writing Side
	// ReadKinds and WriteKinds are the kinds of requests, in turn; see Reads and Writes.
	ReadKinds, WriteKinds []string
	// Warmup and Duration are those of a load by time; with counts they are ignored.
	Warmup, Duration time.Duration
	Seed             uint64
	// Compressed requests compressed answers.
	Compressed bool

	// Progress is called about every second; nil for none.
	Progress func(phase string, elapsed time.Duration, done float64, perSecond int64, p99 float64)
}

// Side is the reading or the writing half of a load.
type Side struct {
	// Connections; 0 disables the side.
	Connections int
	// Count is the number of requests, sent as fast as the connections allow. If it is 0, Rate is
	// per second for the time of the run; 0 is unthrottled.
	Count int
	Rate  float64
}

// Reads and Writes are the available kinds of requests.
var (
	Reads  = []string{"codelab", "attendees", "chat", "help", "self"}
	Writes = []string{"chat", "step", "help"}
)

// Row is a row of the matrix: numbers of people, requests and connections.
type Row struct {
	Attendees, Reads, Writes, Readers, Writers int
}

// Matrix has the loads by which implementations of this interface are compared.
var Matrix = []Row{
	{10, 1000, 500, 50, 25},
	{50, 3000, 1500, 120, 60},
	{100, 6000, 3000, 250, 120},
	{200, 12000, 6000, 450, 220},
}

func (r Row) String() string {
	return fmt.Sprintf("%d/%d/%d/%d-%d", r.Attendees, r.Reads, r.Writes, r.Readers, r.Writers)
}

// Apply returns the configuration of the row.
func (r Row) Apply(c Config) *Config {
	c.Attendees = r.Attendees
	c.Reading = Side{Connections: r.Readers, Count: r.Reads}
	c.Writing = Side{Connections: r.Writers, Count: r.Writes}
	return &c
}

// maxConnections is the maximum for one process, with room for a spawned server's own.
const maxConnections = 9_000

func (c *Config) validate() error {
	sides := []Side{c.Reading, c.Writing}
	for _, s := range sides {
		if s.Connections < 0 || s.Count < 0 || s.Rate < 0 {
			return errors.New("connections, counts and rates must not be negative")
		}
		if s.Connections > 0 && s.Count == 0 && (c.Duration <= 0 || c.Duration > 24*time.Hour) {
			return errors.New("duration: want up to 24h")
		}
	}
	for _, k := range c.ReadKinds {
		if !slices.Contains(Reads, k) {
			return fmt.Errorf("there is nothing to read called %q; there is %v", k, Reads)
		}
	}
	for _, k := range c.WriteKinds {
		if !slices.Contains(Writes, k) {
			return fmt.Errorf("there is nothing to write called %q; there is %v", k, Writes)
		}
	}
	switch all := c.Reading.Connections + c.Writing.Connections; {
	case all < 1 || all > maxConnections:
		return fmt.Errorf("connections: want 1 to %d", maxConnections)
	case c.Attendees < 1 || c.Attendees > 20_000:
		return errors.New("attendees: want 1 to 20,000")
	case c.Reading.Connections > 0 && len(c.ReadKinds) == 0, c.Writing.Connections > 0 && len(c.WriteKinds) == 0:
		return errors.New("nothing says what to read or write")
	case c.Warmup < 0:
		return errors.New("times must not be negative")
	}
	return nil
}
