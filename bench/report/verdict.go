package report

import (
	"fmt"
	"time"

	"atelier/bench/latency"
)

// Thresholds decide whether a run passes. Zero durations are off.
type Thresholds struct {
	// MaxP99 and MaxP999 of chat deliveries.
	MaxP99, MaxP999 time.Duration
	// MaxLost events and writes.
	MaxLost int
	// MaxRefused operations; negative for any number.
	MaxRefused int
	// MaxLag is the largest p99 of the generator's own lag.
	MaxLag time.Duration
	// MaxSlowdown is by how much the p99 of chat deliveries may rise from the
	// first part of a divided run to the last, as a share; MaxGrowth the same
	// for the server's memory, bytes.
	MaxSlowdown float64
	MaxGrowth   int64
	// AllowLag lets a run pass whose generator was late.
	AllowLag bool
}

// Verdict is the judgement of a run.
type Verdict struct {
	// Invalid says why the numbers mean nothing; Failures what is wrong with the
	// server.
	Invalid, Failures []string
	// Allowed is what would make it invalid, had it not been allowed.
	Allowed []string
}

// Valid reports whether the run tells something about the server.
func (v *Verdict) Valid() bool { return len(v.Invalid) == 0 }

// Exit codes.
const (
	ExitPassed      = 0
	ExitFailed      = 1
	ExitInvalid     = 2
	ExitInterrupted = 130
)

// ExitCode is what the command ends with: a failure of the server counts even
// when the generator was late, since what is lost is lost.
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

// Judge fills in the verdict.
func (r *Result) Judge(t *Thresholds) {
	v := &r.Verdict
	*v = Verdict{}
	fail := func(wrong bool, format string, args ...any) {
		if wrong {
			v.Failures = append(v.Failures, fmt.Sprintf(format, args...))
		}
	}
	a := &r.Audit
	fail(a.Lost() > t.MaxLost, "%d lost", a.Lost())
	fail(a.Doubled() > 0, "%d duplicated", a.Doubled())
	fail(a.Reordered > 0, "%d reordered", a.Reordered)
	fail(a.Misdirected > 0, "%d events sent to people they are not for", a.Misdirected)
	fail(a.Phantoms() > 0, "%d writes refused and applied all the same", a.Phantoms())
	fail(a.Resyncs > 0, "%d resyncs of people who read", a.Resyncs)
	if !r.Interrupted {
		fail(r.Joined < r.Attendees, "only %d of %d attendees joined", r.Joined, r.Attendees)
		fail(a.Unfinished > 0, "%d people did not get the last message", a.Unfinished)
	}
	for i, restart := range r.Restarts {
		fail(!restart.AllResumed, "after kill %d not everybody came back", i+1)
	}
	refused := 0
	for _, op := range r.Operations {
		refused += op.Refused
		if len(r.Restarts) == 0 {
			refused += op.Unanswered
		}
	}
	fail(t.MaxRefused >= 0 && refused > t.MaxRefused, "%d operations refused or unanswered", refused)
	fail(t.MaxP99 > 0 && r.Chat.P99 > latency.Milliseconds(t.MaxP99), "chat p99 is %.1f ms, over %v", r.Chat.P99, t.MaxP99)
	fail(t.MaxP999 > 0 && r.Chat.P999 > latency.Milliseconds(t.MaxP999), "chat p99.9 is %.1f ms, over %v", r.Chat.P999, t.MaxP999)

	fail(t.MaxSlowdown > 0 && r.Slowdown() > t.MaxSlowdown, "chat p99 rises by %.0f %%, more than %.0f", r.Slowdown()*100, t.MaxSlowdown*100)
	fail(t.MaxGrowth > 0 && r.Growth() > t.MaxGrowth, "the server's memory rises by %.0f MiB, more than %.0f", mebibytes(r.Growth()), mebibytes(t.MaxGrowth))

	late := &v.Invalid
	if t.AllowLag {
		late = &v.Allowed
	}
	if lag := r.Generator.Lag.P99; t.MaxLag > 0 && lag > latency.Milliseconds(t.MaxLag) {
		*late = append(*late, fmt.Sprintf("the generator was late: p99 of its lag is %.1f ms, over %v", lag, t.MaxLag))
	}
	if r.Generator.Shed > 0 {
		*late = append(*late, fmt.Sprintf("%d planned operations were never sent", r.Generator.Shed))
	}
}
