//go:build linux

package rest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"atelier/bench/pacing"
	"atelier/bench/report"
)

// Names lists the values that a run measures.
var Names = report.Names{
	Operations: []string{"read_*", "write_*", "request"},
	Figures:    []string{"requests_per_second", "reads_per_second", "writes_per_second", "forgotten"},
}

// Config is the configuration of a run. The fields with a help text are flags of cmd/atelier-bench.
type Config struct {
	Attendees int           `default:"200" help:"Number of registered attendees."`
	Duration  time.Duration `default:"20s" help:"Measured time."`

	ReadConnections  int           `default:"64" group:"Load" help:"Number of connections that read."`
	WriteConnections int           `default:"64" group:"Load" help:"Number of connections that write."`
	ReadRate         float64       `group:"Load" help:"Reads per second; 0 is unthrottled."`
	WriteRate        float64       `group:"Load" help:"Writes per second; 0 is unthrottled."`
	Reads            int           `group:"Load" help:"Number of reads, instead of a duration; needs --writes."`
	Writes           int           `group:"Load" help:"Number of writes, instead of a duration."`
	Read             []string      `default:"codelab,attendees,chat,help,self" group:"Load" help:"Resources to read, in this order: codelab, attendees, chat, help, self."`
	Write            []string      `default:"chat,step,help" group:"Load" help:"Resources to write, in this order: chat, step, help."`
	Row              int           `placeholder:"1-4" group:"Load" help:"Fixed row of the comparison between implementations: attendees/reads/writes/connections 10/1000/500/50-25, 50/3000/1500/120-60, 100/6000/3000/250-120, 200/12000/6000/450-220."`
	Compressed       bool          `group:"Load" help:"Request compressed responses."`
	Warmup           time.Duration `default:"2s" group:"Load" help:"Load before the measured time."`
	Seed             uint64        `group:"Load" help:"Seed that marks written texts; 0 draws one."`

	Progress Progress `kong:"-"`
}

// Progress is called about every second with the state of a run; nil for none. done is the
// completed fraction of the load, 0 to 1. perSecond and p99 are the operations and their p99 in
// milliseconds, in the last second.
type Progress func(phase string, elapsed time.Duration, done float64, perSecond int64, p99 float64)

// side is the reading or the writing half of a load.
type side struct {
	connections int
	// count is the number of requests, sent as fast as the connections allow. If it is 0, rate is
	// the number of requests per second for the time of the run. If rate is 0, too, the load is
	// unthrottled.
	count int
	rate  float64
}

func (c *Config) reading() side { return side{c.ReadConnections, c.Reads, c.ReadRate} }
func (c *Config) writing() side { return side{c.WriteConnections, c.Writes, c.WriteRate} }

// Readable and Writable are the resources that can be read and written.
var (
	Readable = []string{"codelab", "attendees", "chat", "help", "self"}
	Writable = []string{"chat", "step", "help"}
)

// rows lists the loads that are used to compare implementations of this API.
var rows = []struct{ attendees, reads, writes, readers, writers int }{
	{10, 1000, 500, 50, 25},
	{50, 3000, 1500, 120, 60},
	{100, 6000, 3000, 250, 120},
	{200, 12000, 6000, 450, 220},
}

// fill replaces the load with that of the row, if there is one.
func (c *Config) fill() {
	if c.Row > 0 {
		r := rows[c.Row-1]
		c.Attendees, c.Reads, c.Writes, c.ReadConnections, c.WriteConnections = r.attendees, r.reads, r.writes, r.readers, r.writers
	}
}

// maxConnections is the maximum number of connections of a run, which uses one process. It leaves
// enough descriptors for a spawned server.
const maxConnections = 9_000

// Check refuses invalid values.
func (c *Config) Check() error {
	for _, s := range []side{c.reading(), c.writing()} {
		if s.connections < 0 || s.count < 0 || !pacing.IsRate(s.rate) {
			return errors.New("connections, counts and rates must be finite and not negative")
		}
		if s.connections > 0 && s.count == 0 && (c.Duration <= 0 || c.Duration > 24*time.Hour) {
			return errors.New("duration: want up to 24h")
		}
	}
	for _, k := range c.Read {
		if !slices.Contains(Readable, k) {
			return fmt.Errorf("%q cannot be read; want one of %v", k, Readable)
		}
	}
	for _, k := range c.Write {
		if !slices.Contains(Writable, k) {
			return fmt.Errorf("%q cannot be written; want one of %v", k, Writable)
		}
	}
	switch all := c.ReadConnections + c.WriteConnections; {
	case c.Row < 0 || c.Row > len(rows):
		return fmt.Errorf("row: want 1 to %d", len(rows))
	case all < 1 || all > maxConnections:
		return fmt.Errorf("connections: want 1 to %d", maxConnections)
	case (c.Reads > 0) != (c.Writes > 0) && c.ReadConnections > 0 && c.WriteConnections > 0:
		return errors.New("--reads and --writes belong together; leave one side out with --read-connections 0 or --write-connections 0")
	case c.Attendees < 1 || c.Attendees > 20_000:
		return errors.New("attendees: want 1 to 20,000")
	case c.ReadConnections > 0 && len(c.Read) == 0, c.WriteConnections > 0 && len(c.Write) == 0:
		return errors.New("read, write: want at least one resource for the connections")
	case c.Warmup < 0:
		return errors.New("times must not be negative")
	}
	return nil
}
