package report

import (
	"cmp"
	"time"

	"atelier/bench/latency"
)

// Tally counts the results of one kind of operation. It is not safe for concurrent use.
type Tally struct {
	Operation
	// Timed contains the latencies of the measured operations.
	Timed *latency.Histogram
}

// NewTally returns an empty tally.
func NewTally(name string) *Tally {
	return &Tally{Operation{Name: name}, latency.New()}
}

// Succeed counts a successful operation, and records its duration if it is measured.
func (t *Tally) Succeed(took time.Duration, measured bool) {
	if t.Done++; measured {
		t.Timed.Record(took)
	}
}

// Refuse counts an operation that the server refused.
func (t *Tally) Refuse(complaint string) {
	t.Refused++
	t.Complaint = complaint
}

// GiveUp counts an operation without a response.
func (t *Tally) GiveUp(complaint string) {
	t.Unanswered++
	t.Complaint = complaint
}

// Merge adds the counts of another tally.
func (t *Tally) Merge(o *Tally) {
	t.Timed.Merge(o.Timed)
	t.Done += o.Done
	t.Refused += o.Refused
	t.Unanswered += o.Unanswered
	t.Repeated += o.Repeated
	t.Failed += o.Failed
	t.Complaint = cmp.Or(o.Complaint, t.Complaint)
}

// Result returns the tally in the form of a report.
func (t *Tally) Result() Operation {
	out := t.Operation
	out.Latency = t.Timed.Summary()
	return out
}
