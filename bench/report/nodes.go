package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Node has the resource usage of one of several servers during the measured time.
type Node struct {
	Name    string  `json:"name"`
	CPU     float64 `json:"cpu"`
	RSS     int64   `json:"rss"`
	PeakRSS int64   `json:"peak_rss"`
	// Deliveries to the clients of this node, and the node's CPU time per million deliveries, in
	// seconds. Both are 0 if deliveries are not counted by node.
	Deliveries    int64   `json:"deliveries"`
	CPUPerMillion float64 `json:"cpu_per_million"`
	// Sent and Received count messages between nodes, and Bytes is the size of the sent ones. All
	// are 0 if the node's metrics lack them.
	Sent     int64 `json:"sent"`
	Received int64 `json:"received"`
	Bytes    int64 `json:"bytes"`
}

// NodeSample is one second of a node.
type NodeSample struct {
	CPU float64 `json:"cpu"`
	RSS int64   `json:"rss"`
}

// Recovery returns the longest recovery time of the service after a fault, in milliseconds; ok is
// false if it was not measured.
func (r *Result) Recovery() (longest float64, ok bool) {
	for _, f := range r.Restarts {
		if f.Recovered || f.Recovery > 0 {
			longest, ok = max(longest, f.Recovery), true
		}
	}
	return longest, ok
}

// Unrecovered returns the number of faults after which no recovery was observed, if it was
// measured. This includes faults after which there were no messages.
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

// betweenNodes returns the traffic between the nodes per message of the load; 0 if it is unknown.
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

// recovered describes how long a fault affected latency, for people.
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
