package report

import (
	"cmp"
	"fmt"
)

// Search is the search for the highest rate that meets all thresholds. Rates are in messages per
// second, for all publishers together.
type Search struct {
	// HighestRate is the highest rate that met all thresholds. LowestMissed is the lowest rate that
	// did not. Each is 0 if there is none.
	HighestRate  float64 `json:"highest_rate"`
	LowestMissed float64 `json:"lowest_missed"`
	// LimitedBy is the reason why no higher rate was found.
	LimitedBy Limit  `json:"limited_by"`
	Steps     []Step `json:"steps"`
}

// Limit is the reason why a search ended.
type Limit string

// These are the reasons why a search ends. LimitedByServer means that the server missed a threshold
// at LowestMissed, and that the search needs no rate in between. With LimitedByGenerator, the
// generator was too slow for LowestMissed, so the server may be faster. With LimitedBySteps, all
// permitted steps were used. With LimitedByRange, the next rate would exceed the maximum. With
// LimitedByError, a step could not run.
const (
	LimitedByServer       Limit = "server"
	LimitedByGenerator    Limit = "generator"
	LimitedBySteps        Limit = "steps"
	LimitedByRange        Limit = "range"
	LimitedByError        Limit = "error"
	LimitedByInterruption Limit = "interruption"
)

// Step is one rate that was tried. Latencies are in milliseconds.
type Step struct {
	Rate    float64 `json:"rate"`
	Outcome Outcome `json:"outcome"`
	// Why describes the first problem; "" if there was none.
	Why string `json:"why,omitempty"`

	P50                 float64 `json:"p50"`
	P99                 float64 `json:"p99"`
	Max                 float64 `json:"max"`
	Messages            int64   `json:"messages"`
	DeliveriesPerSecond float64 `json:"deliveries_per_second"`
}

// Outcome is the result of a step.
type Outcome string

// These are the outcomes of a step. In an invalid step the generator was too slow, so the cause of
// missed thresholds is unknown.
const (
	Kept    Outcome = "kept"
	Missed  Outcome = "missed"
	Invalid Outcome = "invalid"
)

// NewStep returns the step for a judged run at a rate.
func NewStep(rate float64, r *Result) Step {
	s := Step{
		Rate: rate, Outcome: Kept, P50: r.Latency.P50, P99: r.Latency.P99, Max: r.Latency.Max,
		Messages: r.Messages, DeliveriesPerSecond: r.DeliveriesPerSecond,
	}
	switch v := &r.Verdict; {
	case !v.Valid():
		s.Outcome, s.Why = Invalid, v.Invalid[0]
	case len(v.Failures) > 0:
		s.Outcome, s.Why = Missed, v.Failures[0]
	}
	return s
}

// bound returns a short description of the limit.
func (s *Search) bound() string {
	missed := unless(s.LowestMissed == 0, fmt.Sprintf("%g was missed", s.LowestMissed))
	switch s.LimitedBy {
	case LimitedByServer:
		return missed
	case LimitedByGenerator:
		return fmt.Sprintf("the generator was too slow for %g", s.LowestMissed)
	case LimitedBySteps:
		return cmp.Or(missed, "none was missed") + ", and all steps were made"
	case LimitedByRange:
		return "none was missed"
	case LimitedByError:
		return fmt.Sprintf("at %g the server could not be tested", s.LowestMissed)
	}
	return cmp.Or(missed, "none was missed") + " until the search was interrupted"
}

// facts returns the search as lines of the report.
func (s *Search) facts() []fact {
	out := []fact{{"search", s.bound()}}
	for i, step := range s.Steps {
		out = append(out, fact{fmt.Sprintf("  step %d", i+1), fmt.Sprintf("%g messages/s, %s deliveries/s, p99 %.2f ms: %s%s",
			step.Rate, grouped(int64(step.DeliveriesPerSecond)), step.P99, step.Outcome, unless(step.Why == "", ", "+step.Why))})
	}
	return out
}
