//go:build linux

package rest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"atelier/bench/report"
)

// Names lists the values that a run measures.
var Names = report.Names{
	Operations: []string{"read_*", "write_*", "request"},
	Figures:    []string{"requests_per_second", "reads_per_second", "writes_per_second", "forgotten"},
}

// Config is the configuration of a run.
type Config struct {
	// Attendees are registered before the load.
	Attendees int
	// Reading and Writing are the two halves of the load.
	Reading, Writing Side
	// ReadKinds and WriteKinds are the kinds of requests, sent in rotation. See Reads and Writes.
	ReadKinds, WriteKinds []string
	// Warmup and Duration apply to a load by time. With counts they are ignored.
	Warmup, Duration time.Duration
	Seed             uint64
	// Compressed requests compressed responses.
	Compressed bool

	// Progress is called about every second; nil for none.
	Progress func(phase string, elapsed time.Duration, done float64, perSecond int64, p99 float64)
}

// Side is the reading or the writing half of a load.
type Side struct {
	// Connections is the number of connections. 0 disables the side.
	Connections int
	// Count is the number of requests, sent as fast as the connections allow. If Count is 0, Rate
	// is the number of requests per second for the time of the run. If Rate is 0, the load is
	// unthrottled.
	Count int
	Rate  float64
}

// Reads and Writes are the available kinds of requests.
var (
	Reads  = []string{"codelab", "attendees", "chat", "help", "self"}
	Writes = []string{"chat", "step", "help"}
)

// Row is a row of the matrix: the number of people, requests and connections.
type Row struct {
	Attendees, Reads, Writes, Readers, Writers int
}

// Matrix lists the loads that are used to compare implementations of this API.
var Matrix = []Row{
	{10, 1000, 500, 50, 25},
	{50, 3000, 1500, 120, 60},
	{100, 6000, 3000, 250, 120},
	{200, 12000, 6000, 450, 220},
}

func (r Row) String() string {
	return fmt.Sprintf("%d/%d/%d/%d-%d", r.Attendees, r.Reads, r.Writes, r.Readers, r.Writers)
}

// Apply returns a configuration with the load of the row.
func (r Row) Apply(c Config) *Config {
	c.Attendees = r.Attendees
	c.Reading = Side{Connections: r.Readers, Count: r.Reads}
	c.Writing = Side{Connections: r.Writers, Count: r.Writes}
	return &c
}

// maxConnections is the maximum for one process. It leaves enough descriptors for a spawned server.
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
