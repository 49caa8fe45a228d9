package compare

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"atelier/bench/report"
)

// rounds returns valid rounds with these values: base, new, base, new, …
func rounds(values ...float64) (out []Round) {
	for i := 0; i < len(values); i += 2 {
		out = append(out, Round{{Value: values[i]}, {Value: values[i+1]}})
	}
	return out
}

func TestSidesAlternate(t *testing.T) {
	var got strings.Builder
	for i := range 4 {
		for _, side := range Order(i) {
			got.WriteString(side.String() + " ")
		}
	}
	if want := "base new new base base new new base "; got.String() != want {
		t.Errorf("the order is %s, want %s", got.String(), want)
	}
}

func TestWorksAreJudgedByTheirRounds(t *testing.T) {
	lost, late := []string{"3 lost"}, []string{"the generator was late"}
	with := func(all []Round, round int, side Side, m Measurement) []Round {
		all[round][side] = m
		return all
	}
	same := func() []Round { return rounds(100, 101, 100, 99, 100, 100) }
	slow := func() []Round { return rounds(100, 80, 100, 81, 100, 79) }
	for name, c := range map[string]struct {
		work    Work
		verdict Verdict
		why     string
	}{
		"the same":                      {Work{Rounds: same()}, NotSlower, ""},
		"a fifth slower":                {Work{Rounds: slow()}, Fail, ""},
		"six percent slower":            {Work{Rounds: rounds(100, 94, 100, 94, 100, 94)}, NotSlower, ""},
		"eight percent slower":          {Work{Rounds: rounds(100, 92, 100, 92, 100, 92)}, Fail, ""},
		"slower in one round only":      {Work{Rounds: rounds(100, 100, 100, 50, 100, 100)}, Unclear, ""},
		"a fifth faster":                {Work{Rounds: rounds(100, 120, 100, 121, 100, 119)}, Better, ""},
		"a fifth more memory":           {Work{Less: true, Rounds: rounds(100, 120, 100, 121, 100, 119)}, Fail, ""},
		"a fifth less memory":           {Work{Less: true, Rounds: slow()}, Better, ""},
		"both become slower":            {Work{Rounds: rounds(100, 99, 70, 71, 40, 40)}, NotSlower, ""},
		"short":                         {Work{Short: true, Rounds: slow()}, Unjudged, ""},
		"one round":                     {Work{Rounds: rounds(100, 50)}, Invalid, ""},
		"no round":                      {Work{}, Invalid, ""},
		"an invalid run":                {Work{Rounds: with(same(), 1, New, Measurement{Value: 9, Invalid: late})}, Invalid, "round 2, new: the generator was late"},
		"slower, and an invalid run":    {Work{Rounds: with(slow(), 2, Base, Measurement{Value: 9, Invalid: late})}, Fail, "round 3, base: the generator was late"},
		"an invalid run, short":         {Work{Short: true, Rounds: with(same(), 0, New, Measurement{Invalid: late})}, Invalid, "round 1, new: the generator was late"},
		"the new server loses":          {Work{Rounds: with(same(), 0, New, Measurement{Value: 100, Failures: lost})}, Fail, "round 1, new: 3 lost"},
		"a loss, short":                 {Work{Short: true, Rounds: with(same(), 0, New, Measurement{Value: 100, Failures: lost})}, Fail, "round 1, new: 3 lost"},
		"a loss in an invalid run":      {Work{Rounds: with(same(), 0, New, Measurement{Invalid: late, Failures: lost})}, Fail, "round 1, new: 3 lost"},
		"the base loses":                {Work{Rounds: with(slow(), 0, Base, Measurement{Value: 100, Failures: lost})}, Invalid, "round 1, base: 3 lost"},
		"nothing was measured":          {Work{Rounds: with(same(), 0, New, Measurement{})}, Invalid, "round 1, new: nothing was measured"},
		"not a number":                  {Work{Rounds: with(same(), 0, New, Measurement{Value: math.NaN()})}, Invalid, "round 1, new: nothing was measured"},
		"slower by more than the noise": {Work{Rounds: rounds(100, 88, 104, 93, 97, 87, 101, 92, 99, 89)}, Fail, ""},
	} {
		row := c.work.Judge()
		if row.Verdict != c.verdict || c.why == "" && row.Why != nil || !strings.Contains(strings.Join(row.Why, "\n"), c.why) {
			t.Errorf("%s: %s (%.3f, %v) %q", name, row.Verdict, row.Ratio, row.Interval, row.Why)
		}
	}
}

// Values of an invalid run are excluded from the means.
func TestAnInvalidRunExcludesItsRound(t *testing.T) {
	w := Work{Rounds: rounds(100, 200, 100, 200, 7, 9)}
	w.Rounds[2][Base].Invalid = []string{"late"}
	row := w.Judge()
	if math.Abs(row.Base-100) > 1e-9 || math.Abs(row.New-200) > 1e-9 || math.Abs(row.Ratio-2) > 1e-9 {
		t.Errorf("the means are %v and %v, the ratio %v", row.Base, row.New, row.Ratio)
	}
}

// By a table of Student's t, the mean of 1, 2, 3, 4, 5 is 3 ± 1.963.
func TestTheIntervalFollowsStudentsDistribution(t *testing.T) {
	got := interval([]float64{1, 2, 3, 4, 5})
	if math.Abs(math.Log(got.Low)-1.037) > 1e-3 || math.Abs(math.Log(got.High)-4.963) > 1e-3 {
		t.Errorf("the interval is from %v to %v", math.Log(got.Low), math.Log(got.High))
	}
	if student(1) != 12.706 || student(19) != 2.093 || student(500) != 2.093 {
		t.Error("the table of Student's t is not read correctly")
	}
}

// noisy returns rounds of a machine whose speed differs per round. Within a round each run differs
// from its side's true value by at most the noise.
func noisy(t *rapid.T, base, now, noise float64) (out []Round) {
	for range rapid.IntRange(3, 8).Draw(t, "rounds") {
		pace := rapid.Float64Range(0.5, 2).Draw(t, "pace")
		run := func(name string, v float64) Measurement {
			return Measurement{Value: v * pace * (1 + noise*rapid.Float64Range(-1, 1).Draw(t, name))}
		}
		out = append(out, Round{run("base", base), run("new", now)})
	}
	return out
}

func TestSwappedSidesGiveReciprocals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := Work{Less: rapid.Bool().Draw(t, "less"), Rounds: noisy(t, 1000, rapid.Float64Range(500, 2000).Draw(t, "speed"), 0.2)}
		swapped := w
		swapped.Rounds = nil
		for _, r := range w.Rounds {
			swapped.Rounds = append(swapped.Rounds, Round{r[New], r[Base]})
		}
		less := w
		less.Less = !w.Less
		a := w.Judge()
		for name, b := range map[string]Row{"sides": swapped.Judge(), "direction": less.Judge()} {
			for which, product := range map[string]float64{"ratio": a.Ratio * b.Ratio, "low": a.Interval.Low * b.Interval.High, "high": a.Interval.High * b.Interval.Low} {
				if math.Abs(product-1) > 1e-9 {
					t.Errorf("%s: %s is not the reciprocal: %v", name, which, product)
				}
			}
		}
		if quotient := a.New / a.Base; !w.Less && math.Abs(quotient/a.Ratio-1) > 1e-9 {
			t.Errorf("the means have the ratio %v, the row has %v", quotient, a.Ratio)
		}
		if !(a.Interval.Low <= a.Ratio && a.Ratio <= a.Interval.High) {
			t.Errorf("the ratio %v is not within %v", a.Ratio, a.Interval)
		}
	})
}

func TestARealSlowdownFailsAndNoiseDoesNot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pace := rapid.Float64Range(1, 1e7).Draw(t, "speed")
		if row := (Work{Rounds: noisy(t, pace, 0.9*pace, 0.01)}).Judge(); row.Verdict != Fail {
			t.Errorf("10 %% slower: the verdict is %s, the ratio %v, the interval %v", row.Verdict, row.Ratio, row.Interval)
		}
		if row := (Work{Rounds: noisy(t, pace, pace, 0.03)}).Judge(); row.Verdict == Fail {
			t.Errorf("only noise: the verdict is %s, the ratio %v, the interval %v", row.Verdict, row.Ratio, row.Interval)
		}
	})
}

// Noise of any size that hits both sides alternately does not count as a slowdown.
func TestLargeNoiseIsNotASlowdown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := Work{}
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			much := rapid.Float64Range(1, 3).Draw(t, "noise")
			w.Rounds = append(w.Rounds, rounds(100, 100*much, 100*much, 100)...)
		}
		if row := w.Judge(); row.Verdict == Fail || row.Verdict == Better {
			t.Errorf("the verdict is %s, %v, %v", row.Verdict, row.Ratio, row.Interval)
		}
	})
}

func TestTheTableShowsWhatIsBetter(t *testing.T) {
	work := func(name string, all []Round) Work { return Work{Name: name, Unit: "reads/s", Rounds: all} }
	late := work("late", rounds(1000, 1000, 1000, 1000))
	late.Rounds[1][New].Invalid = []string{"the generator was late"}
	memory := Work{Name: "memory", Unit: "bytes", Less: true, Rounds: rounds(4000, 5000, 4000, 5000)}
	short := work("short", rounds(1000, 10, 1000, 10))
	short.Short = true
	for name, c := range map[string]struct {
		works []Work
		code  int
		parts []string
	}{
		"alike": {[]Work{work("read", rounds(24915, 24915, 24915, 24915))}, report.ExitPassed, []string{
			"base: abc\nnew:  def\n", "read  reads/s  24915  24915  1.000  1.000 to 1.000  ok\n", "above 1 the new server is better", "\nPASS: nothing is shown to be more than 7 % slower\n",
		}},
		"more memory": {[]Work{memory}, report.ExitFailed, []string{
			"memory  bytes *  4000  5000  0.800  0.800 to 0.800  FAIL\n", "less is better, so the ratio is base/new", "\nFAIL: memory\n",
		}},
		"invalid": {[]Work{late}, report.ExitInvalid, []string{
			"late  reads/s  1000  1000  1.000  -              INVALID\n", "late, round 2, new: the generator was late\n", "\nINVALID: late\n",
		}},
		"a failure and an invalid run": {[]Work{late, memory}, report.ExitFailed, []string{"\nFAIL: memory\nINVALID: late\n"}},
		"short":                        {[]Work{short}, report.ExitPassed, []string{"0.010  -              not judged\n", "\neverything works; short runs do not judge the speed\n"}},
		"nothing valid":                {[]Work{work("none", nil)}, report.ExitInvalid, []string{"none  reads/s  -     -    -      -              INVALID\n"}},
	} {
		all := Rows{Base: "abc", New: "def"}
		for _, w := range c.works {
			all.Rows = append(all.Rows, w.Judge())
		}
		var out strings.Builder
		if err := all.Text(&out); err != nil || all.ExitCode() != c.code {
			t.Errorf("%s: %v, exit code %d", name, err, all.ExitCode())
		}
		for _, part := range c.parts {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%s: the table lacks %q:\n%s", name, part, out.String())
			}
		}
	}
}

// The file contains the value of each run, by side, and null for a missing interval.
func TestTheFileContainsEveryRun(t *testing.T) {
	all := Rows{Base: "abc", New: "def", Rows: []Row{Work{Name: "read", Rounds: rounds(1, 2, 3, 4)}.Judge(), Work{Rounds: rounds(5, 6)}.Judge()}}
	text, err := all.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Format, Base, New string
		Works             []struct {
			Work     string
			Rounds   []map[string]Measurement
			Interval *Interval `json:"interval_95"`
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Format != FormatOfRows || got.Base != "abc" || got.New != "def" || len(got.Works) != 2 {
		t.Fatalf("the file is %s", text)
	}
	if w := got.Works[0]; w.Work != "read" || w.Rounds[1]["base"].Value != 3 || w.Rounds[1]["new"].Value != 4 || w.Interval == nil || got.Works[1].Interval != nil {
		t.Errorf("the file is %s", text)
	}
}
