package report

import (
	"fmt"
	"strings"
	"testing"

	"atelier/bench/latency"
)

// The report contains the limit that ended the search, and the known rates.
func TestSearchesAreReported(t *testing.T) {
	for want, s := range map[string]Search{
		"850 was missed":                                           {HighestRate: 800, LowestMissed: 850, LimitedBy: LimitedByServer},
		"the generator was too slow for 850":                       {HighestRate: 800, LowestMissed: 850, LimitedBy: LimitedByGenerator},
		"none was missed, and all steps were made":                 {HighestRate: 800, LimitedBy: LimitedBySteps},
		"850 was missed, and all steps were made":                  {HighestRate: 800, LowestMissed: 850, LimitedBy: LimitedBySteps},
		"none was missed":                                          {HighestRate: 8e6, LimitedBy: LimitedByRange},
		"at 1600 the server could not be tested":                   {HighestRate: 800, LowestMissed: 1600, LimitedBy: LimitedByError},
		"none was missed until the search was interrupted":         {LimitedBy: LimitedByInterruption},
		"850 was missed until the search was interrupted":          {LowestMissed: 850, LimitedBy: LimitedByInterruption},
		"[{search 9 was missed} {  step 1 9 messages/s, 1,000 del": {LowestMissed: 9, LimitedBy: LimitedByServer, Steps: []Step{{Rate: 9, Outcome: Missed, Why: "p99<1ms: it is 2 ms", DeliveriesPerSecond: 1000}}},
	} {
		if got := s.facts(); got[0].Text != want && !strings.HasPrefix(fmt.Sprint(got), want) {
			t.Errorf("the facts are %v, want %s", got, want)
		}
	}
}

// If the generator was too slow in a step, the server's performance in that step is unknown.
func TestStepsOfASlowGeneratorAreInvalid(t *testing.T) {
	r := &Result{Latency: latency.Summary{P99: 5}}
	if s := NewStep(3, r); s.Outcome != Kept || s.Why != "" || s.P99 != 5 || s.Rate != 3 {
		t.Errorf("the passed step is %+v", s)
	}
	r.Verdict.Failures = []string{"p99<1ms: it is 5 ms"}
	if s := NewStep(3, r); s.Outcome != Missed || s.Why != r.Verdict.Failures[0] {
		t.Errorf("the missed step is %+v", s)
	}
	r.Verdict.Invalid = []string{"late"}
	if s := NewStep(3, r); s.Outcome != Invalid || s.Why != "late" {
		t.Errorf("the invalid step is %+v", s)
	}
}
