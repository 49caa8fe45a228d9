//go:build linux

package fanout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"atelier/bench/broadcast"
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

// Config is the configuration of a run. The flags of cmd/atelier-bench have the
// defaults.
type Config struct {
	// Scenario is fanout, idle, reconnect or slow.
	Scenario string
	// Subscribers receive, Publishers send.
	Subscribers, Publishers int
	// Connect is the time over which connections are opened. Settle is a pause after it, for the
	// server to become idle.
	Connect, Settle time.Duration
	// Warmup runs before Duration under the same load; it is audited and not measured.
	Warmup, Duration time.Duration
	// Stages are those of the rate, in messages per second of all publishers, one after another.
	// The warm-up has the rate of the first stage, and the last stage lasts until the end. A single
	// rate of 0 is unthrottled: each publisher has Window messages in progress.
	Stages []broadcast.Stage
	Window int
	// Regular plans messages at equal intervals instead of a Poisson process.
	Regular bool
	// StepEvery is the interval of a subscriber's steps; 0 for none.
	StepEvery time.Duration
	// Stalled subscribers stop reading in every second part of the time. Part is its length.
	Stalled int
	Part    time.Duration
	// DropEvery is the interval of losses of all connections; Spread is the time over which
	// subscribers reconnect.
	DropEvery, Spread time.Duration
	// Drain is the timeout for messages in flight.
	Drain time.Duration
	Seed  uint64

	// Prepare makes the clients; it is called after the server was measured without them.
	Prepare func(ctx context.Context, subscribers, publishers int) (*Endpoint, error)
	Plan    workers.Plan
	// Target is the server, as far as it can be measured.
	Target *server.Target
	// Beside, if set, runs on its own goroutine during the measured time; its context ends with it.
	Beside func(ctx context.Context)
	// Progress is called about every second; nil for none.
	Progress func(Progress)
	// Meter counts the load for Prometheus; nil for none.
	Meter *timeline.Meter
}

// Endpoint describes how to connect to a server.
type Endpoint struct {
	// Address is the address to connect to; Host is the Host header.
	Address, Host string
	// More are other nodes of the same server.
	More []broadcast.Node
	// TLS, if set, means that the server uses TLS, and selects the accepted certificates.
	TLS *server.Trust
	// Stream selects event streams.
	Stream  bool
	Dialect broadcast.Dialect
	// Secrets are values of clients that are never shown.
	Secrets []string
	// Subscribers and Publishers are the clients.
	Subscribers, Publishers []broadcast.Seat
}

// Progress is the state of a run in progress.
type Progress struct {
	// Phase is the current activity of the run, Elapsed the time since its start.
	Phase   string
	Elapsed time.Duration
	// Done is the elapsed part of the planned time, 0..1.
	Done float64
	// Open of Wanted connections.
	Open, Wanted int
	// Of the last second: messages sent, deliveries, failures, and the latency of the deliveries,
	// in milliseconds.
	Messages, Deliveries, Errors int64
	P50, P99, Max                float64
	// Of the server, if it can be measured.
	CPU float64
	RSS int64
	// Step is that of a search, from 1, with its rate in messages per second; 0 without a search.
	Step int
	Rate float64
}

// perWorker is the maximum number of connections per worker. It is below a process's limit of open
// files, 20,000 here.
const perWorker = 15_000

// perWorkerTLS is the same for a server that uses TLS, where each connection has a second one,
// through the worker's tunnel.
const perWorkerTLS = 6_000

// Workers returns the number of processes for these connections.
func Workers(connections int, tls bool) int {
	per := perWorker
	if tls {
		per = perWorkerTLS
	}
	return max((connections+per-1)/per, 1)
}

func (c *Config) validate() error {
	connections := c.Subscribers + c.Publishers
	workers := max(c.Plan.Processes, len(c.Plan.Remote), 1)
	switch {
	case c.Subscribers < 1 || c.Publishers < 0:
		return errors.New("subscribers: want at least 1")
	case connections > workers*19_000:
		return fmt.Errorf("%d connections are too many for %d workers", connections, workers)
	case c.Scenario != "idle" && c.Publishers < 1:
		return errors.New("publishers: want at least 1")
	case c.Duration <= 0 || c.Duration > 24*time.Hour:
		return errors.New("duration: want up to 24h")
	case c.Warmup < 0 || c.Connect < 0 || c.Settle < 0 || c.Drain <= 0 || c.Part < 0 || c.DropEvery < 0 || c.Spread < 0:
		return errors.New("times must not be negative")
	case c.Publishers > 0 && len(c.Stages) == 0:
		return errors.New("nothing says how much is sent")
	case c.Stalled < 0 || c.Stalled >= c.Subscribers:
		return errors.New("stalled: want fewer than all subscribers")
	case c.Stalled > 0 && c.Part < time.Second:
		return errors.New("parts of the time: want at least 1s")
	case c.Stalled > 0 && c.Duration < 2*c.Part:
		return fmt.Errorf("duration: want %v or more: a part in which all read, and one in which some do not", 2*c.Part)
	}
	for _, s := range c.Stages {
		if s.Rate < 0 || s.During < 0 {
			return errors.New("rates and their times must not be negative")
		}
		if s.Rate == 0 && (len(c.Stages) > 1 || c.DropEvery > 0) {
			return errors.New("a rate of 0, unthrottled, must be the only one, and without lost connections")
		}
	}
	return nil
}

// share is the clients of a worker: n, beginning with first.
func share(all, workers, worker int) (first, count int) {
	first = all * worker / workers
	return first, all*(worker+1)/workers - first
}
