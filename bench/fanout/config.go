//go:build linux

package fanout

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"atelier/bench/broadcast"
	"atelier/bench/pacing"
	"atelier/bench/report"
	"atelier/bench/server"
	"atelier/bench/timeline"
	"atelier/bench/workers"
)

// Names are the names of the values that a run measures.
var Names = report.Names{
	Operations: []string{"publish", "connect", "resume"},
	Figures:    []string{"drops", "clock_error_ms", "bytes_per_connection", "rss_without", "idle_cores", "cpu_per_million", "steps", HighestRate},
}

// Config is the configuration of a run. The fields with a help text are flags of cmd/atelier-bench.
type Config struct {
	Connect time.Duration `default:"5s" group:"Load" help:"Time over which connections are opened. In a step of --find-max it is at most half a millisecond per connection."`
	Settle  time.Duration `default:"1s" group:"Load" help:"Pause between connecting and the load."`
	Drain   time.Duration `default:"30s" group:"Load" help:"Maximum wait for outstanding messages at the end, and for clients that are not connected after --connect."`
	Seed    uint64        `group:"Load" help:"Seed of the random numbers; 0 draws one and prints it."`

	// Publishing is empty in the scenario idle, in which nobody publishes.
	Publishing `kong:"-"`

	// Scenario is fanout, idle, reconnect, slow or selftest.
	Scenario    string `kong:"-"`
	Subscribers int    `kong:"-"`
	// Rest is the pause before the server without clients is measured. In this time, a server that
	// has just started returns unused memory. Otherwise the memory per connection would seem too
	// small.
	Rest     time.Duration `kong:"-"`
	Duration time.Duration `kong:"-"`
	// StepEvery is the interval at which each subscriber goes to another step of the codelab; 0
	// means never.
	StepEvery time.Duration `kong:"-"`
	// Stalled is the number of subscribers that stop reading in every second part of the measured
	// time. Part is the length of a part.
	Stalled int           `kong:"-"`
	Part    time.Duration `kong:"-"`
	// DropEvery is the interval at which the connections of all subscribers are dropped. Spread is
	// the time over which the subscribers reconnect.
	DropEvery, Spread time.Duration `kong:"-"`

	// Prepare makes the clients. It is called after the server was measured without clients.
	Prepare func(ctx context.Context, subscribers, publishers int) (*Endpoint, error) `kong:"-"`
	Plan    workers.Plan                                                              `kong:"-"`
	// Target is the server, as far as it can be measured.
	Target *server.Target `kong:"-"`
	// Beside, if set, runs on its own goroutine during the measured time. Its context ends with
	// this time.
	Beside func(ctx context.Context) `kong:"-"`
	// Progress is called about every second, and when a phase begins; nil for none.
	Progress func(Progress) `kong:"-"`
	// Meter counts the load for Prometheus; nil for none.
	Meter *timeline.Meter `kong:"-"`
}

// Publishing describes the published messages. The fields are flags of cmd/atelier-bench.
type Publishing struct {
	Publishers int           `default:"1" group:"Load" help:"Number of clients that publish."`
	Size       int           `default:"200" placeholder:"BYTES" group:"Load" help:"Size of a message as sent, in bytes."`
	Rate       float64       `default:"100" group:"Load" help:"Messages per second of all publishers; 0 is unthrottled."`
	Stages     Stages        `placeholder:"DURATION@RATE,…" group:"Load" help:"Consecutive rates instead of --rate, such as 10s@100,20s@500, each measured separately. The warm-up has the first rate; the last stage continues if --duration is longer."`
	Window     int           `default:"128" group:"Load" help:"Number of messages in flight per publisher, with --rate 0."`
	Warmup     time.Duration `default:"2s" group:"Load" help:"Load before the measured time; audited, not measured."`
	Regular    bool          `group:"Load" help:"Equal intervals between messages instead of a Poisson process."`
}

// Stages are the stages of the rate, in messages per second of all publishers, one after another.
type Stages []broadcast.Stage

// UnmarshalText reads stages such as 10s@100,20s@500.
func (s *Stages) UnmarshalText(text []byte) error {
	for stage := range strings.SplitSeq(string(text), ",") {
		during, rate, ok := strings.Cut(strings.TrimSpace(stage), "@")
		d, err1 := time.ParseDuration(during)
		r, err2 := strconv.ParseFloat(rate, 64)
		if !ok || err1 != nil || err2 != nil || d <= 0 || r == 0 || !pacing.IsRate(r) {
			return fmt.Errorf("%q: want DURATION@RATE, such as 10s@100", stage)
		}
		*s = append(*s, broadcast.Stage{During: d, Rate: r})
	}
	return nil
}

// Together returns the sum of the durations.
func (s Stages) Together() (all time.Duration) {
	for _, stage := range s {
		all += stage.During
	}
	return all
}

// rates returns the stages, or the only rate as a stage.
func (p *Publishing) rates() Stages {
	if len(p.Stages) == 0 {
		return Stages{{Rate: p.Rate}}
	}
	return p.Stages
}

// Endpoint describes how to connect to a server.
type Endpoint struct {
	// Address is the address to connect to; Host is the Host header.
	Address, Host string
	// More contains other nodes of the same server.
	More []broadcast.Node
	// TLS, if set, means that the server uses TLS, and selects the accepted certificates.
	TLS *server.Trust
	// Stream selects event streams.
	Stream  bool
	Dialect broadcast.Dialect
	// Secrets contains the values of clients that must never be shown.
	Secrets []string
	// Subscribers and Publishers are the clients.
	Subscribers, Publishers []broadcast.Seat
}

// Progress is the state of a run in progress.
type Progress struct {
	// Phase is the current activity of the run. Elapsed is the time since the run's start.
	Phase   string
	Elapsed time.Duration
	// Done is the elapsed part of the planned time, 0..1.
	Done float64
	// Open is the number of connected subscribers. Wanted is the number of all subscribers.
	Open, Wanted int
	// The following fields are the numbers of the last second: sent messages, deliveries, failures,
	// and the latency of the deliveries in milliseconds.
	Messages, Deliveries, Errors int64
	P50, P99, Max                float64
	// CPU and RSS are the server's cores in use and its resident bytes, if they can be measured.
	CPU float64
	RSS int64
	// Step is the step of a search, from 1, or 0 if this is not a search. Rate is the rate of the
	// step, in messages per second.
	Step int
	Rate float64
}

// perWorker is the number of connections per worker above which Workers adds a worker. It leaves a
// margin below the limit of open files per process, which is 20,000 on the reference machine.
const perWorker = 15_000

// maxPerWorker is the maximum number of connections per worker that Run accepts.
const maxPerWorker = 19_000

// perWorkerTLS is perWorker for a server that uses TLS. There, each connection needs a second one,
// from the worker's tunnel to the server.
const perWorkerTLS = 6_000

// Workers returns the number of worker processes for a number of connections.
func Workers(connections int, tls bool) int {
	per := perWorker
	if tls {
		per = perWorkerTLS
	}
	return max((connections+per-1)/per, 1)
}

// Check refuses invalid values.
func (c *Config) Check() error {
	switch {
	case c.Subscribers < 1:
		return errors.New("subscribers: want at least 1")
	case c.Publishers < 0:
		return errors.New("publishers: must not be negative")
	case c.Scenario != "idle" && c.Publishers < 1:
		return errors.New("publishers: want at least 1")
	case c.Duration < time.Second || c.Duration > 24*time.Hour:
		return errors.New("duration: want 1s to 24h")
	case c.Warmup < 0 || c.Connect < 0 || c.Settle < 0 || c.Part < 0 || c.StepEvery < 0 || c.DropEvery < 0 || c.Spread < 0:
		return errors.New("times must not be negative")
	case c.Drain <= 0:
		return errors.New("drain: want more than 0")
	case c.Size < 0 || !pacing.IsRate(c.Rate) || c.Rate == 0 && len(c.Stages) == 0 && c.Publishers > 0 && c.Window < 1:
		return errors.New("size and rate must not be negative; a rate of 0 needs a window")
	case c.Rate == 0 && len(c.Stages) == 0 && c.DropEvery > 0:
		return errors.New("rate: want more than 0, because connections cannot be dropped during an unthrottled load")
	case c.Stalled < 0 || c.Stalled >= c.Subscribers:
		return errors.New("stalled: want fewer than all subscribers")
	case c.Stalled > 0 && c.Part < time.Second:
		return errors.New("part of the measured time: want at least 1s")
	case c.Stalled > 0 && c.Duration < 2*c.Part:
		return fmt.Errorf("duration: want %v or more, for a part in which all read and a part in which some do not", 2*c.Part)
	}
	return nil
}

// share returns a worker's share of all clients: count clients, beginning with number first.
func share(all, workers, worker int) (first, count int) {
	first = all * worker / workers
	return first, all*(worker+1)/workers - first
}
