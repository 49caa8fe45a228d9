package report

import (
	"sync"
	"time"

	"atelier/bench/latency"
)

// Tally counts the results of one kind of request, for scenarios that make requests of this kind
// during a workshop. Safe for concurrent use.
type Tally struct {
	mu sync.Mutex
	// Guarded by mu.
	of      Operation
	latency *latency.Histogram
}

// NewTally returns an empty tally.
func NewTally(name string) *Tally {
	return &Tally{of: Operation{Name: name}, latency: latency.New()}
}

// Done counts a successful request and its duration.
func (t *Tally) Done(took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of.Done++
	t.latency.Record(took)
}

// Refused counts a request that the server refused.
func (t *Tally) Refused(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of.Refused++
	t.of.Complaint = why.Error()
}

// Unanswered counts a request that failed without a response.
func (t *Tally) Unanswered(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of.Unanswered++
	t.of.Complaint = why.Error()
}

// Operation returns the tally in the form of a report.
func (t *Tally) Operation() Operation {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.of
	out.Latency = t.latency.Summary()
	return out
}
