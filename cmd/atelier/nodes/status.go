package nodes

import (
	"errors"
	"fmt"
	"time"

	"atelier/actors/durable"
	"atelier/cmd/atelier/config"
	"atelier/persistence/postgres"
	"atelier/transport/server"
)

// TakesNoWrites is the message for operators if the database refuses writes.
const TakesNoWrites = "the database takes no writes: it is read-only, or its disk is full"

// Status is the state of the nodes, as seen by one node.
type Status struct {
	// Node is the name of the node that was asked.
	Node  string       `json:"node"`
	Nodes []NodeStatus `json:"nodes"`
	// Unlisted means that the database did not respond, so that Nodes is empty.
	Unlisted bool `json:"unlisted,omitempty"`
	// This describes the node itself. It is nil if the node is not running.
	This *ThisNode `json:"this,omitempty"`
	// Problems lists the problems for an operator. Without problems it is empty.
	Problems []string `json:"problems"`
}

// NodeStatus is one node, from the database's data.
type NodeStatus struct {
	Node  string `json:"node"`
	Alive bool   `json:"alive"`
	// Stopped means that the node's lease has ended because the node stopped properly. A node that
	// is neither alive nor stopped has died.
	Stopped bool `json:"stopped"`
	// LeaseLeftSeconds is the remaining time of the node's lease. It is negative after the lease
	// has ended.
	LeaseLeftSeconds float64   `json:"lease_left_seconds"`
	Since            time.Time `json:"since"`
	Program          string    `json:"program"`
	Protocol         int       `json:"protocol"`
	Owns             int       `json:"owns"`
	// State is "alive", "drained", "stopped" or "dead".
	State string `json:"state"`
	// Figures contains a living node's own figures, or nil if they are unknown.
	*Figures
	// Reached describes whether the node responds to the node that was asked.
	Reached string `json:"reached,omitempty"`
}

// ThisNode is a node's own state.
type ThisNode struct {
	Ready bool   `json:"ready"`
	Why   string `json:"why,omitempty"`
	Lease bool   `json:"lease"`
	// LeasesLost is the number of leases lost since the start.
	LeasesLost int64 `json:"leases_lost"`

	Messages NodeMessages            `json:"messages"`
	Actors   map[string]ActorsOfKind `json:"actors"`
	// BehindRecords and StaleSeconds are the values of the worst replica.
	BehindRecords uint64  `json:"behind_records"`
	StaleSeconds  float64 `json:"stale_seconds"`

	Forwarded int64 `json:"commands_forwarded"`
	Takeovers int64 `json:"takeovers"`
	Questions int64 `json:"read_questions"`
	Confirmed int64 `json:"reads_confirmed"`
	// Divergences is the number of replicas that differed from their owner.
	Divergences int64 `json:"replica_divergence"`
}

// NodeMessages counts the messages between nodes, since the start.
type NodeMessages struct {
	// Elsewhere means that NATS runs outside of the nodes.
	Elsewhere bool   `json:"elsewhere"`
	Connected bool   `json:"connected"`
	Routes    int    `json:"routes"`
	Sent      uint64 `json:"sent"`
	SentBytes uint64 `json:"sent_bytes"`
	Received  uint64 `json:"received"`
	Missed    uint64 `json:"missed"`
}

// ActorsOfKind counts the actors in memory: owned actors, owned actors with followers on other
// nodes, and replicas of other nodes' actors.
type ActorsOfKind struct {
	Owned    int `json:"owned"`
	Shared   int `json:"shared"`
	Followed int `json:"followed"`
}

// ErrAlone means that this server is not a node of a cluster.
var ErrAlone = errors.New("cluster.enabled is off: this server is not a node of a cluster")

// StoppedStatus reads the nodes from the database, if this node is not running.
func StoppedStatus(cfg config.Config) (*Status, error) {
	if !cfg.Cluster.Enabled {
		return nil, ErrAlone
	}
	st := &Status{Node: cfg.Cluster.Node}
	members, err := postgres.Members(string(cfg.Storage.Postgres))
	if err != nil {
		return nil, err
	}
	problem := "no server runs on " + cfg.Server.Data
	for _, m := range members {
		// The socket exists only while the server runs.
		if m.Node == cfg.Cluster.Node && m.Left > 0 {
			problem = fmt.Sprintf("node %s is alive, and no server answers on %s: it is starting, was killed just now, or has another data folder", m.Node, cfg.Server.Data)
		}
	}
	st.Problems = []string{problem + "; this is what the database says"}
	st.take(members, nil) // only a running node reads which nodes are drained
	return st, nil
}

func (st *Status) take(members []durable.Member, drained map[string]bool) {
	st.Nodes = []NodeStatus{}
	for _, m := range members {
		state := "dead"
		switch {
		case m.Left > 0 && drained[m.Node]:
			state = "drained"
		case m.Left > 0:
			state = "alive"
		case m.Stopped:
			state = "stopped"
		}
		st.Nodes = append(st.Nodes, NodeStatus{
			State: state, Node: m.Node, Alive: m.Left > 0, Stopped: m.Stopped && m.Left <= 0, LeaseLeftSeconds: m.Left.Seconds(), Since: m.Since, Program: m.Program, Protocol: m.Version, Owns: m.Owns,
		})
		if m.Left <= 0 && !m.Stopped && m.Node != st.Node {
			st.Problems = append(st.Problems, fmt.Sprintf("node %s is dead: its lease ended %s ago, and it did not stop in order; start it, or if it is gone for good: atelier cluster forget %s", m.Node, (-m.Left).Round(time.Second), m.Node))
		}
	}
}

// Status returns the state of the nodes, as seen by this node.
func (n *Node) Status(cfg config.Config, health server.Health, stats *server.ClusterStats) *Status {
	st := &Status{Node: n.Store.Node(), Problems: []string{}, This: &ThisNode{
		Ready: health.Ready, Why: health.Why, Lease: stats.LeaseHeld, LeasesLost: stats.LeasesLost,
		Messages: NodeMessages{
			Elsewhere: cfg.Cluster.NATSURL != "", Connected: stats.Bus.Connected, Routes: stats.Bus.Routes,
			Sent: stats.Bus.Sent, SentBytes: stats.Bus.Bytes, Received: stats.Bus.Received, Missed: stats.Bus.Missed,
		},
		Actors:    map[string]ActorsOfKind{},
		Forwarded: stats.Forwarded, Takeovers: stats.Takeovers, Questions: stats.Questions, Confirmed: stats.Confirmed,
		Divergences: stats.Divergences,
	}}
	for kind, c := range stats.Copies {
		st.This.Actors[kind] = ActorsOfKind{c.Owned, c.Shared, c.Followed}
		st.This.BehindRecords = max(st.This.BehindRecords, c.Behind)
		st.This.StaleSeconds = max(st.This.StaleSeconds, c.Age.Seconds())
		for _, id := range c.Distrusted {
			st.Problems = append(st.Problems, fmt.Sprintf("the copy of %s %s on this node differed from its owner twice within a minute; this node reads it from the database only", kind, id))
		}
	}
	if !health.Ready && !n.Drained() {
		st.Problems = append(st.Problems, "this node is not ready: "+health.Why)
	}
	if health.Ready && health.ReadOnly {
		st.Problems = append(st.Problems, TakesNoWrites)
	}
	for _, x := range n.catchUps {
		if lacking := x.Lacking(); lacking != "" {
			st.Problems = append(st.Problems, lacking)
		}
	}
	if !stats.Bus.Connected {
		st.Problems = append(st.Problems, "this node is not connected to NATS")
	}
	// postgres.Members returns all nodes, including nodes that died long ago. It also works while
	// this node's lease is lost, when its own store cannot be asked.
	members, err := postgres.Members(string(cfg.Storage.Postgres))
	if err != nil {
		st.Unlisted = true
		st.Problems = append(st.Problems, "the nodes cannot be listed: "+err.Error())
	}
	w, err := n.readWishes()
	if err != nil && stats.LeaseHeld { // without the lease the store is not asked
		st.Problems = append(st.Problems, "it is unknown which nodes are drained: "+err.Error())
	}
	st.take(members, w.drained)
	if w.drained[st.Node] && !serves(members, w, st.Node) {
		st.Problems = append(st.Problems, "all nodes that are alive are drained, and nobody serves: atelier cluster undrain "+st.Node)
	}
	for i := range st.Nodes {
		m := &st.Nodes[i]
		if m.Alive {
			m.Figures = n.figuresOf(m.Node)
		}
		if !m.Alive || m.Node == st.Node {
			continue
		}
		if !m.Figures.takes() {
			st.Problems = append(st.Problems, fmt.Sprintf("node %s serves nobody while another can: %s", m.Node, m.Figures.Trouble.Text))
		}
		ok := false
		if m.Reached, ok = n.reached(m.Node); !ok {
			st.Problems = append(st.Problems, fmt.Sprintf("node %s is alive and cannot be reached from here", m.Node))
		}
	}
	st.Problems = append(st.Problems, clockProblems(st.Nodes)...)
	return st
}
