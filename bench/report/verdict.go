package report

import (
	"fmt"
	"slices"
	"time"

	"atelier/bench/latency"
)

// Limits determines whether a run is valid and whether it passes.
type Limits struct {
	// MaxLag bounds the p99 of the generator's own lag, and MaxBusy the busy share of its socket
	// loops. 0 means no bound.
	MaxLag  time.Duration
	MaxBusy float64
	// AllowLag accepts a run whose generator was late or busy, lacked a resource of its machine, or
	// did not send all operations.
	AllowLag bool
	// Thresholds contains the caller's thresholds. They replace the defaults for the same number
	// (lost, duplicated, reordered, resyncs, refused, …).
	Thresholds []Threshold
}

// Verdict is the judgement of a run.
type Verdict struct {
	// Invalid contains the reasons why the numbers are meaningless. Failures contains the problems
	// of the server.
	Invalid, Failures []string
	// Allowed contains the reasons why the run would be invalid without AllowLag.
	Allowed []string
	// Checks contains the caller's thresholds with their results.
	Checks []Check
	// asked contains all thresholds, including those without a value in the run.
	asked []string
}

// Check is an evaluated threshold.
type Check struct {
	Threshold string  `json:"threshold"`
	Value     float64 `json:"value"`
	Passed    bool    `json:"passed"`
	// text is the value formatted with its unit.
	text string
}

// Valid reports whether the run describes the server.
func (v *Verdict) Valid() bool { return len(v.Invalid) == 0 }

// These are the exit codes.
const (
	ExitPassed      = 0
	ExitFailed      = 1
	ExitInvalid     = 2
	ExitInterrupted = 130
)

// ExitCode returns the exit code of the command. A failure of the server counts even if the
// generator was late, because lost messages remain lost.
func (r *Result) ExitCode() int {
	switch {
	case len(r.Verdict.Failures) > 0:
		return ExitFailed
	case !r.Verdict.Valid():
		return ExitInvalid
	case r.Interrupted:
		return ExitInterrupted
	}
	return ExitPassed
}

// Judge sets the verdict.
func (r *Result) Judge(limits *Limits) error {
	v := &r.Verdict
	*v = Verdict{}
	fail := func(wrong bool, format string, args ...any) {
		if wrong {
			v.Failures = append(v.Failures, fmt.Sprintf(format, args...))
		}
	}
	// These numbers must be zero, unless the caller has a threshold for them.
	zero := func(metric string, n int, many string, one ...string) {
		named := slices.ContainsFunc(limits.Thresholds, func(t Threshold) bool { return t.metric == metric })
		if n == 1 && one != nil {
			many = one[0]
		}
		fail(n > 0 && !named, many, n)
	}
	a := &r.Audit
	zero("lost", a.Lost(), "%d lost")
	zero("duplicated", a.Doubled(), "%d duplicated")
	zero("reordered", a.Reordered, "%d reordered")
	if !a.AwayMeant {
		zero("away", a.Away, "%d sent while a subscriber was away, and not replayed")
	}
	zero("resyncs", a.Resyncs, "%d resyncs of people who read", "%d resync of somebody who reads")
	zero("refused", r.Refused(), "%d operations refused or unanswered", "%d operation refused or unanswered")
	fail(a.Misdirected > 0, "%s sent to the wrong people", Count(a.Misdirected, "event"))
	fail(a.Forged > 0, "%s with a stamp that nobody sent", deliveries(a.Forged))
	fail(a.Foreign > 0, "%s of messages that nobody sent in this run", deliveries(a.Foreign))
	fail(a.Phantoms() > 0, "%s refused or never sent, but applied", Count(a.Phantoms(), "write"))
	if !r.Interrupted {
		fail(r.Joined < r.Attendees, "only %d of %d attendees joined", r.Joined, r.Attendees)
		zero("unfinished", a.Unfinished, "%d people did not get the last message", "%d person did not get the last message")
		if c := r.Connections; c != nil {
			zero("missing_connections", c.Wanted-c.Open-c.Gone-r.Generator.Unopened, "%d connections could not be opened", "%d connection could not be opened")
			zero("missing_connections", c.Gone, "%d connections had ended and could not be opened again", "%d connection had ended and could not be opened again")
		}
	}
	for i, restart := range r.Restarts {
		fail(!restart.AllResumed, "after %s %d some clients did not resume", restart.fault(), i+1)
	}
	v.Failures = append(v.Failures, r.Faults...)
	if s := r.Search; s != nil {
		fail(s.HighestRate == 0 && !r.Interrupted && s.LimitedBy != LimitedByGenerator, "no rate kept the thresholds")
	}
	// A bound on the recovery time requires a recovery.
	wanted := slices.ContainsFunc(limits.Thresholds, func(t Threshold) bool { return t.metric == "recovery" })
	fail(wanted && r.Unrecovered() > 0, "after %s no p99 under 250 ms was observed", Count(r.Unrecovered(), "fault"))
	err := r.check(limits.Thresholds)

	late := &v.Invalid
	if limits.AllowLag {
		late = &v.Allowed
	}
	g := &r.Generator
	if limits.MaxLag > 0 && g.Lag.P99 > latency.Milliseconds(limits.MaxLag) {
		*late = append(*late, fmt.Sprintf("the generator was late: p99 of its lag is %.1f ms, over %v", g.Lag.P99, limits.MaxLag))
	}
	if limits.MaxBusy > 0 && g.Busy > limits.MaxBusy {
		*late = append(*late, fmt.Sprintf("the generator was full: its busiest loop worked %.0f %% of the time, over %.0f", g.Busy*100, limits.MaxBusy*100))
	}
	if g.Lack != "" {
		*late = append(*late, fmt.Sprintf("the generator's machine lacked a resource, and %d connections are missing at the end: %s", g.Unopened, g.Lack))
	}
	if s := r.Search; s != nil && s.LimitedBy == LimitedByGenerator {
		*late = append(*late, fmt.Sprintf("the generator was too slow for %g messages/s: the highest rate of the server may be above %g", s.LowestMissed, s.HighestRate))
	}
	if g.Shed > 0 {
		*late = append(*late, fmt.Sprintf("%s never sent", Count(g.Shed, "planned operation")))
	}
	return err
}

// Refused returns the number of operations that were refused, or got no response although the
// server was available.
func (r *Result) Refused() int {
	n := 0
	for _, op := range r.Operations {
		n += op.Refused
		if len(r.Restarts) == 0 {
			n += op.Unanswered
		}
	}
	return n
}

// Failed returns the number of requests that ended in an error for the client, because they could
// not be retried.
func (r *Result) Failed() int {
	n := 0
	for _, op := range r.Operations {
		n += op.Failed
	}
	return n
}

func (r *Restart) fault() string {
	if r.Fault == "" {
		return "kill"
	}
	return r.Fault
}
