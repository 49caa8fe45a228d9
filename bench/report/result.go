package report

import (
	"time"

	"atelier/bench/audit"
	"atelier/bench/latency"
)

// Result contains all results of a run. Latencies are in milliseconds, times in seconds, memory in
// bytes, and CPU usage in cores.
type Result struct {
	Scenario string
	// About is a short description of the run: "1000 attendees, 2 facilitators".
	About       string
	Started     time.Time
	Command     []string
	Environment map[string]string
	Seed        uint64

	Warmup, Duration float64
	Interrupted      bool

	// Subject is the name of the operation that Latency describes, such as "chat delivery". Its
	// latency is from the planned time to the receipt, for each receiver that reads.
	Subject string
	Latency latency.Summary
	// Counts is the histogram that Latency summarizes. It is nil if only the summary is known.
	Counts *latency.Histogram
	// Last summarizes the times from the planned sending of a message to its receipt by the last
	// receiver that reads. It is nil if these times were not measured.
	Last *latency.Summary
	// Messages is the number of sent messages that were planned for the measured time. Deliveries is
	// the number of their deliveries.
	Messages, Deliveries int64
	DeliveriesPerSecond  float64

	// Attendees, Facilitators and Joined are the numbers of people in a workshop.
	Attendees, Facilitators, Joined int
	// Connections contains the numbers of connections of a fan-out, such as fanout, idle, reconnect
	// and slow. It is nil for other scenarios.
	Connections *Connections
	// Events is the number of received stored events of all kinds. Acked is the number of
	// acknowledged operations.
	Events, Acked int64

	// Parts contains the parts of the measured time, if it is divided.
	Parts []Part
	// Memory is the server's memory over the measured time, if it was recorded.
	Memory []Weight
	// Series is the timeline of the run, one sample per second. Its seconds count from Zero, which
	// is the beginning of the load.
	Series []Sample
	Zero   time.Time

	Operations []Operation
	// Faults contains the server errors that the scenario found and that the audit does not count,
	// each as a sentence.
	Faults []string
	// Figures contains the other results of a scenario.
	Figures []Figure
	// Remarks explains missing figures.
	Remarks     []Remark
	Audit       Audit
	Disconnects map[string]int
	Restarts    []Restart
	Generator   Generator
	// Server is nil if the server could not be measured.
	Server *Server
	// Nodes contains the servers of a run with several servers, in order.
	Nodes []Node
	// Search is the search that found this run's rate. It is nil if the run is not part of a
	// search.
	Search *Search

	// Verdict is set by Judge.
	Verdict Verdict
}

// Figure is a named number: "bytes_per_connection".
type Figure struct {
	Key string `json:"key"`
	// Name and Unit are for people. Bytes are shown as KiB or MiB.
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// Remark is a sentence for people in place of a figure.
type Remark struct{ Name, Text string }

// Connections contains a run's numbers of connections.
type Connections struct {
	Wanted     int `json:"wanted"`
	Open       int `json:"open"`
	Publishers int `json:"publishers"`
	// Lost is the number of connections that ended too early. Gone is the number of connections
	// that were missing at the end.
	Lost int `json:"lost"`
	Gone int `json:"gone,omitempty"`
}

// Part is a part of the measured time, with the latency of its deliveries and the server's memory.
type Part struct {
	Name    string          `json:"name"`
	Latency latency.Summary `json:"latency"`
	// Lowest, Mean and Highest are the server's lowest, mean and highest memory in this part, in
	// bytes.
	Lowest  int64 `json:"lowest_rss"`
	Mean    int64 `json:"mean_rss"`
	Highest int64 `json:"highest_rss"`
}

// Weight is the server's memory at one moment of the measured time.
type Weight struct {
	Second float64 `json:"second"`
	RSS    int64   `json:"rss"`
	Part   int     `json:"part"`
}

// Sample is one second of a run.
type Sample struct {
	// Second counts from the beginning of the load; negative seconds are before it. Seconds from 0
	// to Warmup belong to the warm-up.
	Second float64 `json:"second"`
	// Phase is the phase of the run, as in package timeline: "connecting", "warm-up", "load".
	Phase string `json:"phase"`
	// Messages is the number of messages sent in this second. Deliveries is the number of
	// deliveries (or operations) done. P50, P99 and Max are the latency of the deliveries.
	Messages   int64   `json:"messages"`
	Deliveries int64   `json:"deliveries"`
	P50        float64 `json:"p50"`
	P99        float64 `json:"p99"`
	Max        float64 `json:"max"`
	Errors     int64   `json:"errors"`
	// Open is the number of open connections.
	Open int `json:"open"`
	// CPU and the following fields up to Queued are values of the server, if they could be read.
	CPU        float64 `json:"cpu"`
	RSS        int64   `json:"rss"`
	Heap       int64   `json:"heap"`
	Goroutines int64   `json:"goroutines"`
	// GC is the longest recent garbage collection pause, in milliseconds.
	GC float64 `json:"gc_pause"`
	// Queued is the number of bytes in the server's queues that are not yet on disk.
	Queued int64 `json:"queued"`
	// Generator is the CPU usage of the generator, in cores.
	Generator float64 `json:"generator"`

	// Nodes contains each node's part of the server's numbers, in the order of the report's nodes.
	Nodes []NodeSample `json:"nodes,omitempty"`
	// Fault is the fault injected in this second, such as "kill:1".
	Fault string `json:"fault,omitempty"`

	// Counts is the histogram of the latencies. It is nil if there were no operations.
	Counts *latency.Histogram `json:"-"`
}

// timed reports whether any latency of this second is known.
func (s *Sample) timed() bool { return s.Counts != nil && s.Counts.Count() > 0 }

// looked reports whether the machine was measured in this second and in the previous one, which CPU
// usage requires. It checks the generator's usage, which is never 0 if it was measured.
func (s *Sample) looked() bool { return s.Generator > 0 }

// weighed reports whether the server's usage in this second is known.
func (s *Sample) weighed() bool { return s.looked() && (s.RSS > 0 || s.CPU > 0) }

// Slowdown returns the relative increase of the p99 from the first to the last part. It returns 0
// if the time is not divided, or if the first part has no latency.
func (r *Result) Slowdown() float64 {
	if len(r.Parts) < 2 || r.Parts[0].Latency.P99 <= 0 {
		return 0
	}
	return r.Parts[len(r.Parts)-1].Latency.P99/r.Parts[0].Latency.P99 - 1
}

// Growth returns the increase of the highest memory from the first to the last part, in bytes.
func (r *Result) Growth() int64 {
	if len(r.Parts) < 2 {
		return 0
	}
	return r.Parts[len(r.Parts)-1].Highest - r.Parts[0].Highest
}

// Operation contains the results of one kind of operation.
type Operation struct {
	Name       string          `json:"name"`
	Latency    latency.Summary `json:"latency"`
	Done       int             `json:"done"`
	Refused    int             `json:"refused"`
	Unanswered int             `json:"unanswered"`
	// Repeated is the number of retries on another node. Failed is the number of operations that
	// got no response and could not be retried.
	Repeated int `json:"repeated,omitempty"`
	Failed   int `json:"failed,omitempty"`
	// Complaint is the last refusal or failure.
	Complaint string `json:"complaint,omitempty"`
}

// Audit counts the events and writes that were lost, duplicated or out of order.
type Audit struct {
	// Missed counts events that a subscriber did not receive, although they were sent or others
	// received them. Unpublished counts events that nobody received, although their write was
	// found. Both are counted separately for each subscriber.
	Missed      int `json:"missed"`
	Unpublished int `json:"unpublished"`
	Duplicated  int `json:"duplicated"`
	Reordered   int `json:"reordered"`
	// Misdirected events were meant for other people.
	Misdirected int `json:"misdirected"`
	// Forged deliveries had a stamp that does not belong to the message. Foreign deliveries are
	// messages that nobody sent in this run.
	Forged  int `json:"forged,omitempty"`
	Foreign int `json:"foreign,omitempty"`
	// Away events were sent while a subscriber was not connected to a server that does not replay
	// missed events, or are in a gap that the server reported. They do not count as Missed.
	// AwayMeant means that this is not a failure, because the run itself disconnects people, or
	// because the server reports gaps with a resync.
	Away      int  `json:"away,omitempty"`
	AwayMeant bool `json:"-"`
	// Resyncs is the number of gaps that the server reported to people who read.
	Resyncs int `json:"resyncs"`
	// Unfinished is the number of people who did not receive the last message in time.
	Unfinished int                     `json:"unfinished"`
	Stalled    Stalled                 `json:"stalled"`
	Writes     map[string]audit.Writes `json:"writes"`
	// Tokens contains the results of a run with tokens. It is nil for other runs.
	Tokens *Tokens `json:"tokens,omitempty"`
}

// Tokens counts the results of tokens. Each token must return its credential at most once.
type Tokens struct {
	// Begun pairs were scheduled in the measured time, and Timed pairs completed. Contested pairs
	// have no latency, because two callers used them. All others failed.
	Begun     int `json:"begun"`
	Timed     int `json:"timed"`
	Contested int `json:"contested"`
	// Raced tokens were used by two callers concurrently, also during the warm-up. OneWinner,
	// TwoWinners and NoWinner count them by their number of winners. The outcome of the rest is
	// unknown, because a response is missing.
	Raced      int `json:"raced"`
	OneWinner  int `json:"one_winner"`
	TwoWinners int `json:"two_winners"`
	NoWinner   int `json:"no_winner"`
	// Wrong credentials differed from the original ones.
	Wrong int `json:"wrong"`
}

// Lost returns the number of lost events and lost acknowledged writes.
func (a *Audit) Lost() int {
	n := a.Missed + a.Unpublished
	for _, w := range a.Writes {
		n += w.Lost
	}
	return n
}

// Doubled returns the number of duplicate events and writes.
func (a *Audit) Doubled() int {
	n := a.Duplicated
	for _, w := range a.Writes {
		n += w.Doubled
	}
	return n
}

// Phantoms returns the number of writes that were refused or never sent, but applied.
func (a *Audit) Phantoms() int {
	n := 0
	for _, w := range a.Writes {
		n += w.Phantom
	}
	return n
}

// Stalled contains the results of clients that stopped reading, after they resumed.
type Stalled struct {
	People int `json:"people"`
	// Closed is the number of connections that ended while their clients did not read.
	Closed int `json:"closed"`
	// Resynced clients received a resync, with which the server reports a gap. CaughtUp clients
	// missed nothing. Unfinished clients did not receive everything in time. Gaps counts the clients
	// that missed events without a resync. These events count as lost.
	Resynced   int `json:"resynced"`
	CaughtUp   int `json:"caught_up"`
	Unfinished int `json:"unfinished"`
	Gaps       int `json:"gaps"`
}

// Restart is one injected fault. Ready and Resumed are the milliseconds until the server was ready
// and until the last client was welcomed.
type Restart struct {
	// Fault is the kind of the fault, such as "kill"; "" means "kill".
	Fault      string  `json:"fault"`
	Ready      float64 `json:"ready"`
	Resumed    float64 `json:"resumed"`
	AllResumed bool    `json:"all_resumed"`

	// What describes the injected fault with its nodes, such as "cut:1-db". It is empty for a
	// workshop on a single server.
	What  string   `json:"what,omitempty"`
	Nodes []string `json:"nodes,omitempty"`
	// At is the second of the measured time at which the fault began. Lasted is its duration in
	// milliseconds.
	At     float64 `json:"at"`
	Lasted float64 `json:"lasted"`
	// Recovery is the time from the beginning of the fault until the p99 of deliveries over a
	// second was under 250 ms and stayed so, in milliseconds. For clients of a paused server, the
	// time counts from when the server resumed. If Recovered is false, it is the time until the
	// next fault or the end.
	Recovery  float64 `json:"recovery"`
	Recovered bool    `json:"recovered"`
	// Repeated requests were retried on another node. Failed requests ended in an error for the
	// client, because it was unknown whether they had been executed.
	Repeated int            `json:"repeated"`
	Failed   int            `json:"failed"`
	FailedBy map[string]int `json:"failed_by,omitempty"`
}

// Generator is the resource usage of the load test itself.
type Generator struct {
	// Workers is the number of the generator's processes.
	Workers int `json:"workers"`
	// Lag is the time from the planned time of an operation to its sending.
	Lag latency.Summary `json:"lag"`
	// Turns is the time between two polls of the sockets. It bounds the delay in reading a
	// delivery.
	Turns latency.Summary `json:"turns"`
	// CPU is the CPU usage of all processes of the generator, in cores. Busy is the busy share of
	// the busiest socket loop.
	CPU  float64 `json:"cpu"`
	Busy float64 `json:"busy"`
	// Shed is the number of operations that were never sent.
	Shed int `json:"shed"`
	// Unopened is the number of connections that are missing because the generator's machine lacked
	// a resource. Lack describes the resource.
	Unopened int    `json:"unopened,omitempty"`
	Lack     string `json:"lack,omitempty"`
	// Seconds is the length of the measured time.
	Seconds float64 `json:"seconds"`
}

// Server is the server's resource usage. CPU is the usage during the measured time, in cores. RSS
// is the resident memory at the end of this time, in bytes. PeakRSS is the peak since the start of
// the process, or RSS if the peak is unknown.
type Server struct {
	CPU     float64 `json:"cpu"`
	RSS     int64   `json:"rss"`
	PeakRSS int64   `json:"peak_rss"`
}
