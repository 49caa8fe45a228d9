package nodes

import (
	"testing"
	"time"

	"atelier/actors/durable"
)

// owner is a server that owns codelabs, and records each move.
type owner struct {
	Duties
	owned []Owned
	moved map[string]string
}

func (o *owner) Owned() []Owned { return o.owned }

func (o *owner) Move(id, to string) { o.moved[id] = to }

// A node executes its plan in parts. It moves codelabs only to nodes that accept them. It does
// not move codelabs that arrived recently or that an operator has moved.
func TestPlansAreExecutedInParts(t *testing.T) {
	x := newTrio(t)
	n, names := x.nodes[0], []string{x.nodes[1].Store.Node(), x.nodes[2].Store.Node()}
	for _, o := range x.nodes {
		o.figures.Store(&Figures{})
	}
	x.turns()
	now := time.Now()
	server := &owner{moved: map[string]string{}}
	n.placement.held = map[string]held{}
	for _, h := range some(300, func(int) float64 { return 0 }) {
		switch h.ID {
		case "0299": // the plan moves the last ones first
			h.Taken = now.Add(-stayTime + time.Second)
		case "0297":
			h.Taken = now.Add(-stayTime)
		}
		n.placement.held[h.ID] = h
		server.owned = append(server.owned, Owned{ID: h.ID})
	}
	members := []durable.Member{{Node: n.Store.Node(), Left: 1, Owns: 300}, {Node: names[0], Left: 1}, {Node: names[1], Left: 1}}
	w := wanted{moves: map[string]string{"0298": n.Store.Node()}}
	for turn := range 3 {
		n.balance(now, members, names, w, server)
		if got, want := len(server.moved), min((turn+1)*givenEach, 198); got != want {
			t.Errorf("after %d turns %d codelabs are given away, want %d", turn+1, got, want)
		}
	}
	// Meanwhile one target is drained. It accepts nothing more although the plan contains further
	// moves to it. An operator also moves a codelab that was planned for the other target.
	drained := names[:1]
	left := map[string][]string{}
	for _, m := range n.placement.moves {
		left[m.to] = append(left[m.to], m.id)
	}
	if len(left[names[0]]) < 2 || len(left[names[1]]) == 0 {
		t.Fatalf("the plan is empty: %v", left)
	}
	stays := left[names[0]][0]
	w.moves[stays] = n.Store.Node()
	for range 10 {
		n.balance(now, members, drained, w, server)
	}
	for _, id := range append(left[names[1]], stays) {
		if to := server.moved[id]; to != "" {
			t.Errorf("%s was given to %s, although that node is drained or an operator moved it", id, to)
		}
	}
	of := map[string]int{}
	for _, to := range server.moved {
		of[to]++
	}
	if of[names[0]] < 90 {
		t.Errorf("the codelabs were given to %v", of)
	}
	for _, id := range []string{"0299", "0298"} {
		if to := server.moved[id]; to != "" {
			t.Errorf("%s was given to %s too early", id, to)
		}
	}
	if server.moved["0297"] == "" {
		t.Error("a codelab that had stayed long enough was not given away")
	}
	// The loads change only some time after a move.
	before := len(server.moved)
	n.balance(now.Add(settleTime-time.Second), members, names, w, server)
	if len(server.moved) != before {
		t.Error("the next plan was made at once")
	}
	n.balance(now.Add(settleTime+time.Second), members, drained, w, server)
	if len(n.placement.moves) == 0 && len(server.moved) == before {
		t.Error("no later plan was made")
	}
}

// Owned codelabs are checked once per second. The check records their load, and the time when they
// arrived from another node.
func TestTheLoadAndArrivalOfOwnedCodelabsAreRecorded(t *testing.T) {
	var p placement
	now := time.Now()
	made := map[string]time.Time{"made here": now.Add(-time.Second), "taken": now.Add(-time.Hour)}
	asked := 0
	record := func(at time.Time, owned ...Owned) {
		p.record(at, owned, func(id string) time.Time { asked++; return made[id] })
	}
	record(now, Owned{"made here", 1}, Owned{"taken", 1000}, Owned{"unknown", 0}, Owned{"given", 7})
	if !p.held["made here"].Taken.IsZero() || p.held["taken"].Taken != now || p.held["unknown"].Taken != now || p.held["taken"].Load != 0 {
		t.Errorf("after the first check, the codelabs are %+v", p.held)
	}
	later := now.Add(loadOver)
	record(later, Owned{"made here", 1}, Owned{"taken", 1000 + 50*uint64(loadOver.Seconds())}, Owned{"unknown", 0})
	if h := p.held["taken"]; h.Load != 50 || h.Taken != now || p.held["made here"].Load != 0 || !p.held["made here"].Taken.IsZero() || len(p.held) != 3 {
		t.Errorf("after the second check, the codelabs are %+v", p.held)
	}
	// A rewritten log is shorter, which does not count as load.
	record(later.Add(loadOver), Owned{"taken", 1})
	if h := p.held["taken"]; h.Load != 0 || h.ID != "taken" {
		t.Errorf("a codelab with a shorter log is %+v", h)
	}
	if asked != 4 {
		t.Errorf("the creation time was asked for %d times, want 4", asked)
	}
}
