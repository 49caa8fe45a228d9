package nodes

import (
	"encoding/json"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"atelier/actors/durable"
	"atelier/actors/durable/bustest"
	"atelier/cmd/atelier/config"
	"atelier/persistence/memory"
)

// counted is a node's bus that counts its open requests. A reachability request times out only if
// the network loses it, and then it times out soon. Otherwise a response can take long on a busy
// machine.
type counted struct {
	durable.Bus
	trio *trio
	name string
}

func (c counted) Request(node, subject string, data []byte, timeout time.Duration, done func([]byte, error)) {
	if subject == reachSubject {
		if timeout = time.Hour; c.trio.net.Loses(c.name, node) {
			timeout = time.Millisecond
		}
	}
	c.trio.open.Add(1)
	c.Bus.Request(node, subject, data, timeout, func(b []byte, err error) {
		done(b, err)
		c.trio.open.Add(-1)
	})
}

// trio is three nodes that check whether they reach each other.
type trio struct {
	now     time.Time
	net     *bustest.Net
	open    atomic.Int32 // requests without a response so far
	nodes   []*Node
	members []durable.Member
}

func newTrio(t *testing.T) *trio {
	x := &trio{now: time.Now(), net: bustest.NewNet()}
	store, stores := memory.Share(3)
	t.Cleanup(func() { _ = store.Close() })
	for _, s := range stores {
		bus, stop := x.net.Node(s.Node())
		t.Cleanup(stop)
		n := &Node{log: slog.New(slog.DiscardHandler), Cluster: durable.Cluster{Store: s, Bus: counted{bus, x, s.Node()}}}
		if err := n.serveReach(); err != nil {
			t.Fatal(err)
		}
		x.nodes = append(x.nodes, n)
		x.members = append(x.members, durable.Member{Node: s.Node(), Incarnation: 1, Left: 3 * time.Second})
	}
	slices.SortFunc(x.nodes, func(a, b *Node) int {
		if a.Store.Node() < b.Store.Node() {
			return -1
		}
		return 1
	})
	return x
}

// turns lets each node check often enough for a silent node to count as unreachable.
func (x *trio) turns() {
	for range silence/lookEvery + 3 {
		x.turn()
	}
}

// turn lets each node check once, and waits for the responses.
func (x *trio) turn() {
	x.now = x.now.Add(lookEvery)
	for _, n := range x.nodes {
		n.checkPeers(x.now, x.members)
	}
	x.answers()
}

// answers waits until no request is open.
func (x *trio) answers() {
	for x.open.Load() > 0 {
		runtime.Gosched()
	}
}

func (x *trio) cut(a, b int) {
	x.net.Cut(x.nodes[a].Store.Node(), x.nodes[b].Store.Node())
	x.net.Cut(x.nodes[b].Store.Node(), x.nodes[a].Store.Node())
}

func (x *trio) wants(t *testing.T, when string, aside ...bool) {
	t.Helper()
	x.turns()
	for i, n := range x.nodes {
		if got := n.StandsAside(); got != aside[i] {
			t.Errorf("%s: node %d stands aside: %v (unreachable %v)", when, i, got, n.Unreachable())
		}
	}
}

// A start that waits for other nodes can be stopped.
func TestAWaitingStartCanBeStopped(t *testing.T) {
	x := newTrio(t)
	x.cut(0, 1)
	stop := make(chan struct{})
	close(stop)
	if err := x.nodes[0].meet(time.Hour, stop); !errors.Is(err, errStopped) {
		t.Errorf("the stopped start returned %v", err)
	}
	if err := x.nodes[2].meet(time.Hour, stop); err != nil {
		t.Errorf("the start of a node that has met all others: %v", err)
	}
}

func TestIsolatedNodeStopsServing(t *testing.T) {
	x := newTrio(t)
	x.wants(t, "whole", false, false, false)
	x.cut(0, 1)
	x.wants(t, "without one connection", false, false, false)
	if got := x.nodes[0].Unreachable(); len(got) != 1 || got[0] != x.nodes[1].Store.Node() {
		t.Errorf("the unreachable nodes are %v", got)
	}
	x.cut(0, 2)
	x.wants(t, "the first node is cut off", true, false, false)
	x.cut(1, 2)
	x.wants(t, "all links are cut", false, true, true)
	for _, ways := range [][2]int{{0, 1}, {1, 0}, {1, 2}, {2, 1}} {
		x.net.Repair(x.nodes[ways[0]].Store.Node(), x.nodes[ways[1]].Store.Node())
	}
	x.wants(t, "mended", false, false, false)
	// Nodes that are not alive do not count.
	x.cut(0, 1)
	x.cut(0, 2)
	for i := range x.members {
		if x.members[i].Node != x.nodes[0].Store.Node() {
			x.members[i].Left = 0
		}
	}
	x.nodes = x.nodes[:1]
	x.wants(t, "the others died", false)
}

// A node that is about to start, perhaps with a wrong secret, does not make any other node stop
// serving.
func TestAStartingNodeStopsNoOther(t *testing.T) {
	x := newTrio(t)
	x.cut(0, 1)
	for i := range x.members {
		if x.members[i].Node == x.nodes[2].Store.Node() {
			x.members[i].Left = 0
		}
	}
	serving := x.nodes[0]
	x.nodes = x.nodes[:1] // the other node makes no checks
	x.wants(t, "a node starts", false)
	if other := x.members[1].Node; serving.Answers(other) || serving.Answers(x.members[2].Node) {
		t.Error("a starting node would get codelabs")
	}
	x.members[1].Incarnation++
	x.wants(t, "it starts again", false)
	x.net.Repair(x.nodes[0].Store.Node(), x.members[1].Node)
	x.net.Repair(x.members[1].Node, x.nodes[0].Store.Node())
	x.wants(t, "its secret is right", false)
	if !serving.Answers(x.members[1].Node) {
		t.Error("the started node would get no codelabs")
	}
}

// Like an unreachable node, a dead node does not respond. If it counted as alive and unreachable,
// the other nodes would leave serving to it until its lease expires.
func TestDeadNodeIsNotUnreachable(t *testing.T) {
	for late := range 12 {
		x := newTrio(t)
		x.turn()
		me, dies := x.nodes[0], x.nodes[1].Store.Node()
		x.members = slices.DeleteFunc(x.members, func(m durable.Member) bool { return m.Node == x.nodes[2].Store.Node() })
		x.cut(0, 1)
		x.nodes = x.nodes[:1]
		// The dead node renewed its lease at some time between its last response and the next
		// request.
		over := x.now.Add(3*time.Second + time.Duration(late)*lookEvery/12)
		dead := slices.IndexFunc(x.members, func(m durable.Member) bool { return m.Node == dies })
		for left := over.Sub(x.now); left > 0; left -= lookEvery {
			x.members[dead].Left = left - lookEvery
			x.turn()
			if me.StandsAside() || len(me.Unreachable()) > 0 {
				t.Fatalf("dead %s after its last response, its lease over in %s: the unreachable nodes are %v", lookEvery*time.Duration(late)/12, x.members[dead].Left, me.Unreachable())
			}
		}
	}
}

// Between two reads of the database, a node reports a silent node once. Long before the report,
// after three checks without a response, it stops giving codelabs to the silent node.
func TestASilentNodeIsReportedBetweenTwoReads(t *testing.T) {
	x := newTrio(t)
	x.turn()
	x.turn()
	me, other := x.nodes[0], x.nodes[1].Store.Node()
	if !me.Answers(other) {
		t.Fatal("a reachable node would get no codelabs")
	}
	x.cut(0, 1)
	begin := x.now.Add(lookEvery)
	for x.now = begin; x.now.Sub(begin) < silence; x.now = x.now.Add(lookEvery) {
		if me.ask(x.now) {
			t.Fatalf("the silent node was reported after only %s", x.now.Sub(begin))
		}
		x.answers()
		if silent := x.now.Sub(begin); silent == 3*lookEvery && me.Answers(other) {
			t.Errorf("silent for %s, but would still get codelabs", silent)
		}
	}
	if !me.ask(x.now) {
		t.Error("the silent node was not reported")
	}
	me.checkPeers(x.now, x.members)
	if len(me.Unreachable()) != 1 || me.ask(x.now.Add(lookEvery)) {
		t.Errorf("the silent node was reported again; unreachable are %v", me.Unreachable())
	}
}

// A node ignores responses from before another node's restart.
func TestResponsesFromBeforeARestartAreIgnored(t *testing.T) {
	x := newTrio(t)
	x.cut(0, 1)
	x.cut(0, 2)
	x.cut(1, 2)
	x.wants(t, "all links are cut", false, true, true)
	for i := range x.members {
		if x.members[i].Node == x.nodes[1].Store.Node() {
			x.members[i].Incarnation++
		}
	}
	lonely := x.nodes
	x.nodes = lonely[:1] // the second node has not made a check yet
	x.wants(t, "the second started over", false)
	x.nodes = lonely
	x.wants(t, "after the restart, still isolated", false, true, true)
}

// A node that reaches no other node leaves serving to a node that reaches another one or, if there
// is none, to the first node by name. Nodes record their state in the database. A node that has
// recorded nothing since its start does not serve yet.
func TestOneIsolatedNodeStandsAside(t *testing.T) {
	row := func(incarnation uint64, lonely bool) []byte {
		b, _ := json.Marshal(reachRow{incarnation, lonely})
		return b
	}
	const now = 7 // the incarnation of every node
	others := map[string][]byte{
		"nothing":             nil,
		"unreadable":          []byte("{"),
		"isolated":            row(now, true),
		"not isolated":        row(now, false),
		"isolated before":     row(now-1, true),
		"not isolated before": row(now-1, false),
		"isolated, newer":     row(now+1, true),
		"not isolated, newer": row(now+1, false),
	}
	for first, one := range others {
		for second, two := range others {
			for _, lonely := range []bool{true, false} {
				for me := range 3 { // position of its name
					store, stores := memory.Share(3)
					n := &Node{log: slog.New(slog.DiscardHandler), Cluster: durable.Cluster{Store: stores[me]}}
					var members []durable.Member
					states, left := map[string]string{}, [][]byte{one, two}
					names := []string{first, second}
					for i, s := range stores {
						if i == me {
							continue
						}
						members = append(members, durable.Member{Node: s.Node(), Incarnation: now, Left: time.Second})
						if left[0] != nil {
							if err := durable.Commit(n.Store, []durable.Row{{Table: lonelyNodes, Key: []byte(s.Node()), Value: left[0]}}); err != nil {
								t.Fatal(err)
							}
						}
						states[s.Node()] = names[0]
						left, names = left[1:], names[1:]
					}
					want := false
					for node, state := range states {
						want = want || state == "not isolated" || state == "isolated" && node < stores[me].Node()
					}
					got, err := n.standAside(durable.Member{Node: stores[me].Node(), Incarnation: now}, members, lonely)
					if err != nil || got != (want && lonely) {
						t.Errorf("%s among %v, isolated: %v, returned that it stands aside: %v, %v", stores[me].Node(), states, lonely, got, err)
					}
					// The node records its own state for the other nodes.
					if b, err := n.Store.Get(lonelyNodes, []byte(stores[me].Node())); err != nil || string(b) != string(row(now, lonely)) {
						t.Errorf("the node records %s, %v", b, err)
					}
					if err := store.Close(); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
}

func TestNodesReportHowManyPeopleTheyHave(t *testing.T) {
	x := newTrio(t)
	for i, n := range x.nodes {
		n.figures.Store(&Figures{People: 10 + i})
	}
	of := func(want int, all bool) {
		t.Helper()
		x.turns()
		if got, whole := x.nodes[0].People(); got != want || whole != all {
			t.Errorf("%d people, complete: %v; want %d, %v", got, whole, want, all)
		}
	}
	of(33, true)
	x.nodes[1].figures.Store(&Figures{People: 20})
	of(42, true)
	x.cut(0, 1)
	of(22, false)
	x.net.Repair(x.nodes[0].Store.Node(), x.nodes[1].Store.Node())
	x.net.Repair(x.nodes[1].Store.Node(), x.nodes[0].Store.Node())
	of(42, true)
}

// Nodes of the previous release send no figures, so the total is incomplete.
func TestANodeWithoutFiguresMakesTheTotalIncomplete(t *testing.T) {
	n := &Node{}
	n.figures.Store(&Figures{People: 3})
	n.reach.peers = map[string]*peer{"b": {took: 1}}
	if got, all := n.People(); got != 3 || all {
		t.Errorf("the total is %d people, complete: %v", got, all)
	}
}

// Versions that differ by one work together.
func TestOnlyAdjacentVersionsWorkTogether(t *testing.T) {
	cfg := config.Default()
	cfg.Cluster.Enabled = true
	for theirs, fine := range map[int]bool{4: false, 5: false, 6: true, 7: true, 8: true, 9: false} {
		err := Beside(cfg, 7)([]durable.Member{{Node: "n1", Version: theirs}})
		if (err == nil) != fine {
			t.Errorf("version 7 next to version %d: %v", theirs, err)
		}
	}
	if Beside(cfg, 7)([]durable.Member{{Node: "single", Version: 7}}) == nil {
		t.Error("a single server starts beside a cluster")
	}
	cfg.Cluster.Enabled = false
	if Beside(cfg, 7)([]durable.Member{{Node: "n1", Version: 7}}) == nil {
		t.Error("a single server starts beside nodes")
	}
	if err := Beside(cfg, 7)(nil); err != nil {
		t.Error(err)
	}
}
