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
	"atelier/bench/tunnel"
)

type restCommand struct {
	Attendees int           `default:"200" help:"People who are registered."`
	Duration  time.Duration `default:"20s" help:"How long the load is measured."`

	serverFlags
	outputFlags

	ReadConnections  int           `default:"64" group:"Load" help:"Connections that read; 0 for none."`
	WriteConnections int           `default:"64" group:"Load" help:"Connections that write; 0 for none."`
	ReadRate         float64       `group:"Load" help:"Reads a second; 0 for as many as go."`
	WriteRate        float64       `group:"Load" help:"Writes a second; 0 for as many as go."`
	Reads            int           `group:"Load" help:"So many reads instead of a time; --writes too, then."`
	Writes           int           `group:"Load" help:"So many writes instead of a time."`
	Read             []string      `default:"codelab,attendees,chat,help,self" group:"Load" help:"What is read, in turns: codelab, attendees, chat, help, self."`
	Write            []string      `default:"chat,step,help" group:"Load" help:"What is written, in turns: chat, step, help."`
	Row              int           `placeholder:"1-4" group:"Load" help:"Row of the comparison of implementations instead: attendees/reads/writes/connections 10/1000/500/50-25, 50/3000/1500/120-60, 100/6000/3000/250-120, 200/12000/6000/450-220."`
	Compressed       bool          `group:"Load" help:"Ask for compressed answers."`
	Warmup           time.Duration `default:"2s" group:"Load" help:"Load before the measured time."`
	Seed             uint64        `group:"Load" help:"Marks what is written; drawn when 0."`

	Generic bool     `group:"Any server" help:"Send one request again and again to --url, whatever server that is: a bare one says how much is left to win."`
	Header  []string `placeholder:"'NAME: VALUE'" sep:"none" group:"Any server" help:"Header of the request. May be given again."`
	Body    string   `placeholder:"TEXT" group:"Any server" help:"POST this instead of a GET."`
	PID     int      `name:"pid" placeholder:"PID" group:"Any server" help:"Process of the server on this machine, to be weighed."`
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
		URL: c.server(), Trust: tunnel.Trust{CAFile: c.CA, Insecure: c.Insecure}, Headers: c.Header,
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

// rest shows how requests are going.
func (s *screen) rest(phase string, elapsed time.Duration, done float64, perSecond int64, p99 float64) {
	st := status{Phase: phase, Elapsed: elapsed, Done: done, P99: p99, Numbers: []number{{"requests", fmt.Sprintf("%d/s", perSecond)}}}
	if p99 > 0 {
		st.Numbers = append(st.Numbers, number{"p99", fmt.Sprintf("%.1f ms", p99)})
	}
	s.show(st)
}
