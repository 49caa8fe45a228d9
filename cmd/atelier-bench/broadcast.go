//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"time"

	"atelier/bench/api"
	"atelier/bench/fanout"
	"atelier/bench/report"
	"atelier/bench/server"
	"atelier/bench/timeline"
	"atelier/bench/workers"
)

// clientFlags describe the workers of the generator. For a server other than Atelier, they also
// describe the protocol, the clients and the process of that server.
type clientFlags struct {
	Workers  int      `placeholder:"N" group:"Generator" help:"Number of generator processes; the default is one per 15,000 connections, or per 6,000 over TLS."`
	WorkerAt []string `placeholder:"HOST:PORT" group:"Generator" help:"Worker on another machine, which runs 'atelier-bench worker --listen'. Repeatable."`
	Secret   string   `env:"BENCH_SECRET" group:"Generator" help:"Secret shared with remote workers, 16 characters or more; prefer the environment variable."`

	Generic  bool     `group:"Any server" help:"Test any server: --url is ws://HOST/PATH, or http://HOST/PATH for event streams."`
	Clients  string   `type:"existingfile" placeholder:"FILE" group:"Any server" help:"CSV file with a header line and a line per client, subscribers first. {{COLUMN}} in --url, --publish, --header, --hello, --send and --resume is replaced by the client's value. Values are never printed."`
	Preset   string   `placeholder:"NAME" group:"Any server" help:"Defaults of the flags below for a protocol: centrifugo, mqtt, nats, socket.io or sse. list prints the flags of each. A flag that is given overrides its default. Implies --generic."`
	Channel  string   `placeholder:"NAME" group:"Any server" help:"Channel (centrifugo), topic (mqtt), subject (nats) or event (socket.io) of --preset; the default is bench, of socket.io message."`
	Header   []string `placeholder:"'NAME: VALUE'" sep:"none" group:"Any server" help:"Header of the opening request. Repeatable."`
	Hello    string   `placeholder:"TEXT" group:"Any server" help:"Message to send once after connecting; \\r, \\n and \\t in it, in --send and in --answer are line breaks and a tab."`
	Binary   bool     `group:"Any server" help:"Send binary messages instead of text; \\x00 to \\xff in --hello, --send and --answer are bytes then. Patterns match the received bytes, and a byte that is not UTF-8 counts as one character."`
	Send     string   `placeholder:"TEXT" group:"Any server" help:"Message to publish: {{stamp}} and {{seq}} are filled in, and {{pad}} up to --size bytes. For event streams it is posted."`
	Match    string   `placeholder:"REGEX" group:"Any server" help:"Pattern of a received message, with groups named stamp and seq. In an event stream it matches the data of each event, without 'data: '."`
	Ready    string   `placeholder:"REGEX" group:"Any server" help:"Pattern that a client waits for before it counts as connected; the text of a group named epoch is kept for --resume."`
	Ack      string   `placeholder:"REGEX" group:"Any server" help:"Pattern of an acknowledgement, with a group named seq."`
	Refusal  string   `placeholder:"REGEX" group:"Any server" help:"Pattern of a refusal, with a group named seq."`
	Resume   string   `placeholder:"TEXT" group:"Any server" help:"Text that a reconnecting client adds to the path; {{position}} and {{epoch}} are the last values found."`
	Position string   `placeholder:"REGEX" group:"Any server" help:"Pattern of a position to resume from, with a group named position."`
	Answer   []string `placeholder:"IN=OUT" sep:"none" group:"Any server" help:"Send OUT after each received message, or line of a message, that is exactly IN, for heartbeats. Repeatable."`
	Publish  string   `placeholder:"URL" group:"Any server" help:"Address to post messages to, for event streams; the default is --url."`
	PID      int      `name:"pid" placeholder:"PID" group:"Any server" help:"Process id of the server on this machine, for its memory and processor time."`

	// people is the content of --clients, once it has been read.
	people *fanout.Clients
	// steps is the maximum number of steps of a search; 0 for no search.
	steps int
	// small means that the number of listeners is firstListeners, because the server is not Atelier
	// and --subscribers is not given.
	small bool
}

// broadcastFlags are the common flags of the scenarios fanout, idle, reconnect and slow.
type broadcastFlags struct {
	Duration *time.Duration `placeholder:"DURATION" help:"Measured time; the default is 30s, or the sum of all --stages."`

	serverFlags
	outputFlags
	clientFlags

	Prometheus string `placeholder:"HOST:PORT" group:"Result" help:"Serve metrics for Prometheus at http://HOST:PORT/metrics during the run, without a password."`

	fanout.Config
}

// These are the default numbers of listeners, for Atelier and for the first run against another
// server, whose limits are unknown.
const (
	usualListeners = 1000
	firstListeners = 50
)

// publishFlags are the flags of a scenario with publishers.
type publishFlags struct {
	Asked *int `name:"subscribers" placeholder:"N" help:"Number of subscribers; the default is 1000, for other servers 50."`
	fanout.Publishing
}

// settle copies the flags into the configuration. Without --subscribers it sets the default number
// of listeners.
func (p *publishFlags) settle(b *broadcastFlags) {
	b.Config.Publishing = p.Publishing
	switch {
	case p.Asked != nil:
		b.Subscribers = *p.Asked
	case b.Generic || b.Preset != "":
		b.Subscribers, b.small = firstListeners, true
	default:
		b.Subscribers = usualListeners
	}
}

type fanoutCommand struct {
	StepEvery time.Duration `default:"0s" help:"Time between two steps of a subscriber; 0 for none. Not with --generic."`
	FindMax   bool          `help:"Find the highest rate that keeps all thresholds. The search doubles --rate until a rate misses a threshold twice, or halves it until a rate keeps all. Then it bisects until the gap is 5 %. Each step is a run of --duration (10s). The report describes the step with the highest rate. A threshold on highest_messages_per_second applies to the result, not to the steps."`
	Steps     int           `default:"20" help:"Maximum number of steps of --find-max."`
	publishFlags
	broadcastFlags
}

type idleCommand struct {
	Connections int           `default:"10000" help:"Number of connected clients."`
	Rest        time.Duration `placeholder:"DURATION" help:"Pause before the memory without connections is measured; the default with --spawn is 6s, in which the server releases memory that its start used."`
	broadcastFlags
}

type reconnectCommand struct {
	Every  time.Duration `default:"10s" help:"Time between two drops of all connections."`
	Spread time.Duration `default:"1s" help:"Time over which clients reconnect."`
	publishFlags
	broadcastFlags
}

type slowCommand struct {
	Stalled float64       `default:"5" placeholder:"PERCENT" help:"Share of subscribers that stop reading in every second phase."`
	Part    time.Duration `default:"5s" help:"Length of a phase."`
	publishFlags
	broadcastFlags
}

// Validate is called by kong.
func (c *fanoutCommand) Validate() error {
	c.settle(&c.broadcastFlags)
	c.Scenario, c.Config.StepEvery = "fanout", c.StepEvery
	if c.FindMax {
		if err := c.search(); err != nil {
			return err
		}
	}
	err := c.broadcastFlags.validate()
	if c.StepEvery > 0 && c.Generic {
		err = errors.Join(err, errors.New("--step-every cannot be used with --generic"))
	}
	return err
}

// afterStart is the time in which a new server returns the memory that its start used. Atelier
// looks for unused memory every two seconds.
const afterStart = 6 * time.Second

// Validate is called by kong.
func (c *idleCommand) Validate() error {
	c.Scenario, c.Subscribers, c.Config.Rest = "idle", c.Connections, c.Rest
	if c.Rest == 0 && c.Spawn {
		c.Config.Rest = afterStart
	}
	return c.validate()
}

// Validate is called by kong.
func (c *reconnectCommand) Validate() error {
	c.settle(&c.broadcastFlags)
	c.Scenario, c.DropEvery, c.Config.Spread = "reconnect", c.Every, c.Spread
	return errors.Join(c.validate(), atLeast("every", c.Every, time.Second))
}

// Validate is called by kong.
func (c *slowCommand) Validate() error {
	c.settle(&c.broadcastFlags)
	c.Scenario, c.Config.Part = "slow", c.Part
	c.Config.Stalled = max(int(float64(c.Subscribers)*c.Stalled/100), 1)
	var err error
	if c.Stalled <= 0 || c.Stalled > 90 {
		err = errors.New("--stalled must be above 0 and at most 90 percent")
	}
	return errors.Join(err, c.validate())
}

// validate checks the flags of a scenario, and completes its configuration.
func (b *broadcastFlags) validate() error {
	if b.Preset == listed {
		return nil
	}
	b.Generic = b.Generic || b.Preset != ""
	problems := []error{
		b.outputFlags.check(b.names()), b.last(), b.Check(), atLeast("workers", b.Workers, 0), atLeast("pid", b.PID, 0), b.checkPrometheus(),
	}
	if len(b.WorkerAt) > 0 {
		problems = append(problems, workers.CheckSecret(b.Secret))
		if b.Workers > 0 {
			problems = append(problems, errors.New("--workers and --worker-at exclude each other: processes on this machine, or on other machines"))
		}
	}
	if !b.Generic {
		if b.Clients+b.Channel+b.Hello+b.Send+b.Match+b.Ready+b.Ack+b.Refusal+b.Resume+b.Position+b.Publish != "" || b.Binary || len(b.Header)+len(b.Answer)+b.PID > 0 {
			problems = append(problems, errors.New("--clients, --header, --hello, --send, --match and the other flags for any server need --generic"))
		}
		return errors.Join(append(problems, b.serverFlags.check())...)
	}
	switch {
	case b.Spawn || len(b.URL) == 0:
		problems = append(problems, errors.New("--generic needs --url"))
	case b.Publishers > 0 && b.Preset == "" && (b.Send == "" || b.Match == ""):
		problems = append(problems, errors.New("--generic needs --send and --match to publish, or a --preset"))
	default:
		problems = append(problems, b.checkPeer())
	}
	return errors.Join(problems...)
}

func (b *broadcastFlags) checkPrometheus() error {
	if b.Prometheus == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(b.Prometheus)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("--prometheus %q: want HOST:PORT, such as 127.0.0.1:9100", b.Prometheus)
	}
	return nil
}

// usual is the default duration of a load.
const usual = 30 * time.Second

// last sets the measured duration: --duration, or the sum of all --stages, or usual. It returns an
// error if --duration is shorter than this sum.
func (b *broadcastFlags) last() error {
	together := b.Stages.Together()
	b.Config.Duration = cmp.Or(together, usual)
	if b.Duration != nil {
		b.Config.Duration = *b.Duration
	}
	if b.Config.Duration < together {
		return fmt.Errorf("--duration is %v, and all --stages together are %v: leave it out, or make it longer", b.Config.Duration, together)
	}
	return nil
}

// Run is called by kong for each of these scenarios.
func (b *broadcastFlags) Run(ctx context.Context) error {
	if b.Preset == listed {
		return listPresets(os.Stdout)
	}
	b.Seed = cmp.Or(b.Seed, uint64(rand.Uint32()))
	if err := b.plan(); err != nil {
		return err
	}
	if b.Prometheus != "" {
		b.Meter = &timeline.Meter{}
		at, stop, err := timeline.Serve(b.Prometheus, b.Meter)
		if err != nil {
			return err
		}
		defer stop()
		fmt.Fprintf(os.Stderr, "metrics for Prometheus: http://%v/metrics\n", at)
	}
	if b.Generic {
		err := b.foreign(ctx)
		if b.small && (err == nil || errors.Is(err, exitCode(report.ExitFailed))) {
			fmt.Fprintf(os.Stderr, "\nThis was a first run, with %d clients: try --subscribers %d", firstListeners, usualListeners)
			if b.Publishers > 0 && b.steps == 0 {
				fmt.Fprint(os.Stderr, "; fanout --find-max --threshold 'p99<50ms' finds the highest rate")
			}
			fmt.Fprintln(os.Stderr, ".")
		}
		return err
	}
	return hold(ctx, &b.serverFlags, &b.outputFlags, fanout.Relaxed, func(t *bench) (*report.Result, error) {
		b.Prepare = fanout.Atelier(t.Target, server.Trust{CAFile: b.CA, Insecure: b.Insecure}, b.Size)
		b.Target, b.Progress = t.Target, t.screen.broadcast
		return b.carryOut(ctx)
	})
}

// plan determines the worker processes.
func (b *broadcastFlags) plan() error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	u, err := api.ParseURL(b.server())
	if err != nil {
		return err
	}
	tls := u.Scheme == "https" || u.Scheme == "wss"
	b.Plan = workers.Plan{
		Processes: cmp.Or(b.Workers, fanout.Workers(b.Subscribers+b.Publishers, tls)),
		Binary:    self, Args: []string{"worker"}, Remote: b.WorkerAt, Secret: b.Secret,
	}
	return nil
}

// broadcast shows the progress of a run of fanout, idle, reconnect, slow or the self-test.
func (s *screen) broadcast(p fanout.Progress) {
	st := status{Phase: p.Phase, Elapsed: p.Elapsed, Done: p.Done, P99: p.P99}
	add := func(name, format string, args ...any) {
		st.Numbers = append(st.Numbers, number{name, fmt.Sprintf(format, args...)})
	}
	if p.Step > 0 {
		add("step", "%d", p.Step)
		add("rate", "%g/s", p.Rate)
	}
	add("open", "%d/%d", p.Open, p.Wanted)
	if p.Deliveries > 0 {
		add("messages", "%d/s", p.Messages)
		add("deliveries", "%d/s", p.Deliveries)
	}
	if p.Max > 0 { // the warm-up is not timed
		add("p50", "%.1f ms", p.P50)
		add("p99", "%.1f ms", p.P99)
		add("max", "%.1f ms", p.Max)
	}
	add("errors", "%d", p.Errors)
	if p.RSS > 0 {
		add("server", "%.2f cores", p.CPU)
		add("resident", "%d MiB", p.RSS>>20)
	}
	s.show(st)
}
