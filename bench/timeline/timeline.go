package timeline

import (
	"slices"
	"sync"
	"time"

	"atelier/bench/latency"
	"atelier/bench/report"
	"atelier/bench/server"
)

// Timeline is the timeline of one run. It is safe for concurrent use.
type Timeline struct {
	now func() time.Duration

	mu sync.Mutex
	// Guarded by mu.
	phase            string
	zero             time.Duration
	seconds          map[int64]*second
	looked           time.Time // when the server was last measured
	lastCPU, lastOwn time.Duration
	lastNodes        []time.Duration // CPU time of each node
}

// second is one second of the run's clock.
type second struct {
	report.Sample
	// reported means that this second has more than a measurement of the server.
	reported bool
}

// longest is the maximum length of a timeline: a day, in seconds.
const longest = 86_400

// New returns an empty timeline of a run with this clock.
func New(now func() time.Duration) *Timeline {
	return &Timeline{now: now, seconds: map[int64]*second{}}
}

// These are the phases of a run. Their names are the same in all scenarios. Package tokens has an
// additional phase.
const (
	Preparing   = "preparing"
	Connecting  = "connecting"
	WarmUp      = "warm-up"
	Load        = "load"
	Draining    = "draining"
	ReadingBack = "reading back"
)

// Enter sets the run's phase.
func (c *Timeline) Enter(phase string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.phase = phase
}

// Phase returns the current phase of the run.
func (c *Timeline) Phase() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.phase
}

// Begin records the time at which the load begins. The samples count from this time.
func (c *Timeline) Begin(zero time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.zero = zero
}

// at returns the record of a second. Beyond the maximum it returns a temporary record.
func (c *Timeline) at(n int64) *second {
	s := c.seconds[n]
	if s == nil {
		s = &second{Sample: report.Sample{Phase: c.phase}}
		if len(c.seconds) < longest {
			c.seconds[n] = s
		}
	}
	return s
}

// Online records the number of open connections.
func (c *Timeline) Online(n int) {
	second := int64(c.now() / time.Second)
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.at(second)
	s.Open, s.reported = n, true
}

// Done records a finished operation, and its time if it is measured. Operations of the warm-up are
// not measured.
func (c *Timeline) Done(took time.Duration, measured bool) {
	n := int64(c.now() / time.Second)
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.at(n)
	s.reported = true
	s.Deliveries++
	if !measured {
		return
	}
	if s.Counts == nil {
		s.Counts = latency.New()
	}
	s.Counts.Record(took)
}

// Sent records a message that has just been sent.
func (c *Timeline) Sent() { c.Add(report.Sample{Messages: 1}, int64(c.now()/time.Second)) }

// Failed records an operation that has just failed.
func (c *Timeline) Failed() { c.Add(report.Sample{Errors: 1}, int64(c.now()/time.Second)) }

// Add adds results to a second of the clock.
func (c *Timeline) Add(more report.Sample, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.at(n)
	s.reported = true
	s.Messages += more.Messages
	s.Deliveries += more.Deliveries
	s.Errors += more.Errors
	s.Open += more.Open
	if more.Counts != nil {
		if s.Counts == nil {
			s.Counts = latency.New()
		}
		s.Counts.Merge(more.Counts)
	}
}

// See records a measurement of the server that was made at the time when. It also measures the CPU
// usage of the generator.
func (c *Timeline) See(when time.Time, in server.Inside) {
	own, n := server.OwnCPU(), int64(c.now()/time.Second)
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.at(n)
	s.RSS, s.Heap, s.Goroutines, s.Queued = in.RSS, in.Heap, in.Goroutines, in.Queued
	s.GC = latency.Milliseconds(in.GCPause)
	if passed := when.Sub(c.looked); !c.looked.IsZero() && passed > 0 {
		s.CPU = max((in.CPU-c.lastCPU).Seconds()/passed.Seconds(), 0)
		s.Generator = max((own-c.lastOwn).Seconds()/passed.Seconds(), 0)
		s.Nodes = c.nodes(in.Nodes, passed)
	}
	c.looked, c.lastCPU, c.lastOwn = when, in.CPU, own
	c.lastNodes = c.lastNodes[:0]
	for _, n := range in.Nodes {
		c.lastNodes = append(c.lastNodes, n.CPU)
	}
}

// nodes returns each node's CPU usage since the last measurement, and its memory.
func (c *Timeline) nodes(now []server.Inside, passed time.Duration) []report.NodeSample {
	if len(now) != len(c.lastNodes) {
		return nil
	}
	var out []report.NodeSample
	for i, n := range now {
		out = append(out, report.NodeSample{CPU: max((n.CPU-c.lastNodes[i]).Seconds()/passed.Seconds(), 0), RSS: n.RSS})
	}
	return out
}

// Fault records a fault that has just been injected.
func (c *Timeline) Fault(what string) {
	n := int64(c.now() / time.Second)
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.at(n)
	s.reported = true
	if s.Sample.Fault != "" {
		what = s.Sample.Fault + " " + what
	}
	s.Sample.Fault = what
}

// Second returns the sample of a second of the clock.
func (c *Timeline) Second(n int64) report.Sample {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.seconds[n]; s != nil {
		return s.sample(c.zero, n)
	}
	return report.Sample{Phase: c.phase}
}

// Put puts the whole timeline into a result.
func (c *Timeline) Put(out *report.Result) {
	out.Series = c.Samples()
	c.mu.Lock()
	defer c.mu.Unlock()
	out.Zero = time.Now().Add(c.zero - c.now()).UTC()
}

// Samples returns the whole timeline in order.
func (c *Timeline) Samples() []report.Sample {
	c.mu.Lock()
	defer c.mu.Unlock()
	numbers := make([]int64, 0, len(c.seconds))
	for n, s := range c.seconds {
		// Seconds with only a measurement of the server are omitted, such as the second in which the
		// run ended.
		if s.reported {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	out := make([]report.Sample, 0, len(numbers))
	for _, n := range numbers {
		out = append(out, c.seconds[n].sample(c.zero, n))
	}
	return out
}

// sample returns the sample of second n of the clock, relative to zero, with its percentiles.
func (s *second) sample(zero time.Duration, n int64) report.Sample {
	out := s.Sample
	out.Second = (time.Duration(n)*time.Second - zero).Seconds()
	if out.Counts != nil {
		sum := out.Counts.Summary()
		out.P50, out.P99, out.Max = sum.P50, sum.P99, sum.Max
	}
	return out
}
