package server

import (
	"github.com/prometheus/client_golang/prometheus"

	"atelier/actors/durable"
	"atelier/transport/bus"
)

// ClusterStats contains the metrics of a cluster node.
type ClusterStats struct {
	LeaseHeld  bool
	LeasesLost int64
	// Alive counts the nodes with a valid lease. Unreachable counts the nodes among them that do
	// not answer this node.
	Alive, Unreachable int
	// Copies contains the replica statistics by kind of actor.
	Copies map[string]durable.ReplicaStats
	Bus    bus.Stats
	// Counters of all kinds of actors, see durable.Stats.
	Forwarded, Takeovers, Questions, Confirmed, Divergences int64
}

// collect emits the metrics. A single server has none.
func (c *ClusterStats) collect(emit func(kind prometheus.ValueType, name, help string, v float64, labels ...string)) {
	if c == nil {
		return
	}
	gauge := func(name, help string, v float64, labels ...string) {
		emit(prometheus.GaugeValue, name, help, v, labels...)
	}
	count := func(name, help string, v float64, labels ...string) {
		emit(prometheus.CounterValue, name, help, v, labels...)
	}

	gauge("lease_held", "1 while this node's lease is valid.", flag(c.LeaseHeld))
	count("lease_lost_total", "Times this node lost its lease.", float64(c.LeasesLost))
	gauge("nodes_alive", "Nodes with a valid lease, including this node.", float64(c.Alive))
	gauge("nodes_unreachable", "Nodes with a valid lease that do not answer this node.", float64(c.Unreachable))
	behind, age := uint64(0), 0.0
	for kind, a := range c.Copies {
		gauge("actors_owned", "Actors that this node owns and has in memory, by kind.", float64(a.Owned), "kind", kind)
		gauge("actors_followed", "Replicas on this node of actors that other nodes own, by kind.", float64(a.Followed), "kind", kind)
		behind, age = max(behind, a.Behind), max(age, a.Age.Seconds())
	}
	gauge("follower_lag_records", "Largest number of records by which a replica is behind the last position announced by its owner.", float64(behind))
	gauge("follower_age_seconds", "Longest time since a replica was known to be complete.", age)
	count("bus_sent_total", "Messages sent to other nodes.", float64(c.Bus.Sent))
	count("bus_received_total", "Messages received from other nodes.", float64(c.Bus.Received))
	count("bus_bytes_total", "Bytes sent to other nodes.", float64(c.Bus.Bytes))
	count("bus_missed_total", "Times that messages of other nodes were dropped because they arrived too fast.", float64(c.Bus.Missed))
	for _, why := range bus.Rejections() {
		count("bus_rejected_total", "Messages of other nodes, or of strangers, that were not accepted, by reason.", float64(c.Bus.Rejected[why]), "reason", why.String())
	}
	gauge("bus_connected", "1 while NATS can be reached.", flag(c.Bus.Connected))
	gauge("bus_routes", "Connections of this node's own NATS server to those of other nodes; 0 with an external NATS.", float64(c.Bus.Routes))
	count("commands_forwarded_total", "Commands that this node forwarded to other nodes.", float64(c.Forwarded))
	count("takeovers_total", "Actors that this node took over from another.", float64(c.Takeovers))
	count("replica_divergence_total", "How often a replica differed from its owner at the same position and was loaded again.", float64(c.Divergences))
	count("read_questions_total", "Requests to other nodes for the last acknowledged position.", float64(c.Questions))
	count("reads_confirmed_total", "Reads that the answers to the requests in read_questions_total confirmed.", float64(c.Confirmed))
}
