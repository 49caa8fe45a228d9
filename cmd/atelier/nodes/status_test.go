package nodes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier/actors/durable"
	"atelier/cmd/atelier/config"
	"atelier/transport/bus"
	"atelier/transport/server"
)

// A node's status contains its worst replica of any kind of actor, and every problem. If the
// database does not respond, this is reported as a problem, and the status is returned
// nevertheless.
func TestStatusShowsTheWorstReplicaAndAllProblems(t *testing.T) {
	n := newTrio(t).nodes[0]
	var cfg config.Config
	cfg.Storage.Postgres = "postgres://nobody@127.0.0.1:1/none?connect_timeout=1"
	copies := map[string]durable.ReplicaStats{"bad": {Owned: 1, Shared: 2, Followed: 3, Behind: 7, Age: 9 * time.Second, Distrusted: []string{"x"}}}
	for i := range 20 {
		copies[fmt.Sprint("good ", i)] = durable.ReplicaStats{Behind: 1, Age: time.Second}
	}
	var st *Status
	for range 5 { // the order of the kinds varies
		st = n.Status(cfg, server.Health{Why: "it starts"}, &server.ClusterStats{LeaseHeld: true, Copies: copies, Bus: bus.Stats{}})
		if st.This.BehindRecords != 7 || st.This.StaleSeconds != 9 {
			t.Errorf("the worst replica is %d records and %v s behind", st.This.BehindRecords, st.This.StaleSeconds)
		}
	}
	if got := st.This.Actors["bad"]; len(st.This.Actors) != 21 || got != (ActorsOfKind{1, 2, 3}) {
		t.Errorf("%d kinds of actors; the kind with the bad replica has %+v", len(st.This.Actors), got)
	}
	if !st.Unlisted || len(st.Nodes) != 0 {
		t.Errorf("without a database, the nodes are %v", st.Nodes)
	}
	for _, want := range []string{"the copy of bad x on this node", "not ready: it starts", "not connected to NATS", "cannot be listed"} {
		if !slices.ContainsFunc(st.Problems, func(p string) bool { return strings.Contains(p, want) }) {
			t.Errorf("no problem contains %q: %q", want, st.Problems)
		}
	}
	// A healthy node has only the database's problem. A node that an operator has drained is not
	// ready, as intended.
	well := &server.ClusterStats{LeaseHeld: true, Bus: bus.Stats{Connected: true}}
	if st = n.Status(cfg, server.Health{Ready: true}, well); len(st.Problems) != 1 {
		t.Errorf("a healthy node has the problems %q, want only the database's", st.Problems)
	}
	if st = n.Status(cfg, server.Health{Ready: true, ReadOnly: true}, well); !slices.Contains(st.Problems, TakesNoWrites) {
		t.Errorf("with a read-only database, the problems are %q", st.Problems)
	}
	n.catchUps = []catchingUp{lacks("start node2"), lacks("")}
	if st = n.Status(cfg, server.Health{Ready: true}, well); len(st.Problems) != 2 || !slices.Contains(st.Problems, "start node2") {
		t.Errorf("with a missing secret that another node has, the problems are %q", st.Problems)
	}
	n.catchUps = nil
	n.drained.Store(true)
	if st = n.Status(cfg, server.Health{Why: "it is drained"}, well); len(st.Problems) != 1 {
		t.Errorf("a drained node has the problems %q, want only the database's", st.Problems)
	}
}

// lacks reports missing secrets with this problem. If it is "", it reports none.
type lacks string

func (lacks) lack()                   {}
func (l lacks) Lacks() bool           { return l != "" }
func (l lacks) Lacking() string       { return string(l) }
func (lacks) catchUp(context.Context) {}

// The state of a node follows from its lease in the database and the operator's drains. A dead node
// is a problem, unless it is the node that handles the request.
func TestTheStateOfANodeFollowsFromLeaseAndDrains(t *testing.T) {
	drained := map[string]bool{"b": true, "d": true}
	st := &Status{Node: "e"}
	st.take([]durable.Member{
		{Node: "a", Left: time.Second}, {Node: "b", Left: time.Second}, {Node: "c", Left: -time.Minute, Stopped: true},
		{Node: "d", Left: -time.Minute}, {Node: "e", Left: -time.Minute}, {Node: "f", Left: time.Second, Stopped: true},
	}, drained)
	var got []string
	for _, m := range st.Nodes {
		got = append(got, fmt.Sprint(m.Node, " ", m.State, " ", m.Alive, " ", m.Stopped))
	}
	want := []string{"a alive true false", "b drained true false", "c stopped false true", "d dead false false", "e dead false false", "f alive true false"}
	if !slices.Equal(got, want) {
		t.Errorf("the nodes are %q, want %q", got, want)
	}
	if len(st.Problems) != 1 || !strings.HasPrefix(st.Problems[0], "node d is dead: its lease ended 1m0s ago") {
		t.Errorf("the problems are %q", st.Problems)
	}
}
