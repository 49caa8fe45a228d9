package nodes

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// carriedOut makes each node plan from its own view, and executes all plans.
func carriedOut(places []place, owned map[string][]held) (moved int) {
	var all []move
	for _, p := range places {
		all = append(all, plan(p.node, places, owned[p.node])...)
	}
	for _, m := range all {
		for i := range places {
			from := places[i].node
			at := slices.IndexFunc(owned[from], func(o held) bool { return o.ID == m.id })
			if at < 0 {
				continue
			}
			o := owned[from][at]
			owned[from] = slices.Delete(owned[from], at, at+1)
			owned[m.to] = append(owned[m.to], o)
			to := slices.IndexFunc(places, func(p place) bool { return p.node == m.to })
			places[i].owns, places[i].load = places[i].owns-1, places[i].load-o.Load
			places[to].owns, places[to].load = places[to].owns+1, places[to].load+o.Load
			break
		}
	}
	return len(all)
}

func some(n int, load func(int) float64) (all []held) {
	for i := range n {
		all = append(all, held{ID: fmt.Sprintf("%04d", i), Load: load(i)})
	}
	return all
}

func sum(all []held) (load float64) {
	for _, o := range all {
		load += o.Load
	}
	return load
}

func TestPlansBalanceTheLoad(t *testing.T) {
	for name, c := range map[string]struct {
		owned map[string][]held
		rest  float64 // load of the first node that cannot be moved
		// owns and load are the minimum and maximum over all nodes after all moves.
		owns, load map[string][2]float64
		moves      int // maximum number of moves; 0 means any number
	}{
		"a thousand idle codelabs on one node": {
			owned: map[string][]held{"a": some(1000, func(int) float64 { return 0 })},
			owns:  map[string][2]float64{"a": {300, 366}, "b": {300, 366}, "c": {300, 366}},
			moves: 700,
		},
		"a thousand busy codelabs on one node": {
			owned: map[string][]held{"a": some(1000, func(int) float64 { return 2 })},
			owns:  map[string][2]float64{"a": {300, 366}, "b": {300, 366}, "c": {300, 366}},
			load:  map[string][2]float64{"a": {580, 750}, "b": {580, 750}, "c": {580, 750}},
		},
		"codelabs with different loads": {
			owned: map[string][]held{"a": some(300, func(i int) float64 { return float64(i % 30) })},
			load:  map[string][2]float64{"a": {1280, 1620}, "b": {1280, 1620}, "c": {1280, 1620}},
		},
		"a busy codelab whose move helps nobody": {
			owned: map[string][]held{"a": {{ID: "hot", Load: 5000}}, "b": some(1, func(int) float64 { return 1 })},
			owns:  map[string][2]float64{"a": {1, 1}, "b": {1, 1}, "c": {0, 0}},
		},
		"a busy codelab whose move helps a little": { // the rest of the node's load stays
			owned: map[string][]held{"a": {{ID: "hot", Load: 1500}}}, rest: 100,
			owns: map[string][2]float64{"a": {1, 1}},
		},
		"a busy codelab whose move helps much": {
			owned: map[string][]held{"a": {{ID: "hot", Load: 900}}}, rest: 600,
			load: map[string][2]float64{"a": {600, 600}},
		},
		"a busy codelab among others": {
			owned: map[string][]held{"a": append(some(10, func(int) float64 { return 50 }), held{ID: "hot", Load: 5000})},
			load:  map[string][2]float64{"a": {5000, 5000}, "b": {200, 300}, "c": {200, 300}},
		},
		"two busy codelabs": {
			owned: map[string][]held{"a": {{ID: "hot1", Load: 900}, {ID: "hot2", Load: 1000}}},
			owns:  map[string][2]float64{"a": {1, 1}},
			moves: 1,
		},
		"alike": {
			owned: map[string][]held{"a": some(34, func(int) float64 { return 3 }), "b": some(33, func(int) float64 { return 3 }), "c": some(33, func(int) float64 { return 3 })},
			owns:  map[string][2]float64{"a": {34, 34}, "b": {33, 33}, "c": {33, 33}},
		},
		"people who stay": { // connected to the first node, whichever node owns the codelabs
			owned: map[string][]held{"a": some(90, func(int) float64 { return 10 })}, rest: 600,
			load: map[string][2]float64{"a": {500, 601}, "b": {400, 520}, "c": {400, 520}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var places []place
			for _, node := range []string{"a", "b", "c"} {
				places = append(places, place{node, len(c.owned[node]), sum(c.owned[node])})
			}
			places[0].load += c.rest
			moved := 0
			for range 3 {
				moved += carriedOut(places, c.owned)
			}
			for _, p := range places {
				if want, ok := c.owns[p.node]; ok && (float64(p.owns) < want[0] || float64(p.owns) > want[1]) {
					t.Errorf("%s owns %d, want %v", p.node, p.owns, want)
				}
				if want, ok := c.load[p.node]; ok && (p.load < want[0] || p.load > want[1]) {
					t.Errorf("%s has a load of %.0f, want %v", p.node, p.load, want)
				}
			}
			if c.moves > 0 && moved > c.moves {
				t.Errorf("%d moves, want %d at most", moved, c.moves)
			}
		})
	}
}

// For random loads, planning ends, no codelab is lost, and the highest load does not grow.
func TestPlanningEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		names := []string{"a", "b", "c", "d", "e"}[:2+rng.IntN(4)]
		owned := map[string][]held{}
		var places []place
		n := 0
		for _, node := range names {
			for range rng.IntN(200) {
				owned[node] = append(owned[node], held{ID: fmt.Sprint(n), Load: float64(rng.IntN(3)) * rng.ExpFloat64() * 20})
				n++
			}
			places = append(places, place{node, len(owned[node]), sum(owned[node])})
		}
		most := slices.MaxFunc(places, func(a, b place) int { return int(a.load) - int(b.load) }).load
		turns := 0
		for carriedOut(places, owned) > 0 {
			if turns++; turns > 20 {
				t.Fatalf("planning does not end: %+v", places)
			}
		}
		now := slices.MaxFunc(places, func(a, b place) int { return int(a.load) - int(b.load) }).load
		if now > max(most, quietLoad)+1 {
			t.Errorf("the highest load rose from %.1f to %.1f", most, now)
		}
		ids := map[string]bool{}
		for all := range maps.Values(owned) {
			for _, o := range all {
				ids[o.ID] = true
			}
		}
		if len(ids) != n {
			t.Errorf("%d of %d codelabs remain", len(ids), n)
		}
	}
}
