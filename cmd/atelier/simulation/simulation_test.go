package simulation

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
)

var (
	first   = flag.Uint64("first", 1, "the first seed")
	seeds   = flag.Uint64("seeds", 20, "number of seeds to run")
	forTime = flag.Duration("for", 0, "run further seeds for at least this time")
	every   = flag.Uint64("every", 1, "run every n-th seed only")
	plan    = flag.String("plan", "", "changes to each plan, for example 'nodes=2 without=kill-a-node'")
	whole   = flag.Bool("whole", false, "print the whole history")
	workers = flag.Int("workers", 0, "number of processes that share the seeds; 0 runs the seeds in this process")
	worker  = flag.Bool("worker", false, "report each seed as a line of JSON")
)

func TestSimulation(t *testing.T) {
	if *workers > 0 {
		campaign := &Campaign{
			First: *first, Seeds: *seeds, For: *forTime, Workers: *workers, Change: *plan, Dir: os.TempDir(), Out: os.Stdout, Self: self,
		}
		if err := campaign.Run(); err != nil {
			t.Fatal(err)
		}
		return
	}
	for s := *first; s < *first+*seeds && !t.Failed(); s += *every {
		simulate(t, s)
	}
}

// self returns a command that runs this program as a worker, with one CPU.
func self(first, seeds, every uint64, plan string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^TestSimulation$", "-worker", //nolint:gosec // the command is this program
		fmt.Sprint("-first=", first), fmt.Sprint("-seeds=", seeds), fmt.Sprint("-every=", every), "-plan="+plan)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	return cmd
}

// simulate runs one seed.
func simulate(t *testing.T, seed uint64) {
	p := PlanOf(seed)
	if err := p.Parse(*plan); err != nil {
		t.Fatal(err)
	}
	writeReport(report{Seed: seed, Plan: p.String(), Began: true})
	synctest.Test(t, func(t *testing.T) {
		h, finding := Run(p)
		r := report{Seed: seed, Plan: p.String(), Counts: h.counts}
		if finding != "" {
			var story, all strings.Builder
			h.story(&story, finding, 50)
			h.write(&all)
			r.Finding, r.Story, r.History = finding, story.String(), all.String()
			if !*worker {
				fmt.Println(r.Story)
			}
			t.Errorf("seed %d, %s: %s", seed, r.Plan, finding)
		}
		if *whole {
			h.write(os.Stdout)
		}
		writeReport(r) // before the bubble ends, which panics if goroutines remain
	})
}

func writeReport(r report) {
	if *worker {
		line, err := json.Marshal(r)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(line))
	}
}

// A formatted plan parses as the same plan. The same applies to smaller plans.
func TestFormattedPlansParseToTheSamePlan(t *testing.T) {
	for seed := range uint64(50) {
		p := PlanOf(seed)
		for depth := 0; depth < 3; depth++ {
			q := Plan{Seed: seed}
			if err := q.Parse(p.String()); err != nil || q.String() != p.String() {
				t.Fatalf("%s is parsed as %s, %v", p, q, err)
			}
			smaller := p.smaller()
			p = smaller[int(seed)%len(smaller)]
		}
	}
	var p Plan
	for _, bad := range []string{"nodes=0", "nodes=x", "for=3", "what=1", "nodes=3 "} {
		if err := p.Parse(bad); (err == nil) != (bad == "nodes=3 ") {
			t.Errorf("parsing %q: %v", bad, err)
		}
	}
}

// Each of these seeds found the listed fault in an earlier version. The plan of a seed changes with
// the simulator, so each fault also has a test next to its code.
func TestFoundSeeds(t *testing.T) {
	for seed, fault := range map[uint64]string{
		422:    "a request that arrived while its host closed never got a response",
		100922: "after one failed removal, the row of a completed erasure stayed",
		201972: "a room kept the frame of a thread whose event had been erased from the log",
		382:    "a claim on an upload was refused, although the upload's removal failed",
		243:    "a connection stayed in a room that had been closed",
		970:    "a node that failed to end a session stored the session again",
		666:    "a revocation at a node whose clock was ahead (the oracle now allows it, see doc.go)",
	} {
		if simulate(t, seed); t.Failed() {
			t.Fatalf("the fault occurred again: %s", fault)
		}
	}
}
