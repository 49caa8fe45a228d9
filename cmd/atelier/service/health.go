package service

import (
	"atelier/actors/durable"
	"atelier/cmd/atelier/nodes"
	"atelier/transport/server"
)

// health returns the /readyz response, which states whether a load balancer should send people to
// this node.
func (s *Service) health() server.Health {
	if !s.started.Load() {
		return server.Health{Why: "starting", Reason: "starting", Quarantined: []string{}}
	}
	n, st := s.core.node, s.core.store.Stats()
	if n != nil && !n.Serves() {
		h := server.Health{Why: "this node has lost its lease", Reason: "lease", ReadOnly: st.ReadOnly, Quarantined: []string{}, Cluster: n.Health()}
		if st.ReadOnly {
			h.Why += ": " + nodes.TakesNoWrites
		}
		return h
	}
	h := server.Health{Ready: true, ReadOnly: st.ReadOnly, Quarantined: s.core.codelabs.Quarantined(), Cluster: n.Health()}
	for _, t := range s.vaults.stats() {
		h.QuarantinedTokens += t.Quarantined
	}
	if h.Quarantined == nil {
		h.Quarantined = []string{}
	}
	not := func(reason, why string) { h.Ready, h.Reason, h.Why = false, reason, why }
	// A node that reaches no other node cannot serve the actors of other nodes. The other nodes
	// still serve all actors except those of this node.
	if n != nil && n.StandsAside() {
		not("unreachable", "this node reaches no other live node, so the others serve instead")
	}
	if n != nil && n.Aside.Load() {
		not("aside", "this node serves nobody at this moment")
	}
	if n.Drained() {
		not("drained", "this node is drained")
	}
	shared, ok := s.core.store.(durable.Shared)
	if st.ReadOnly && !ok {
		not(nodes.DiskFull, "the disk is nearly full, and nothing is written")
	}
	t := s.core.folder.Trouble()
	if t == nil {
		t = n.Trouble()
	}
	if t != nil {
		not(t.Reason, t.Text)
	}
	if ok && !shared.Holds() {
		not("database", "the database does not answer")
	}
	if st.Failed != nil {
		not("store", "the store failed and needs a restart")
	}
	return h
}
