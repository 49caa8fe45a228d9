package durable

import "time"

// ReplicaStats counts a Host's actors by their role among the nodes of a cluster.
type ReplicaStats struct {
	// Owned counts the actors that this node owns. Shared counts the owned actors with followers on
	// other nodes. Followed counts the replicas of other nodes' actors.
	Owned, Shared, Followed int
	// Behind is the maximum number of records by which a replica is behind the last position
	// announced by its owner. Age is the maximum age of a replica: the time since it certainly
	// included every acknowledged change. Without replicas it is 0.
	Behind uint64
	Age    time.Duration
	// Distrusted lists the ids of replicas that differed from their owner twice within a minute.
	Distrusted []string
}

// Replicas counts the actors in memory by their role. It visits all of them, so it is slow, and
// meant for metrics and status pages.
func (h *Host[C, E, V]) Replicas() (c ReplicaStats) {
	for _, hd := range h.Active() {
		if hd.Owns() {
			c.Owned++
			if hd.followed.Load() {
				c.Shared++
			}
			continue
		}
		c.Followed++
		if hd.distrusted.Load() {
			c.Distrusted = append(c.Distrusted, hd.id)
		}
		if _, seq := hd.ViewAt(); hd.head.Load() > seq {
			c.Behind = max(c.Behind, hd.head.Load()-seq)
		}
		// A new replica has not shown anything yet.
		if fresh := hd.fresh.Load(); fresh != 0 {
			c.Age = max(c.Age, h.opts.Clock.Uptime()-time.Duration(fresh))
		}
	}
	return c
}
