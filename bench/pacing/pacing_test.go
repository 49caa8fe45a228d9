package pacing

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func all(p Pacer) []time.Duration {
	var out []time.Duration
	for {
		due, ok := p.Next()
		if !ok {
			return out
		}
		out = append(out, due)
	}
}

func TestUniformIsEvenlySpaced(t *testing.T) {
	got := all(Uniform(4, time.Second))
	want := []time.Duration{0, 250 * time.Millisecond, 500 * time.Millisecond, 750 * time.Millisecond}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Repeated addition of an interval that is rounded down to nanoseconds would drift by 36 µs in this
// time, and would plan one operation too many.
func TestUniformDoesNotDrift(t *testing.T) {
	got := all(Uniform(3, 10*time.Hour))
	if last := got[len(got)-1]; len(got) != 3*36000 || last < 10*time.Hour-334*time.Millisecond {
		t.Errorf("%d operations, the last at %v", len(got), last)
	}
}

func TestARateOfZeroPlansNoOperation(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, p := range []Pacer{Uniform(0, time.Hour), Poisson(0, time.Hour, rng), Count(0, time.Hour)} {
		if got := all(p); len(got) != 0 {
			t.Errorf("%T planned %d operations, want 0", p, len(got))
		}
	}
}

func TestPlansStayWithinTheirTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.1, 5000).Draw(t, "rate")
		during := time.Duration(rapid.IntRange(1, 3000).Draw(t, "ms")) * time.Millisecond
		seed := rapid.Uint64().Draw(t, "seed")
		n := rapid.IntRange(0, 5000).Draw(t, "n")
		plans := map[string][]time.Duration{
			"uniform": all(Uniform(rate, during)),
			"poisson": all(Poisson(rate, during, rand.New(rand.NewPCG(seed, 0)))),
			"count":   all(Count(n, during)),
		}
		for name, plan := range plans {
			if !slices.IsSorted(plan) {
				t.Errorf("%s is not in order", name)
			}
			if len(plan) > 0 && (plan[0] < 0 || plan[len(plan)-1] >= during) {
				t.Errorf("%s exceeds its time: %v..%v of %v", name, plan[0], plan[len(plan)-1], during)
			}
		}
		if len(plans["count"]) != n {
			t.Errorf("count planned %d of %d", len(plans["count"]), n)
		}
		if again := all(Poisson(rate, during, rand.New(rand.NewPCG(seed, 0)))); !slices.Equal(again, plans["poisson"]) {
			t.Error("the same seed produces a different plan")
		}
	})
}

func TestPoissonHasItsRate(t *testing.T) {
	got := len(all(Poisson(100, 1000*time.Second, rand.New(rand.NewPCG(7, 7)))))
	// 100,000 are expected; four standard deviations are 1,265.
	if got < 98_700 || got > 101_300 {
		t.Errorf("%d operations, want about 100,000", got)
	}
}

func TestAgendaRunsInPlannedOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a Agenda
		var ran []time.Duration
		note := func(due time.Duration) { ran = append(ran, due) }
		for _, ms := range rapid.SliceOfN(rapid.IntRange(0, 2000), 0, 50).Draw(t, "single") {
			a.At(time.Duration(ms)*time.Millisecond, note)
		}
		a.Stream(100*time.Millisecond, Uniform(20, time.Second), note)
		a.Stream(0, Count(7, 2*time.Second), note)
		planned := len(a.entries) - 2 + 20 + 7
		now := time.Duration(0)
		for now != Never {
			before := len(ran)
			next := a.Run(now)
			for _, due := range ran[before:] {
				if due > now {
					t.Fatalf("an operation due at %v ran at %v", due, now)
				}
			}
			if next <= now {
				t.Fatalf("the next time is %v at %v", next, now)
			}
			now = next
		}
		if len(ran) != planned || !slices.IsSorted(ran) {
			t.Errorf("%d of %d operations ran, sorted: %v", len(ran), planned, slices.IsSorted(ran))
		}
	})
}

// A pause does not change the plan. Operations that became due during it run at once, each with its
// planned time.
func TestTheAgendaReportsLateness(t *testing.T) {
	var a Agenda
	var late []time.Duration
	const now = 200 * time.Millisecond
	a.Stream(0, Uniform(100, time.Second), func(due time.Duration) { late = append(late, now-due) })
	if next := a.Run(now); next != 210*time.Millisecond {
		t.Errorf("the next time is %v, want 210 ms", next)
	}
	if len(late) != 21 || late[0] != now || late[20] != 0 {
		t.Errorf("the lateness is %v", late)
	}
}

func TestTheAgendaCanGrowWhileItRuns(t *testing.T) {
	var a Agenda
	var ran []string
	a.At(1, func(due time.Duration) {
		ran = append(ran, "a")
		a.At(due, func(time.Duration) { ran = append(ran, "c") })
	})
	a.At(1, func(time.Duration) { ran = append(ran, "b") })
	if next := a.Run(1); next != Never || !slices.Equal(ran, []string{"a", "b", "c"}) {
		t.Errorf("the operations ran in the order %v, want a, b, c; the next time is %v", ran, next)
	}
}
