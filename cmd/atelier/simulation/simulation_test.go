package simulation

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"

	"atelier/actors/codelab"
)

var (
	seed  = flag.Uint64("seed", 0, "run this seed alone and print its whole history")
	seeds = flag.Uint64("seeds", 20, "how many seeds to run")
	first = flag.Uint64("first", 1, "the first of them")
	every = flag.Uint64("every", 1, "run each n-th seed, so that processes can share the work")
	nodes = flag.Int("nodes", 0, "how many nodes; 0 leaves it to the seed")
)

func TestSimulation(t *testing.T) {
	if *seed != 0 {
		simulate(t, *seed, -1)
		return
	}
	for s := *first; s < *first+*seeds && !t.Failed(); s += *every {
		simulate(t, s, 50)
	}
}

// simulate runs one seed and prints so many steps of it when it fails; all of
// them in any case for a negative number.
func simulate(t *testing.T, seed uint64, steps int) {
	t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := PlanOf(seed)
			if *nodes > 0 {
				p.Nodes = *nodes
			}
			h, finding := Run(p)
			switch {
			case steps < 0:
				h.write(os.Stdout)
			case finding != "":
				h.story(os.Stdout, finding, steps)
			}
			if finding != "" {
				t.Errorf("%v: %s", p, finding)
			}
		})
	})
}

// A command that no client ever sends is not tried: whoever adds one to the
// vocabulary adds it here. Create and Delete are sent to codelabs of their own.
func TestEveryCommandIsDrawn(t *testing.T) {
	commands, _ := codelab.Vocabulary.Words()
	for _, c := range commands {
		if words[c.Name()] == nil && c.Name() != "Create" && c.Name() != "Delete" {
			t.Errorf("%s is never drawn", c.Name())
		}
	}
	for name := range words {
		if !slices.ContainsFunc(commands, func(c reflect.Type) bool { return c.Name() == name }) {
			t.Errorf("%s is not in the vocabulary", name)
		}
	}
}
