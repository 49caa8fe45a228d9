package demo

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"
)

var steps = []time.Duration{5 * time.Minute, 8 * time.Minute, 10 * time.Minute, 12 * time.Minute, 10 * time.Minute}

func plans(seed uint64, n int) []plan {
	var out []plan
	for i := range n {
		out = append(out, makePlan(rand.New(rand.NewPCG(seed, uint64(i))), steps, i))
	}
	return out
}

// TestTheRoomIsSpreadOutAndGetsStuck: whatever the seed, there is something to
// see after the first minute, and for long.
func TestTheRoomIsSpreadOutAndGetsStuck(t *testing.T) {
	for seed := range uint64(200) {
		var stuck, asks, silent int
		where := map[int]int{}
		longest := time.Duration(0)
		for _, p := range plans(seed, 40) {
			var all time.Duration
			step := len(steps)
			for n, stay := range p.stays {
				if stay <= 0 || stay > 3*3*steps[n] {
					t.Fatalf("seed %d: %v on step %d", seed, stay, n)
				}
				if all += stay; all > 2*time.Minute && step == len(steps) {
					step = n
				}
			}
			where[step]++
			longest = max(longest, all)
			if p.stuck >= len(steps) {
				t.Fatalf("seed %d: stuck on step %d", seed, p.stuck)
			}
			if p.stuck >= 0 {
				stuck++
			}
			if p.asks {
				asks++
			}
			if p.silent {
				silent++
			}
		}
		if stuck < 4 || asks < 2 || asks >= stuck || silent == 0 || silent > 10 {
			t.Errorf("seed %d: %d stuck, %d ask, %d silent", seed, stuck, asks, silent)
		}
		if len(where) < 3 || where[len(steps)] > 4 {
			t.Errorf("seed %d: after two minutes people are at %v", seed, where)
		}
		if longest < 40*time.Minute {
			t.Errorf("seed %d: all is over after %v", seed, longest)
		}
	}
}

func TestTheQuestionsHaveAnswers(t *testing.T) {
	var all []question
	if err := json.Unmarshal(quizzes, &all); err != nil || len(all) == 0 {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, q := range all {
		given := map[string]int{}
		for range 300 {
			given[q.answer(rng)]++
		}
		if len(given) < 3 && len(q.Options) > 2 || given[""] > 0 {
			t.Errorf("%+v: %v", q, given)
		}
		for text := range given {
			if q.Correct != nil && (len(text) != 1 || int(text[0]-'0') >= len(q.Options)) {
				t.Errorf("%+v: answer %q", q, text)
			}
		}
	}
}
