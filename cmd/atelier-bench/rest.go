//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"atelier/bench/fanout"
	"atelier/bench/report"
	"atelier/bench/rest"
	"atelier/bench/server"
)

type restCommand struct {
	Attendees int           `default:"200" help:"Number of registered attendees."`
	Duration  time.Duration `default:"20s" help:"Measured time."`

	serverFlags
	outputFlags

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

	Generic bool     `group:"Any server" help:"Repeat one request to --url, which can be any server; a bare server shows the remaining overhead."`
	Header  []string `placeholder:"'NAME: VALUE'" sep:"none" group:"Any server" help:"Header of the request. Repeatable."`
	Body    string   `placeholder:"TEXT" group:"Any server" help:"Body to POST instead of a GET."`
	PID     int      `name:"pid" placeholder:"PID" group:"Any server" help:"Process id of the server on this machine, for its memory and processor time."`
}

// Validate is called by kong.
func (c *restCommand) Validate() error {
	problems := []error{c.outputFlags.check(c.names()), atLeast("duration", c.Duration, time.Second), atLeast("warmup", c.Warmup, 0)}
	if c.Row < 0 || c.Row > len(rest.Matrix) {
		problems = append(problems, fmt.Errorf("--row: want 1 to %d", len(rest.Matrix)))
	}
	if (c.Reads > 0) != (c.Writes > 0) && c.ReadConnections > 0 && c.WriteConnections > 0 {
		problems = append(problems, errors.New("--reads and --writes belong together; leave one side out with --read-connections 0 or --write-connections 0"))
	}
	if c.Generic {
		if c.Spawn || len(c.URL) == 0 {
			problems = append(problems, errors.New("--generic needs --url"))
		} else {
			problems = append(problems, c.floor().Check())
		}
		return errors.Join(problems...)
	}
	if len(c.Header) > 0 || c.Body != "" || c.PID > 0 {
		problems = append(problems, errors.New("--header, --body and --pid are for --generic"))
	}
	return errors.Join(append(problems, c.serverFlags.check())...)
}

func (c *restCommand) floor() *rest.FloorConfig {
	f := &rest.FloorConfig{
		URL: c.server(), Trust: server.Trust{CAFile: c.CA, Insecure: c.Insecure}, Headers: c.Header,
		Connections: c.ReadConnections, Rate: c.ReadRate, Warmup: c.Warmup, Duration: c.Duration,
	}
	if c.Body != "" {
		f.Body = []byte(unescaped(c.Body, false))
	}
	if c.PID > 0 {
		f.Usage = server.OfPID(c.PID)
	}
	return f
}

// Run is called by kong.
func (c *restCommand) Run(ctx context.Context) error {
	if c.Generic {
		if err := raiseFileLimit(); err != nil {
			return err
		}
		result, err := rest.Floor(ctx, c.floor())
		if err != nil {
			return err
		}
		if err := c.judge(result, c.environment()); err != nil {
			return err
		}
		return c.write(result)
	}
	cfg := &rest.Config{
		Attendees: c.Attendees, Warmup: c.Warmup, Duration: c.Duration, ReadKinds: c.Read, WriteKinds: c.Write,
		Reading:    rest.Side{Connections: c.ReadConnections, Count: c.Reads, Rate: c.ReadRate},
		Writing:    rest.Side{Connections: c.WriteConnections, Count: c.Writes, Rate: c.WriteRate},
		Compressed: c.Compressed, Seed: cmp.Or(c.Seed, uint64(rand.Uint32())),
	}
	if c.Row > 0 {
		cfg = rest.Matrix[c.Row-1].Apply(*cfg)
	}
	return hold(ctx, &c.serverFlags, &c.outputFlags, fanout.Relaxed, func(t *bench) (*report.Result, error) {
		cfg.Progress = t.screen.rest
		return rest.Run(ctx, cfg, t.Target)
	})
}

// rest returns the status of the requests.
func (s *screen) rest(phase string, elapsed time.Duration, done float64, perSecond int64, p99 float64) {
	st := status{Phase: phase, Elapsed: elapsed, Done: done, P99: p99, Numbers: []number{{"requests", fmt.Sprintf("%d/s", perSecond)}}}
	if p99 > 0 {
		st.Numbers = append(st.Numbers, number{"p99", fmt.Sprintf("%.1f ms", p99)})
	}
	s.show(st)
}
