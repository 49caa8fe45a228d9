//go:build linux

package rest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"atelier/bench/api"
	"atelier/bench/frames"
	"atelier/bench/latency"
	"atelier/bench/pacing"
	"atelier/bench/report"
	"atelier/bench/server"
	"atelier/bench/timeline"
)

// Floor repeats one request to any server.
type Floor struct {
	// URL is the http or https URL of the request. Headers have the form "Name: value". With a Body
	// the request is a POST.
	URL     string
	Trust   server.Trust
	Headers []string
	Body    []byte
	// Connections is the number of persistent connections. Rate is the number of requests per
	// second, for all connections together; 0 is unthrottled.
	Connections      int
	Rate             float64
	Warmup, Duration time.Duration
	// Usage measures the server; nil if it cannot be measured.
	Usage    func() (server.Usage, error)
	Progress Progress
}

// Check returns an error if the request is invalid.
func (c *Floor) Check() error {
	u, err := api.ParseURL(c.URL)
	if err == nil {
		_, err = api.Address(u)
	}
	problems := []error{err}
	for _, line := range c.Headers {
		problems = append(problems, frames.CheckHeader(line))
	}
	if c.Connections < 1 || c.Connections > maxConnections || !pacing.IsRate(c.Rate) || c.Duration <= 0 || c.Warmup < 0 {
		problems = append(problems, fmt.Errorf("connections: want 1 to %d; rate and times must be finite and not negative", maxConnections))
	}
	return errors.Join(problems...)
}

// Run runs the load. If ctx ends, the load ends early, and Run reports the results up to then.
func (c *Floor) Run(ctx context.Context) (*report.Result, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	u, err := api.ParseURL(c.URL)
	if err != nil {
		return nil, err
	}
	address, err := api.Address(u)
	if err != nil {
		return nil, err
	}
	if u.Scheme == "https" {
		passage, err := server.OpenTunnel(address, c.Trust)
		if err != nil {
			return nil, err
		}
		defer passage.Close()
		address = passage.Address()
	}
	method, headers := "GET", ""
	if c.Body != nil {
		method = "POST"
	}
	for _, line := range c.Headers {
		headers += line + "\r\n"
	}
	clock := pacing.NewClock()
	cfg := &Config{ReadConnections: c.Connections, ReadRate: c.Rate, Warmup: c.Warmup, Duration: c.Duration, Progress: c.Progress}
	r := &run{cfg: cfg, clock: clock, timeline: timeline.New(clock.Now), target: &server.Target{Usage: c.Usage}}
	defer r.target.Watch(ctx, r.timeline.See)()
	r.plan()
	defer r.show()()
	open := func(int) *worker {
		return &worker{r: r, conn: api.Conn{Address: address, Host: u.Host}, tallies: map[string]*report.Tally{}, lag: latency.New()}
	}
	begin, end := r.load(ctx, open, func(w *worker, _ int64) (string, int, []byte, error) {
		status, body, err := w.conn.Do(method, u.RequestURI(), headers, c.Body)
		return "request", status, body, err
	})
	out := r.conclude(begin, end, nil, ctx.Err() != nil)
	public := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path} // a password or a query can be secret
	out.About = fmt.Sprintf("%s %s, %s", method, public.String(), report.Count(c.Connections, "connection"))
	return out, nil
}
