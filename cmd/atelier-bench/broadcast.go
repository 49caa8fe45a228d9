//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"atelier/bench/broadcast"
	"atelier/bench/fanout"
	"atelier/bench/report"
	"atelier/bench/server"
	"atelier/bench/timeline"
	"atelier/bench/workers"
)

// clientFlags are the number of generators and, for a server other than Atelier, how to communicate
// with it.
type clientFlags struct {
	Workers  int      `placeholder:"N" group:"Generator" help:"Number of generator processes; the default is one per 15,000 connections."`
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
	Ready    string   `placeholder:"REGEX" group:"Any server" help:"Pattern that a client waits for before it counts as connected; a group named epoch is kept for --resume."`
	Ack      string   `placeholder:"REGEX" group:"Any server" help:"Pattern of an acknowledgement, with a group named seq."`
	Refusal  string   `placeholder:"REGEX" group:"Any server" help:"Pattern of a refusal, with a group named seq."`
	Resume   string   `placeholder:"TEXT" group:"Any server" help:"Text that a reconnecting client adds to the path; {{position}} and {{epoch}} are the last values found."`
	Position string   `placeholder:"REGEX" group:"Any server" help:"Pattern of a position to resume from, with a group named position."`
	Answer   []string `placeholder:"IN=OUT" sep:"none" group:"Any server" help:"Answer a message, or a line of one, that is exactly IN with OUT, for heartbeats. Repeatable."`
	Publish  string   `placeholder:"URL" group:"Any server" help:"Address to post messages to, for event streams; the default is --url."`
	PID      int      `name:"pid" placeholder:"PID" group:"Any server" help:"Process id of the server on this machine, for its memory and processor time."`

	// people is the content of --clients, once it has been read.
	people *fanout.Clients
	// steps is the maximum number of steps of a search; 0 for no search.
	steps int
	// small means that the number of listeners is the default of a first run.
	small bool
}

// broadcastFlags are the flags of all scenarios with publishers and listeners.
type broadcastFlags struct {
	Duration *time.Duration `placeholder:"DURATION" help:"Measured time; the default is 30s, or the sum of all --stages."`

	serverFlags
	outputFlags
	clientFlags

	Prometheus string `placeholder:"HOST:PORT" group:"Result" help:"Serve metrics for Prometheus at http://HOST:PORT/metrics during the run, without a password."`

	Connect time.Duration `default:"5s" group:"Load" help:"Time over which connections are opened. A step of --find-max takes at most half a millisecond per connection."`
	Settle  time.Duration `default:"1s" group:"Load" help:"Pause between connecting and the load."`
	Drain   time.Duration `default:"30s" group:"Load" help:"Maximum wait for outstanding messages, at the end and while connecting."`
	Seed    uint64        `group:"Load" help:"Seed of the random numbers; 0 draws one and prints it."`
}

// publishFlags describe the published messages.
type publishFlags struct {
	Publishers int           `default:"1" group:"Load" help:"Number of clients that publish."`
	Size       int           `default:"200" placeholder:"BYTES" group:"Load" help:"Size of a message as sent, in bytes."`
	Rate       float64       `default:"100" group:"Load" help:"Messages per second of all publishers; 0 is unthrottled."`
	Stages     string        `placeholder:"DURATION@RATE,…" group:"Load" help:"Consecutive rates instead of --rate, such as 10s@100,20s@500, each measured separately. The warm-up has the first rate; the last stage continues if --duration is longer."`
	Window     int           `default:"128" group:"Load" help:"Number of messages in flight per publisher, with --rate 0."`
	Warmup     time.Duration `default:"2s" group:"Load" help:"Load before the measured time; audited, not measured."`
	Regular    bool          `group:"Load" help:"Equal intervals between messages instead of a Poisson process."`
}

// The default number of listeners: the limits of an unknown server are not known yet.
const (
	usualListeners = 1000
	firstListeners = 50
)

// listenerFlags describe the listeners.
type listenerFlags struct {
	Asked       *int `name:"subscribers" placeholder:"N" help:"Number of subscribers; the default is 1000, for other servers 50."`
	Subscribers int  `kong:"-"` // set by settle
}

// settle sets the number of listeners to the requested or the default one.
func (l *listenerFlags) settle(b *broadcastFlags) {
	switch {
	case l.Asked != nil:
		l.Subscribers = *l.Asked
	case b.Generic || b.Preset != "":
		l.Subscribers, b.small = firstListeners, true
	default:
		l.Subscribers = usualListeners
	}
}

type fanoutCommand struct {
	StepEvery time.Duration `default:"0s" help:"Time between two steps of a subscriber; 0 for none. Not with --generic."`
	FindMax   bool          `help:"Find the highest rate that keeps all thresholds: double --rate until a threshold is missed twice, then bisect until the gap is 5 %. Each step is a run of --duration (10s). The report is that of the highest rate. A threshold on highest_messages_per_second applies to the result, not to the steps."`
	Steps     int           `default:"20" help:"Maximum number of steps of --find-max."`
	listenerFlags
	broadcastFlags
	publishFlags
}

type idleCommand struct {
	Connections int `default:"10000" help:"Number of connected clients."`
	broadcastFlags
}

type reconnectCommand struct {
	Every  time.Duration `default:"10s" help:"Time between two drops of all connections."`
	Spread time.Duration `default:"1s" help:"Time over which clients reconnect."`
	listenerFlags
	broadcastFlags
	publishFlags
}

type slowCommand struct {
	Stalled float64       `default:"5" placeholder:"PERCENT" help:"Share of subscribers that stop reading in every second phase."`
	Part    time.Duration `default:"5s" help:"Length of a phase."`
	listenerFlags
	broadcastFlags
	publishFlags
}

// Validate is called by kong.
func (c *fanoutCommand) Validate() error {
	c.settle(&c.broadcastFlags)
	if c.FindMax {
		if err := c.search(); err != nil {
			return err
		}
	}
	_, err := c.lasts(&c.publishFlags)
	if c.StepEvery > 0 && (c.Generic || c.Preset != "") {
		err = errors.Join(err, errors.New("--step-every is not for --generic"))
	}
	return errors.Join(err, c.broadcastFlags.validate(&c.publishFlags, c.Subscribers+c.Publishers), c.publishFlags.check(),
		atLeast("subscribers", c.Subscribers, 1), atLeast("step-every", c.StepEvery, 0))
}

// Validate is called by kong.
func (c *idleCommand) Validate() error {
	_, err := c.lasts(nil)
	return errors.Join(err, c.broadcastFlags.validate(nil, c.Connections), atLeast("connections", c.Connections, 1))
}

// Validate is called by kong.
func (c *reconnectCommand) Validate() error {
	c.settle(&c.broadcastFlags)
	_, err := c.lasts(&c.publishFlags)
	return errors.Join(err, c.broadcastFlags.validate(&c.publishFlags, c.Subscribers+c.Publishers), c.publishFlags.check(), atLeast("subscribers", c.Subscribers, 1),
		atLeast("every", c.Every, time.Second), atLeast("spread", c.Spread, 0))
}

// Validate is called by kong.
func (c *slowCommand) Validate() error {
	c.settle(&c.broadcastFlags)
	lasts, err := c.lasts(&c.publishFlags)
	if err == nil {
		err = atLeast("duration", lasts, 2*c.Part) // a part of each kind
	}
	if c.Stalled <= 0 || c.Stalled > 90 {
		err = errors.Join(err, errors.New("--stalled is more than 0 and at most 90 percent"))
	}
	return errors.Join(err, c.broadcastFlags.validate(&c.publishFlags, c.Subscribers+c.Publishers), c.publishFlags.check(), atLeast("subscribers", c.Subscribers, 2),
		atLeast("part", c.Part, time.Second))
}

// Run is called by kong.
func (c *fanoutCommand) Run(ctx context.Context) error {
	cfg := &fanout.Config{Scenario: "fanout", Subscribers: c.Subscribers, StepEvery: c.StepEvery}
	return c.run(ctx, cfg, &c.publishFlags)
}

// Run is called by kong.
func (c *idleCommand) Run(ctx context.Context) error {
	return c.run(ctx, &fanout.Config{Scenario: "idle", Subscribers: c.Connections}, nil)
}

// Run is called by kong.
func (c *reconnectCommand) Run(ctx context.Context) error {
	cfg := &fanout.Config{Scenario: "reconnect", Subscribers: c.Subscribers, DropEvery: c.Every, Spread: c.Spread}
	return c.run(ctx, cfg, &c.publishFlags)
}

// Run is called by kong.
func (c *slowCommand) Run(ctx context.Context) error {
	cfg := &fanout.Config{Scenario: "slow", Subscribers: c.Subscribers, Part: c.Part}
	cfg.Stalled = max(int(float64(c.Subscribers)*c.Stalled/100), 1)
	return c.run(ctx, cfg, &c.publishFlags)
}

// validate checks the flags of a scenario with the given number of clients; p is nil if
// nothing is sent.
func (b *broadcastFlags) validate(p *publishFlags, clients int) error {
	if b.Preset == listed {
		return nil
	}
	b.Generic = b.Generic || b.Preset != ""
	problems := []error{
		b.outputFlags.check(b.names()), atLeast("connect", b.Connect, 0), atLeast("settle", b.Settle, 0),
		atLeast("drain", b.Drain, time.Second), atLeast("workers", b.Workers, 0), atLeast("pid", b.PID, 0), b.checkPrometheus(),
	}
	if len(b.WorkerAt) > 0 {
		problems = append(problems, workers.CheckSecret(b.Secret))
		if b.Workers > 0 {
			problems = append(problems, errors.New("--workers are processes of this machine, --worker-at are others: one or the other"))
		}
	}
	if !b.Generic {
		if b.Clients+b.Channel+b.Hello+b.Send+b.Match+b.Ready+b.Ack+b.Refusal+b.Resume+b.Position+b.Publish != "" || b.Binary || len(b.Header)+len(b.Answer)+b.PID > 0 {
			problems = append(problems, errors.New("--clients, --header, --hello, --send, --match and their like are for --generic"))
		}
		return errors.Join(append(problems, b.serverFlags.check())...)
	}
	switch {
	case b.Spawn || len(b.URL) == 0:
		problems = append(problems, errors.New("--generic needs --url"))
	case p != nil && b.Preset == "" && (b.Send == "" || b.Match == ""):
		problems = append(problems, errors.New("--generic needs --send and --match to publish, or a --preset"))
	default:
		problems = append(problems, b.checkPeer(p, clients))
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

func (p *publishFlags) check() error {
	return errors.Join(atLeast("publishers", p.Publishers, 1), atLeast("size", p.Size, 0), atLeast("rate", p.Rate, 0),
		atLeast("window", p.Window, 1), atLeast("warmup", p.Warmup, 0))
}

// usual is the default duration of a load.
const usual = 30 * time.Second

// lasts returns how long the load is measured; p is nil if nothing is sent.
func (b *broadcastFlags) lasts(p *publishFlags) (time.Duration, error) {
	together := time.Duration(0)
	if p != nil {
		stages, err := p.stages()
		if err != nil {
			return 0, err
		}
		for _, s := range stages {
			together += s.During
		}
	}
	lasts := cmp.Or(together, usual)
	if b.Duration != nil {
		lasts = *b.Duration
	}
	if lasts < together {
		return 0, fmt.Errorf("--duration is %v, and all --stages together are %v: leave it out, or make it longer", lasts, together)
	}
	return lasts, atLeast("duration", lasts, time.Second)
}

// stages are the rates, one after another.
func (p *publishFlags) stages() ([]broadcast.Stage, error) {
	if p.Stages == "" {
		return []broadcast.Stage{{Rate: p.Rate}}, nil
	}
	var out []broadcast.Stage
	for text := range strings.SplitSeq(p.Stages, ",") {
		during, rate, ok := strings.Cut(strings.TrimSpace(text), "@")
		d, err1 := time.ParseDuration(during)
		r, err2 := strconv.ParseFloat(rate, 64)
		if !ok || err1 != nil || err2 != nil || d <= 0 || r <= 0 {
			return nil, fmt.Errorf("--stages %q: want DURATION@RATE, such as 10s@100", text)
		}
		out = append(out, broadcast.Stage{During: d, Rate: r})
	}
	return out, nil
}

// run carries out one scenario.
func (b *broadcastFlags) run(ctx context.Context, cfg *fanout.Config, p *publishFlags) error {
	if b.Preset == listed {
		return listPresets(os.Stdout)
	}
	cfg.Connect, cfg.Settle, cfg.Drain = b.Connect, b.Settle, b.Drain
	lasts, err := b.lasts(p)
	if err != nil {
		return err
	}
	cfg.Duration = lasts
	cfg.Seed = cmp.Or(b.Seed, uint64(rand.Uint32()))
	size := 0
	if p != nil {
		cfg.Publishers, cfg.Warmup, cfg.Window, cfg.Regular, size = p.Publishers, p.Warmup, p.Window, p.Regular, p.Size
		stages, err := p.stages()
		if err != nil {
			return err
		}
		cfg.Stages = stages
	}
	if err := b.plan(cfg); err != nil {
		return err
	}
	if b.Prometheus != "" {
		cfg.Meter = &timeline.Meter{}
		at, stop, err := timeline.Serve(b.Prometheus, cfg.Meter)
		if err != nil {
			return err
		}
		defer stop()
		fmt.Fprintf(os.Stderr, "metrics for Prometheus: http://%v/metrics\n", at)
	}
	if b.Generic {
		err := b.foreign(ctx, cfg, p)
		if b.small && (err == nil || errors.Is(err, exitCode(report.ExitFailed))) {
			fmt.Fprintf(os.Stderr, "\nA first run, with %d clients: --subscribers %d goes up", firstListeners, usualListeners)
			if p != nil && b.steps == 0 {
				fmt.Fprint(os.Stderr, "; fanout --find-max --threshold 'p99<50ms' looks for the highest rate")
			}
			fmt.Fprintln(os.Stderr, ".")
		}
		return err
	}
	return hold(ctx, &b.serverFlags, &b.outputFlags, fanout.Relaxed, func(t *bench) (*report.Result, error) {
		cfg.Prepare = fanout.Atelier(t.Target, server.Trust{CAFile: b.CA, Insecure: b.Insecure}, size)
		cfg.Target, cfg.Progress = t.Target, t.screen.broadcast
		return b.carryOut(ctx, cfg)
	})
}

// plan returns the plan of the workers.
func (b *broadcastFlags) plan(cfg *fanout.Config) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	u, err := url.Parse(b.server())
	if err != nil {
		return fmt.Errorf("server URL: %w", err)
	}
	tls := u.Scheme == "https" || u.Scheme == "wss"
	cfg.Plan = workers.Plan{
		Processes: cmp.Or(b.Workers, fanout.Workers(cfg.Subscribers+cfg.Publishers, tls)),
		Binary:    self, Args: []string{"worker"}, Remote: b.WorkerAt, Secret: b.Secret,
	}
	return nil
}

// broadcast returns the status of such a run.
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
