package nodes

import (
	"testing"
	"time"

	"atelier/actors/durable"
)

// owner owns codelabs, and notes what is given to whom.
type owner struct {
	Duties
	owned []Owned
	given map[string]string
}

func (o *owner) Owned() []Owned { return o.owned }

func (o *owner) Move(id, to string) { o.given[id] = to }

// A node carries its plan out bit by bit, to nodes that take something, and leaves alone
// what has just come, and what an operator has moved.
func TestPlansAreCarriedOut(t *testing.T) {
	x := newTrio(t)
	n, names := x.nodes[0], []string{x.nodes[1].Store.Node(), x.nodes[2].Store.Node()}
	for _, o := range x.nodes {
		o.figures.Store(&Figures{})
	}
	x.turns()
	now := time.Now()
	server := &owner{given: map[string]string{}}
	for _, o := range some(300, func(int) float64 { return 0 }) {
		switch o.ID {
		case "0000":
			o.Taken = now.Add(-stayTime + time.Second)
		case "0002":
			o.Taken = now.Add(-stayTime)
		}
		server.owned = append(server.owned, o)
	}
	members := []durable.Member{{Node: n.Store.Node(), Left: 1, Owns: 300}, {Node: names[0], Left: 1}, {Node: names[1], Left: 1}}
	w := wanted{moves: map[string]string{"0001": n.Store.Node()}}
	for turn := range 3 {
		n.balance(now, members, names, w, server)
		if got, want := len(server.given), min((turn+1)*givenEach, 198); got != want {
			t.Errorf("after %d turns %d are given away, want %d", turn+1, got, want)
		}
	}
	// One is drained meanwhile, and takes nothing any more.
	drained := names[:1]
	for range 10 {
		n.balance(now, members, drained, w, server)
	}
	of := map[string]int{}
	for _, to := range server.given {
		of[to]++
	}
	if of[names[1]] > 3*givenEach || of[names[0]] < 90 {
		t.Errorf("given: %v", of)
	}
	for _, id := range []string{"0000", "0001"} {
		if to := server.given[id]; to != "" {
			t.Errorf("%s was given to %s", id, to)
		}
	}
	// What was done shows in the loads only after a while.
	before := len(server.given)
	n.balance(now.Add(settleTime-time.Second), members, names, w, server)
	if len(server.given) != before {
		t.Error("there was another plan at once")
	}
	n.balance(now.Add(settleTime+time.Second), members, drained, w, server)
	if len(n.placement.moves) == 0 && len(server.given) == before {
		t.Error("there was no plan any more")
	}
}
