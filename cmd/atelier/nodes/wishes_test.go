package nodes

import (
	"slices"
	"strings"
	"testing"

	"atelier/actors/durable"
)

// moved records the moves that a server is asked to make. It owns nothing.
type moved struct {
	Duties
	all []string
}

func (m *moved) Move(id, to string)   { m.all = append(m.all, id+" to "+to) }
func (m *moved) GiveAll([]string) int { return 0 }
func (m *moved) Drain()               {}
func (m *moved) Undrain()             {}

// In an earlier version, a codelab moved back and forth if the target of its move was drained or
// died. Its owner transferred it every second, and its people waited.
func TestCodelabsAreNotMovedWhereTheyCannotStay(t *testing.T) {
	x := newTrio(t)
	var name []string
	for _, n := range x.nodes {
		name = append(name, n.Store.Node())
	}
	me := x.nodes[0]
	moves := map[string]string{"mine": name[0], "taken": name[1], "not taken": name[2]}
	for _, c := range []struct {
		drained map[string]bool
		takers  []string
		want    []string
	}{
		{nil, name[1:2], []string{"mine to " + name[0], "taken to " + name[1]}},
		{map[string]bool{name[0]: true}, name[1:2], []string{"taken to " + name[1]}},
		{nil, name[1:], []string{"mine to " + name[0], "not taken to " + name[2], "taken to " + name[1]}},
		{nil, nil, []string{"mine to " + name[0]}},
	} {
		var server moved
		me.obey(wanted{c.drained, moves}, c.takers, &server)
		if slices.Sort(server.all); !slices.Equal(server.all, c.want) {
			t.Errorf("drained %v, takers %v: moved %q", c.drained, c.takers, server.all)
		}
	}
}

// meanwhile is a store that runs do once, before its next commit.
type meanwhile struct {
	durable.Shared
	do func()
}

func (m *meanwhile) Append(rows []durable.Row, done func(error)) error {
	if do := m.do; do != nil {
		m.do = nil
		do()
	}
	return m.Shared.Append(rows, done)
}

// If two operators drained the last two nodes at the same moment, no node would serve.
func TestTheLastNodesCannotBeDrainedConcurrently(t *testing.T) {
	x := newTrio(t)
	a, b, c := x.nodes[0], x.nodes[1], x.nodes[2]
	if err := a.Drain(c.Store.Node()); err != nil {
		t.Fatal(err)
	}
	var other error
	store := &meanwhile{a.Store, func() { other = b.Drain(a.Store.Node()) }}
	a.Store = store
	first := a.Drain(b.Store.Node())
	w, err := a.readWishes()
	if err != nil || len(w.drained) != 2 || other != nil || first == nil || !strings.Contains(first.Error(), "no other undrained node") {
		t.Errorf("the drained nodes are %v; the results %v and %v, %v", w.drained, first, other, err)
	}
}

// A node that stopped long ago and is no longer a member can be drained before it starts. A node
// that never existed cannot be drained.
func TestAStoppedNodeCanBeDrained(t *testing.T) {
	x := newTrio(t)
	n := x.nodes[0]
	if err := n.Drain("stopped"); err == nil {
		t.Error("an unknown node is drained")
	}
	if err := durable.Commit(n.Store, []durable.Row{{Table: addresses, Key: ofStream(n.Store, "stopped"), Value: []byte("127.0.0.1:1")}}); err != nil {
		t.Fatal(err)
	}
	for _, do := range []func(string) error{n.Drain, n.Drain, n.Undrain} {
		if err := do("stopped"); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"stopped", "never", "", "drain/x", "x\x00y", strings.Repeat("n", 1<<20)} {
		if err := n.Undrain(name); err == nil {
			t.Errorf("%.20q was undrained although it was not drained", name)
		}
	}
}

// A drained node leaves even if the other nodes do not take everything it owns. Otherwise a codelab
// that no node can load would keep it running, and an operator could never switch it off.
func TestADrainedNodeLeavesEvenIfNobodyTakesItsActors(t *testing.T) {
	n := newTrio(t).nodes[0]
	w := wanted{drained: map[string]bool{n.Store.Node(): true}}
	var server stuck
	for turn := 1; turn <= drainTurns; turn++ {
		if n.obey(w, []string{"b"}, &server) {
			t.Fatalf("the node leaves in turn %d, before the others had time", turn)
		}
	}
	for range 2 {
		if !n.obey(w, []string{"b"}, &server) {
			t.Error("the node still waits for the others")
		}
	}
	if server.asked != drainTurns {
		t.Errorf("the others were asked %d times, want one per turn", server.asked)
	}
}

// stuck is a server with a codelab that no node takes.
type stuck struct {
	leaving
	asked int
}

func (s *stuck) GiveAll([]string) int { s.asked++; return 1 }

// A codelab moves to a node only if that node is alive and can take it. The move ends when the
// codelab is there.
func TestACodelabIsMovedOnlyWhereItCanStay(t *testing.T) {
	x := newTrio(t)
	n, drained, full := x.nodes[0], x.nodes[1], x.nodes[2]
	full.figures.Store(&Figures{Trouble: &Trouble{DiskFull, "the disk is full"}})
	x.turn() // the node detects the trouble
	if err := n.Drain(drained.Store.Node()); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"nobody", drained.Store.Node(), full.Store.Node()} {
		if err := n.Move("a", to); err == nil {
			t.Errorf("the move to %s succeeded", to)
		}
	}
	if w, err := n.readWishes(); err != nil || len(w.moves) != 0 {
		t.Errorf("the refused moves are recorded: %v, %v", w.moves, err)
	}

	if err := n.Undrain(drained.Store.Node()); err != nil {
		t.Fatal(err)
	}
	to := drained
	n.Store = &meanwhile{n.Store, func() {
		if _, err := to.Store.Open("codelab/a"); err != nil {
			t.Error(err)
		}
	}}
	if err := n.Move("a", to.Store.Node()); err != nil {
		t.Error(err)
	}
	if w, err := n.readWishes(); err != nil || w.moves["a"] != to.Store.Node() {
		t.Errorf("the recorded moves are %v, %v", w.moves, err)
	}
}
