//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"atelier/bench/fanout"
	"atelier/bench/report"
	"atelier/bench/rest"
	"atelier/bench/server"
)

type restCommand struct {
	rest.Config
	serverFlags
	outputFlags

	Generic bool     `group:"Any server" help:"Repeat one request to --url, which can be any server. A server that does nothing shows the overhead of HTTP and of the generator."`
	Header  []string `placeholder:"'NAME: VALUE'" sep:"none" group:"Any server" help:"Header of the request. Repeatable."`
	Body    string   `placeholder:"TEXT" group:"Any server" help:"Body to POST instead of a GET."`
	PID     int      `name:"pid" placeholder:"PID" group:"Any server" help:"Process id of the server on this machine, for its memory and processor time."`
}

// Validate is called by kong.
func (c *restCommand) Validate() error {
	problems := []error{c.outputFlags.check(c.names())}
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
	return errors.Join(append(problems, c.serverFlags.check(), c.Check())...)
}

func (c *restCommand) floor() *rest.Floor {
	f := &rest.Floor{
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
		return runOther(ctx, &c.serverFlags, &c.outputFlags, func(s *screen) (*report.Result, error) {
			f := c.floor()
			f.Progress = s.rest
			return f.Run(ctx)
		})
	}
	return hold(ctx, &c.serverFlags, &c.outputFlags, fanout.Relaxed, func(t *bench) (*report.Result, error) {
		c.Progress = t.screen.rest
		return c.Config.Run(ctx, t.Target)
	})
}

// rest shows the progress of the requests.
func (s *screen) rest(phase string, elapsed time.Duration, done float64, perSecond int64, p99 float64) {
	st := status{Phase: phase, Elapsed: elapsed, Done: done, P99: p99, Numbers: []number{{"requests", fmt.Sprintf("%d/s", perSecond)}}}
	if p99 > 0 {
		st.Numbers = append(st.Numbers, number{"p99", fmt.Sprintf("%.1f ms", p99)})
	}
	s.show(st)
}
