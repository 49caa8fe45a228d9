//go:build linux

package fanout

import (
	"slices"
	"sync"
	"time"

	"atelier/bench/broadcast"
	"atelier/bench/latency"
	"atelier/bench/report"
	"atelier/bench/server"
)

// course is what happens in each second of a run: the workers' samples and the
// looks at the server, put together.
type course struct {
	cfg *Config

	mu sync.Mutex
	// Guarded by mu, all of it.
	now                func() time.Duration
	phase              string
	start, from, until time.Duration
	seconds            map[int64]*second
	shown              *second   // what was shown last
	last               time.Time // of the last look at the server
	lastCPU, lastOwn   time.Duration
}

// second is one second of the timeline.
type second struct {
	report.Sample
	workers int
}

// longest course that is kept, seconds: a day.
const longest = 86_400

func newCourse(cfg *Config) *course {
	return &course{cfg: cfg, seconds: map[int64]*second{}, shown: &second{}, now: func() time.Duration { return 0 }}
}

// begin says what time it is.
func (c *course) begin(now func() time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// enter says what the run is doing.
func (c *course) enter(phase string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.phase = phase
	c.show(c.shown)
}

// plan says when what will be.
func (c *course) plan(start, from, until time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.start, c.from, c.until = start, from, until
}

// at is the second of the timeline with this number; nil when there are too
// many.
func (c *course) at(n int64) *second {
	s := c.seconds[n]
	if s == nil && len(c.seconds) < longest {
		s = &second{Sample: report.Sample{Phase: c.phase}}
		c.seconds[n] = s
	}
	return s
}

// add takes a worker's sample.
func (c *course) add(w broadcast.Sample) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.at(w.Second)
	if s == nil {
		return
	}
	s.Messages += w.Sent
	s.Deliveries += w.Deliveries
	s.Errors += w.Errors
	s.Open += w.Open
	if w.Latencies != nil {
		if s.Counts == nil {
			s.Counts = latency.New()
		}
		s.Counts.Merge(w.Latencies)
	}
	if s.workers++; s.workers == max(c.cfg.Plan.Processes, len(c.cfg.Plan.Remote), 1) {
		c.show(s)
	}
}

// see takes a look at the server.
func (c *course) see(when time.Time, in server.Inside) {
	own := server.OwnCPU()
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.at(int64(c.now() / time.Second))
	if s == nil {
		return
	}
	s.RSS, s.Heap, s.Goroutines, s.Queued = in.RSS, in.Heap, in.Goroutines, in.Queued
	s.GC = latency.Milliseconds(in.GCPause)
	if passed := when.Sub(c.last); !c.last.IsZero() && passed > 0 {
		s.CPU = max((in.CPU-c.lastCPU).Seconds()/passed.Seconds(), 0)
		s.Generator = max((own-c.lastOwn).Seconds()/passed.Seconds(), 0)
	}
	c.last, c.lastCPU, c.lastOwn = when, in.CPU, own
}

// show tells somebody who watches.
func (c *course) show(s *second) {
	c.shown = s
	if c.cfg.Progress == nil {
		return
	}
	p := Progress{
		Phase: c.phase, Elapsed: c.now(), Open: s.Open, Wanted: c.cfg.Subscribers,
		Messages: s.Messages, Deliveries: s.Deliveries, Errors: s.Errors, CPU: s.CPU, RSS: s.RSS,
	}
	if c.until > c.start {
		p.Done = min(max(float64(c.now()-c.start)/float64(c.until-c.start), 0), 1)
	}
	if s.Counts != nil {
		sum := s.Counts.Summary()
		p.P50, p.P99, p.Max = sum.P50, sum.P99, sum.Max
	}
	c.cfg.Progress(p)
}

// samples is the whole course, its seconds counted from the beginning of the
// load.
func (c *course) samples() []report.Sample {
	c.mu.Lock()
	defer c.mu.Unlock()
	numbers := make([]int64, 0, len(c.seconds))
	for n, s := range c.seconds {
		// A second that no worker told of is the one in which the run ended.
		if s.workers > 0 {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	out := make([]report.Sample, 0, len(numbers))
	for _, n := range numbers {
		s := c.seconds[n].Sample
		s.Second = (time.Duration(n)*time.Second - c.start).Seconds()
		if s.Counts != nil {
			sum := s.Counts.Summary()
			s.P50, s.P99, s.Max = sum.P50, sum.P99, sum.Max
		}
		out = append(out, s)
	}
	return out
}
