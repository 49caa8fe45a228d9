package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Node is the resource usage of one of several servers. CPU is the usage during the measured time,
// in cores. RSS is the resident memory at the end of this time, in bytes. PeakRSS is the peak since
// the start of the process, or RSS if the peak is unknown.
type Node struct {
	Name    string  `json:"name"`
	CPU     float64 `json:"cpu"`
	RSS     int64   `json:"rss"`
	PeakRSS int64   `json:"peak_rss"`
	// Deliveries is the number of deliveries to this node's clients. CPUPerMillion is the node's
	// CPU time per million deliveries, in seconds. Both are 0 if deliveries are not counted per
	// node.
	Deliveries    int64   `json:"deliveries"`
	CPUPerMillion float64 `json:"cpu_per_million"`
	// Sent and Received are numbers of messages between nodes. Bytes is the size of the sent
	// messages. All are 0 if the node's metrics lack them.
	Sent     int64 `json:"sent"`
	Received int64 `json:"received"`
	Bytes    int64 `json:"bytes"`
}

// NodeSample contains the values of a node in one second, in the units of Node.
type NodeSample struct {
	CPU float64 `json:"cpu"`
	RSS int64   `json:"rss"`
}

// Recovery returns the longest time that the service took to recover after a fault, in
// milliseconds. ok is false if it was not measured.
func (r *Result) Recovery() (longest float64, ok bool) {
	for _, f := range r.Restarts {
		if f.Recovered || f.Recovery > 0 {
			longest, ok = max(longest, f.Recovery), true
		}
	}
	return longest, ok
}

// Unrecovered returns the number of faults after which no recovery was observed, if recovery was
// measured. This includes faults that no messages followed.
func (r *Result) Unrecovered() int {
	n := 0
	for _, f := range r.Restarts {
		if !f.Recovered {
			n++
		}
	}
	if _, measured := r.Recovery(); !measured {
		return 0
	}
	return n
}

// betweenNodes returns the traffic between the nodes per message of the load, or 0 if it is
// unknown.
func (r *Result) betweenNodes() (messages, bytes float64) {
	if r.Messages == 0 {
		return 0, 0
	}
	for _, n := range r.Nodes {
		messages += float64(n.Sent)
		bytes += float64(n.Bytes)
	}
	return messages / float64(r.Messages), bytes / float64(r.Messages)
}

// recovered describes for people how long a fault affected latency, and how many requests it
// affected.
func (r *Restart) recovered() string {
	var b strings.Builder
	switch {
	case r.Recovered:
		fmt.Fprintf(&b, "; p99 under 250 ms after %.0f ms", r.Recovery)
	case r.Recovery > 0: // a number that was not measured is omitted
		fmt.Fprintf(&b, "; p99 not under 250 ms within %.0f ms", r.Recovery)
	}
	if r.Repeated+r.Failed > 0 {
		fmt.Fprintf(&b, "; %s repeated, %d failed", Count(r.Repeated, "request"), r.Failed)
		for i, op := range slices.Sorted(maps.Keys(r.FailedBy)) {
			fmt.Fprintf(&b, "%s%s %d", map[bool]string{true: ": ", false: ", "}[i == 0], op, r.FailedBy[op])
		}
	}
	return b.String()
}
