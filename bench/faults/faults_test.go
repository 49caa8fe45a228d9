//go:build linux

package faults

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"atelier/bench/server"
)

// The text of a parsed fault is the text that was parsed.
func TestFaultsAreParsedAndFormatted(t *testing.T) {
	for _, text := range []string{"kill", "kill:3", "pause:1", "restart", "cut:1-2", "cut:2-db", "cut:1-others:to", "cut:3-all:from", "restart-db", "roll", "upgrade", "kill-all"} {
		f, err := Parse(text, 3)
		if err != nil || f.String() != text {
			t.Errorf("%s is formatted as %s, %v", text, f, err)
		}
	}
	for _, text := range []string{"", "burn", "kill:0", "kill:4", "kill:x", "cut", "cut:1-1", "cut:1-4", "cut:db-1", "cut:1-2:sideways", "roll:1", "upgrade:1"} {
		if f, err := Parse(text, 3); err == nil {
			t.Errorf("%q is parsed as %+v", text, f)
		}
	}
	// A single server has neither a network nor other nodes.
	for text, ok := range map[string]bool{"kill": true, "pause:1": true, "kill:2": false, "roll": false, "upgrade": false, "restart-db": false, "cut:1-db": false} {
		if _, err := Parse(text, 0); (err == nil) != ok {
			t.Errorf("parsing %s for a single server returned %v", text, err)
		}
	}
}

func TestFaultsAreScheduled(t *testing.T) {
	kill, pause, roll := Fault{Kind: Kill}, Fault{Kind: Pause}, Fault{Kind: Roll}
	s := time.Second
	got := Merge(Every(4*s, 13*s, kill, pause), []Planned{{5 * s, roll}}, Every(0, 13*s, roll), Every(s, 13*s))
	want := []Planned{{4 * s, kill}, {5 * s, roll}, {8 * s, pause}, {12 * s, kill}}
	if !slices.Equal(got, want) {
		t.Errorf("the times are %v, want %v", got, want)
	}
	plan, all, err := Stages("10s@kill:1, 20s@cut:1-db:to,5s@roll", 2)
	if err != nil || all != 35*s || !slices.Equal(plan, []Planned{{0, Fault{Kind: Kill, Node: 1}}, {10 * s, Fault{Kind: Cut, Ends: "1-db", Way: "to"}}, {30 * s, roll}}) {
		t.Errorf("the plan is %v, its duration %v, %v", plan, all, err)
	}
	for _, text := range []string{"", "10s", "kill", "-1s@kill", "10s@burn"} {
		if _, _, err := Stages(text, 2); err == nil {
			t.Errorf("%q is accepted as stages", text)
		}
	}
}

// A fault affects exactly the nodes named in the report.
func TestEachFaultHarmsTheClientsOfItsNodes(t *testing.T) {
	i := &Inflictor{Target: server.Join(make([]server.Node, 3)), Rng: rand.New(rand.NewPCG(1, 1))}
	for text, want := range map[string][]int{"kill:2": {1}, "cut:3-all": {2}, "roll": {0, 1, 2}, "upgrade": {0, 1, 2}, "restart-db": {0, 1, 2}} {
		f, err := Parse(text, 3)
		if err != nil {
			t.Fatal(err)
		}
		if got := i.Harmed(i.Choose(f)); !slices.Equal(got, want) {
			t.Errorf("%s harms the nodes %v, want %v", text, got, want)
		}
	}
	drawn := map[int]bool{}
	for range 100 {
		drawn[i.Choose(Fault{Kind: Pause}).Node] = true
	}
	if len(drawn) != 3 || drawn[0] {
		t.Errorf("the drawn nodes are %v", drawn)
	}
	// A run does not harm servers that it did not start.
	for _, text := range []string{"kill", "cut:1-2", "restart-db"} {
		f, err := Parse(text, 3)
		if err != nil {
			t.Fatal(err)
		}
		if i.Check([]Planned{{0, f}}) == nil {
			t.Errorf("%s is accepted for servers that the run did not start", text)
		}
	}
}
