package report

import (
	"time"

	"atelier/bench/audit"
	"atelier/bench/latency"
)

// Result is everything that a run found. Latencies are in milliseconds, times in
// seconds, memory in bytes, processor time in cores.
type Result struct {
	Scenario string
	Started  time.Time
	Command  []string
	Versions map[string]string
	Seed     uint64

	Attendees, Facilitators, Joined int
	Warmup, Duration                float64
	Interrupted                     bool

	// Chat is the latency of chat deliveries: from the planned time of the
	// message to the receipt by each subscriber that reads.
	Chat                latency.Summary
	DeliveriesPerSecond float64
	// Parts of the measured time, when it is divided, and their comparison.
	Parts []Part
	// Memory of the server over the measured time, when it is followed.
	Memory []Weight
	// Events is how many stored events of all kinds arrived; Acked how many
	// operations were acknowledged.
	Events, Acked int64

	Operations  []Operation
	Audit       Audit
	Disconnects map[string]int
	Restarts    []Restart
	Generator   Generator
	// Server is nil when it could not be weighed.
	Server *Server

	// Verdict is filled in by Judge.
	Verdict Verdict
}

// Part is a part of the measured time: what was going on, and the latency of
// chat deliveries in it.
type Part struct {
	Name string          `json:"name"`
	Chat latency.Summary `json:"chat"`
	// Memory of the server in it: the lowest, the mean and the highest, bytes.
	Lowest  int64 `json:"lowest_rss"`
	Mean    int64 `json:"mean_rss"`
	Highest int64 `json:"highest_rss"`
}

// Weight is the memory of the server at a moment of the measured time.
type Weight struct {
	Second float64 `json:"second"`
	RSS    int64   `json:"rss"`
	Part   int     `json:"part"`
}

// Slowdown is by how much the p99 of chat deliveries in the last part is above
// that in the first, as a share; 0 when the time is not divided.
func (r *Result) Slowdown() float64 {
	if len(r.Parts) < 2 || r.Parts[0].Chat.P99 <= 0 {
		return 0
	}
	return r.Parts[len(r.Parts)-1].Chat.P99/r.Parts[0].Chat.P99 - 1
}

// Growth is by how much the highest memory in the last part is above that in
// the first, bytes.
func (r *Result) Growth() int64 {
	if len(r.Parts) < 2 {
		return 0
	}
	return r.Parts[len(r.Parts)-1].Highest - r.Parts[0].Highest
}

// Operation is one kind of operation.
type Operation struct {
	Name       string          `json:"name"`
	Latency    latency.Summary `json:"latency"`
	Done       int             `json:"done"`
	Refused    int             `json:"refused"`
	Unanswered int             `json:"unanswered"`
	// Complaint is the last refusal or failure.
	Complaint string `json:"complaint,omitempty"`
}

// Audit is what was lost, doubled or out of order.
type Audit struct {
	// Missed events: somebody got them and this subscriber did not. Unpublished:
	// their write is there, and they reached nobody; counted for each
	// subscriber.
	Missed      int `json:"missed"`
	Unpublished int `json:"unpublished"`
	Duplicated  int `json:"duplicated"`
	Reordered   int `json:"reordered"`
	// Misdirected events were for others.
	Misdirected int `json:"misdirected"`
	// Resyncs of people who read; each is a gap.
	Resyncs int `json:"resyncs"`
	// Unfinished people did not get the last message in time.
	Unfinished int                     `json:"unfinished"`
	Stalled    Stalled                 `json:"stalled"`
	Writes     map[string]audit.Writes `json:"writes"`
}

// Lost is all that was lost: events and acknowledged writes.
func (a *Audit) Lost() int {
	n := a.Missed + a.Unpublished
	for _, w := range a.Writes {
		n += w.Lost
	}
	return n
}

// Doubled is all that was there twice: events and writes.
func (a *Audit) Doubled() int {
	n := a.Duplicated
	for _, w := range a.Writes {
		n += w.Doubled
	}
	return n
}

// Phantoms are writes that were refused and applied.
func (a *Audit) Phantoms() int {
	n := 0
	for _, w := range a.Writes {
		n += w.Phantom
	}
	return n
}

// Stalled is what became of those who stopped reading, once they read again.
type Stalled struct {
	People int `json:"people"`
	// Closed connections while they did not read.
	Closed int `json:"closed"`
	// Resynced were told of a gap, CaughtUp missed nothing, Unfinished did not
	// get to the end in time; Gaps were not told, which counts as loss.
	Resynced   int `json:"resynced"`
	CaughtUp   int `json:"caught_up"`
	Unfinished int `json:"unfinished"`
	Gaps       int `json:"gaps"`
}

// Restart is one kill: milliseconds from it to readiness, and to the last
// welcome.
type Restart struct {
	Ready      float64 `json:"ready"`
	Resumed    float64 `json:"resumed"`
	AllResumed bool    `json:"all_resumed"`
}

// Generator is what the load test itself took.
type Generator struct {
	// Lag is from the planned time of an operation to its sending.
	Lag latency.Summary `json:"lag"`
	// Turns are the times between two looks at the sockets: a bound of how late
	// a delivery was read.
	Turns latency.Summary `json:"turns"`
	// CPU in cores; Busy is the share of its time that the socket loop worked.
	CPU  float64 `json:"cpu"`
	Busy float64 `json:"busy"`
	// Shed operations were never sent.
	Shed int `json:"shed"`
	// Seconds that were measured.
	Seconds float64 `json:"seconds"`
}

// Server is what the server took while it was measured.
type Server struct {
	CPU     float64 `json:"cpu"`
	RSS     int64   `json:"rss"`
	PeakRSS int64   `json:"peak_rss"`
}
