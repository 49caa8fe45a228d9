package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"atelier/actors/codelab"
	"atelier/actors/durable"
	"atelier/cmd/atelier/config"
	"atelier/persistence/postgres"
	"atelier/transport/bus"
	"atelier/transport/rfc6455"
)

// protocolVersion is that of what nodes tell each other. Nodes of the version
// before and this one work together, so that one after the other can be
// replaced; the difference of two is refused at the start. It is raised with each
// release that says something new to other nodes, and what it means is kept in
// cmd/atelier/deploy/CLUSTER.md ("Versions").
//
// 3: messages are sealed. It leaves 2 out, so that nodes of version 1, whose
// messages cannot be read, are refused.
const protocolVersion = 3

// protocol is the version of the messages between nodes in this start.
func (o Options) protocol() int {
	if o.Protocol != 0 {
		return o.Protocol
	}
	return protocolVersion
}

// beside says next to which nodes this server may run.
func beside(cfg config.Config, version int) func([]durable.Member) error {
	return func(others []durable.Member) error {
		for _, m := range others {
			switch {
			case !cfg.Cluster.Enabled:
				return fmt.Errorf("storage.postgres: node %s runs on this database, and cluster.enabled is off here: switch it on, or give this server a database of its own", m.Node)
			case m.Node == postgres.Alone:
				return errors.New("storage.postgres: a server without cluster.enabled runs on this database; stop it first")
			case m.Version > version+1 || m.Version < version-1:
				return fmt.Errorf("cluster: node %s (program %s) speaks version %d of the messages between nodes and this program version %d; only neighbours understand each other: update all nodes one version at a time, or stop all of them first", m.Node, m.Program, m.Version, version)
			}
		}
		return nil
	}
}

// node is this server as one of several. A nil one stands alone.
type node struct {
	durable.Cluster
	bus *bus.Bus
	log *slog.Logger
	// alive counts the nodes whose lease holds, this one included.
	alive atomic.Int64
	// away: this node has lost its lease, and is on its way back; lost counts
	// how often.
	away  atomic.Bool
	lost  atomic.Int64
	reach reach
}

// openNode connects to the other nodes.
func openNode(cfg config.Config, store durable.Shared, patience time.Duration, stop <-chan struct{}, log *slog.Logger) (*node, error) {
	conf, err := cfg.Cluster.TLS(func(err error) { log.Error("the renewed certificate of this node cannot be used", "error", err) })
	if err != nil {
		return nil, err
	}
	n := &node{log: log.With("component", "cluster", "node", cfg.Cluster.Node)}
	n.alive.Store(1)
	n.bus, err = bus.Open(bus.Options{
		Node: cfg.Cluster.Node, Secret: string(cfg.Cluster.Secret), Cluster: store.StreamID(), Listen: cfg.Cluster.Listen, Peers: cfg.Cluster.Peers,
		URL: string(cfg.Cluster.NATSURL), TLS: conf, Logger: n.log,
	})
	if err != nil {
		return nil, err
	}
	go n.nameUnknown(cfg.Cluster.Peers)
	n.Store, n.Bus, n.Patience, n.Beat = store, n.bus, patience, patience/4
	err = n.serveReach()
	if err == nil {
		err = n.meet(meetTurns*cmp.Or(patience, askTime), stop)
	}
	if err != nil {
		n.bus.Close()
		return nil, err
	}
	return n, nil
}

// nameUnknown tells of peers whose names mean nothing: while others know this
// node, nothing else would.
func (n *node) nameUnknown(peers []string) {
	for _, peer := range peers {
		host, _, err := net.SplitHostPort(peer)
		if err != nil {
			continue // the configuration was checked
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		_, err = net.DefaultResolver.LookupHost(ctx, host)
		cancel()
		var unknown *net.DNSError
		if errors.As(err, &unknown) && unknown.IsNotFound {
			n.log.Warn("cluster.peers names a host that is not known now", "peer", peer)
		}
	}
}

// cluster is what actors are told of the other nodes; nil without any.
func (n *node) cluster() *durable.Cluster {
	if n == nil {
		return nil
	}
	return &n.Cluster
}

// count says how many nodes are alive; nil for a server that stands alone.
func (n *node) count() func() int {
	if n == nil {
		return nil
	}
	return func() int { return int(n.alive.Load()) }
}

// sessionNumbers is where the numbers of this node's live sessions begin.
func (n *node) sessionNumbers() uint64 {
	if n == nil {
		return 0
	}
	return codelab.SessionNumbers(n.Store.Node(), uint64(time.Now().UnixNano()))
}

func (n *node) close() {
	if n != nil {
		n.bus.Close()
	}
}

// valid says whether what was read from memory still counts, see
// durable.Shared.Holds; nil for a server that stands alone.
func (n *node) valid() func() error {
	if n == nil {
		return nil
	}
	return func() error {
		if !n.Store.Holds() {
			return durable.ErrUnavailable
		}
		return nil
	}
}

// watch looks after this node's place among the others until ctx ends.
func (s *Service) watch(ctx context.Context) {
	n := s.core.node
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for turn := 0; ; turn++ {
		select {
		case <-ctx.Done():
			return
		case <-n.Store.Lost():
			s.comeBack(ctx)
			continue
		case <-tick.C:
		}
		s.grants.Sweep() // what another node has ended
		members, err := n.Store.Members()
		if err != nil {
			continue // the lease tells when that lasts
		}
		var alive []string
		for _, m := range members {
			if m.Left > 0 {
				alive = append(alive, m.Node)
			}
		}
		n.alive.Store(int64(max(len(alive), 1)))
		n.look(members)
		if aside := n.asideNow(); n.Aside.Swap(aside) != aside && aside {
			s.startOver(ctx, "this server reaches no other; connect again")
		}
		for _, w := range s.core.workshops.Active() {
			if w.Unheard() {
				s.hub.CloseRoom(w.Room, rfc6455.CloseTryLater, "this server cannot reach the one that has the codelab; connect again")
			}
		}
		if turn%2 == 0 {
			s.core.workshops.Compare(alive)
		}
		if turn%10 == 0 {
			s.evenOut(members)
		}
	}
}

// comeBack starts over after a lost lease: others may own by now what this node
// owned, and what its clients were told last may not be the newest. So they are
// sent away, and everything in memory goes.
func (s *Service) comeBack(ctx context.Context) {
	s.core.node.lost.Add(1)
	s.core.node.log.Warn("this node has lost its lease; it starts over")
	s.startOver(ctx, "this server starts over; connect again")
}

// startOver sends everybody away, drops everything in memory, and comes back as a
// new incarnation, which owns nothing: what this node owned is free at once.
func (s *Service) startOver(ctx context.Context, why string) {
	n := s.core.node
	n.away.Store(true)
	for _, w := range s.core.workshops.Active() {
		s.hub.CloseRoom(w.Room, rfc6455.CloseRestart, why)
	}
	s.core.drop()
	for ctx.Err() == nil {
		err := n.Store.Rejoin(ctx)
		if err == nil {
			n.log.Info("this node is back")
			n.away.Store(false)
			return
		}
		if !errors.Is(err, context.Canceled) {
			n.log.Warn("coming back failed", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// drop ends all actors at once.
func (c *Core) drop() {
	c.workshops.Drop()
	c.participants.Drop()
	c.settings.Drop()
}

// evenOut gives a codelab to the node that owns least, when that makes the two
// more alike. One at a time: each costs its people a moment.
func (s *Service) evenOut(members []durable.Member) {
	var mine, least *durable.Member
	for i := range members {
		switch m := &members[i]; {
		case m.Left <= 0:
		case m.Node == s.core.node.Store.Node():
			mine = m
		case !s.core.node.answers(m.Node): // it may be one that cannot start
		case least == nil || m.Owns < least.Owns:
			least = m
		}
	}
	if mine == nil || least == nil || mine.Owns-least.Owns < 2 {
		return
	}
	var give *codelab.Workshop
	fewest := 0
	for _, w := range s.core.workshops.Active() {
		if n := len(w.Room.Here()); w.Owns() && (give == nil || n < fewest) {
			give, fewest = &w, n
		}
	}
	if give != nil {
		s.core.node.log.Info("giving a codelab to a node that owns fewer", "codelab", give.ID(), "to", least.Node)
		s.core.workshops.GiveTo(*give, least.Node)
	}
}
