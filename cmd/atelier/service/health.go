package service

import (
	"atelier/actors/durable"
	"atelier/cmd/atelier/nodes"
	"atelier/transport/server"
)

// health is what /readyz answers: whether a balancer should send people here.
func (s *Service) health() server.Health {
	if !s.started.Load() {
		return server.Health{Why: "starting", Quarantined: []string{}}
	}
	n, st := s.core.node, s.core.store.Stats()
	if n != nil && !n.Serves() {
		h := server.Health{Why: "this node has lost its lease", ReadOnly: st.ReadOnly, Quarantined: []string{}, Cluster: n.Health()}
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
	// What others own it cannot serve then, and they serve all but what it owns.
	if n != nil && n.StandsAside() {
		h.Ready, h.Why = false, "this node reaches none of the other living nodes, and leaves serving to them"
	}
	if n.Drained() {
		h.Ready, h.Why = false, "this node is drained"
	}
	if shared, ok := s.core.store.(durable.Shared); ok && !shared.Holds() {
		h.Ready, h.Why = false, "the database does not answer"
	}
	if st.Failed != nil {
		h.Ready, h.Why = false, "the store failed and needs a restart"
	}
	return h
}
