package service

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"atelier/cmd/atelier/nodes"
	"atelier/transport/control"
	"atelier/transport/rfc6455"
	"atelier/transport/server"
)

// duties implements this server's tasks as one of several nodes. The goroutine of the node's Watch
// owns its fields.
type duties struct {
	*Service
	undrain func() // ends draining
}

func (d *duties) EndGrants() { d.grants.Sweep() }

func (d *duties) SendAway(why string) {
	for _, w := range d.core.codelabs.Active() {
		d.hub.CloseRoom(w.Room, rfc6455.CloseRestart, why)
	}
}

func (d *duties) Drop() {
	for _, h := range slices.Backward(d.core.hosts) {
		h.Drop()
	}
}

func (d *duties) CloseUnreachable() {
	for _, w := range d.core.codelabs.Active() {
		if w.OwnerUnreachable() {
			d.hub.CloseRoom(w.Room, rfc6455.CloseTryLater, "this server cannot reach the one that has the codelab; connect again")
		}
	}
}

func (d *duties) Compare(alive []string) { d.core.codelabs.Compare(alive) }

func (d *duties) Owned() (all []nodes.Owned) {
	for _, w := range d.core.codelabs.Active() {
		if !w.Owns() {
			continue
		}
		_, seq := w.ViewAt()
		all = append(all, nodes.Owned{ID: w.ID(), Seq: seq})
	}
	return all
}

func (d *duties) Made(id string) time.Time {
	if m := d.core.list.Known(id); m != nil {
		return time.UnixMilli(m.CreatedAt)
	}
	return time.Time{}
}

func (d *duties) GiveAll(to []string) int {
	left := 0
	for _, w := range d.core.codelabs.Active() {
		if w.Owns() {
			d.core.codelabs.GiveTo(w, to[left%len(to)])
			left++
		}
	}
	return left
}

func (d *duties) Move(id, to string) {
	me := d.core.node.Store.Node()
	if w, ok := d.core.codelabs.Peek(id); ok && w.Owns() {
		if to != me {
			d.core.codelabs.GiveTo(w, to)
		}
		return
	}
	if to != me {
		return
	}
	if owner, err := d.core.node.Store.Owner("codelab/" + id); err == nil && owner == "" {
		_, _ = d.core.codelabs.Get(id) // opening takes over a codelab without an owner; the next turn retries a failure
	}
}

// Drain does not wait. Remaining connections are closed once the node has released its codelabs.
func (d *duties) Drain() {
	ctx, end := context.WithCancel(d.ending)
	done := make(chan struct{})
	d.background.Go(func() {
		defer close(done)
		_ = d.drain(ctx)
	})
	d.undrain = func() {
		end()
		<-done // otherwise the drain could still close sessions
		d.hub.Reopen()
	}
}

func (d *duties) Undrain() { d.undrain() }

func (d *duties) Counts() nodes.Counts {
	c := nodes.Counts{Records: d.core.store.Stats().Records, Connections: d.hub.Stats().Sessions, People: d.connected()}
	st := d.clusterStats()
	for _, kind := range st.Copies {
		c.Lag = max(c.Lag, kind.Age)
	}
	c.Divergences = st.Divergences
	return c
}

// connected counts the people connected to this node. A person in two codelabs counts twice.
func (s *Service) connected() (n int) {
	for _, w := range s.core.codelabs.Active() {
		n += w.Room.Connected()
	}
	return n
}

// clusterStats returns this node's numbers for the metrics, or nil on a single server.
func (s *Service) clusterStats() *server.ClusterStats {
	if s.core.node == nil {
		return nil
	}
	st := s.core.node.Stats()
	for _, h := range s.core.hosts {
		st.Copies[h.name] = h.Replicas()
		a := h.Stats()
		st.Forwarded += a.Forwarded.Load()
		st.Takeovers += a.Takeovers.Load()
		st.Questions += a.Questions.Load()
		st.Confirmed += a.Confirmed.Load()
		st.Divergences += a.Divergences.Load()
	}
	return st
}

// clusterStatus returns the control socket's response, in JSON.
func (s *Service) clusterStatus() ([]byte, error) {
	if s.core.node == nil {
		return nil, nodes.ErrAlone
	}
	return json.Marshal(s.core.node.Status(s.cfg, s.health(), s.clusterStats()))
}

// place carries out an operator's request to the nodes.
func (s *Service) place(p control.Placing) error {
	n := s.core.node
	if n == nil {
		return nodes.ErrAlone
	}
	switch p.Do {
	case "drain":
		return n.Drain(p.Node)
	case "undrain":
		return n.Undrain(p.Node)
	case "move":
		m, err := s.core.list.Get(p.Codelab)
		if err == nil && m == nil {
			err = fmt.Errorf("there is no codelab %s", p.Codelab)
		}
		if err != nil {
			return err
		}
		return n.Move(p.Codelab, p.Node)
	case "forget":
		return n.Forget(string(s.cfg.Storage.Postgres), p.Node)
	}
	return fmt.Errorf("nodes have no command %q", p.Do)
}
