package service

import (
	"encoding/json"

	"atelier/actors/codelab"
	"atelier/actors/durable"
	"atelier/cmd/atelier/nodes"
	"atelier/transport/rfc6455"
	"atelier/transport/server"
)

// duties are what this server does as one of several nodes.
type duties struct{ *Service }

func (d duties) EndGrants() { d.grants.Sweep() }

func (d duties) SendAway(why string) {
	for _, w := range d.core.workshops.Active() {
		d.hub.CloseRoom(w.Room, rfc6455.CloseRestart, why)
	}
}

func (d duties) Drop() {
	d.core.workshops.Drop()
	d.core.participants.Drop()
	d.core.people.Drop()
	d.core.webhooks.Host().Drop()
	d.core.settings.Drop()
}

func (d duties) CloseUnheard() {
	for _, w := range d.core.workshops.Active() {
		if w.Unheard() {
			d.hub.CloseRoom(w.Room, rfc6455.CloseTryLater, "this server cannot reach the one that has the codelab; connect again")
		}
	}
}

func (d duties) Compare(alive []string) { d.core.workshops.Compare(alive) }

func (d duties) People() int { return d.connected() }

// connected counts the persons who are connected to this node; in two codelabs they
// count twice.
func (s *Service) connected() (n int) {
	for _, w := range s.core.workshops.Active() {
		n += w.Room.Connected()
	}
	return n
}

// Give gives the codelab with the fewest people away.
func (d duties) Give(to string) {
	var give *codelab.Workshop
	fewest := 0
	for _, w := range d.core.workshops.Active() {
		if n := w.Room.Connected(); w.Owns() && (give == nil || n < fewest) {
			give, fewest = &w, n
		}
	}
	if give != nil {
		d.log.Info("giving a codelab to a node that owns fewer", "codelab", give.ID(), "to", to)
		d.core.workshops.GiveTo(*give, to)
	}
}

// clusterStats are the numbers of this node for the metrics; nil for a server
// that stands alone.
func (s *Service) clusterStats() *server.ClusterStats {
	if s.core.node == nil {
		return nil
	}
	st := s.core.node.Stats()
	st.Copies["codelab"], st.Copies["participants"] = s.core.workshops.Copies(), s.core.participants.Copies()
	st.Copies["settings"], st.Copies["people"] = s.core.settings.Copies(), s.core.people.Copies()
	st.Copies["webhooks"] = s.core.webhooks.Host().Copies()
	for _, a := range []*durable.Stats{s.core.workshops.Stats(), s.core.participants.Stats(), s.core.settings.Stats(), s.core.people.Stats(), s.core.webhooks.Host().Stats()} {
		st.Forwarded += a.Forwarded.Load()
		st.Takeovers += a.Takeovers.Load()
		st.Questions += a.Questions.Load()
		st.Confirmed += a.Confirmed.Load()
		st.Divergences += a.Divergences.Load()
	}
	return st
}

// clusterStatus is what the control socket answers, JSON.
func (s *Service) clusterStatus() ([]byte, error) {
	if s.core.node == nil {
		return nil, nodes.ErrAlone
	}
	return json.Marshal(s.core.node.Status(s.cfg, s.health(), s.clusterStats()))
}
