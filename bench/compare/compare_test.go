package compare

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The expected values are from tables of the test of Mann and Whitney: the smallest two-sided p is
// 2/70 for 4 against 4 values, and 2/252 for 5 against 5.
func TestRankTestHasTheKnownValues(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		p    float64
	}{
		{[]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2.0 / 70},
		{[]float64{5, 6, 7, 8, 9}, []float64{0, 1, 2, 3, 4}, 2.0 / 252},
		{[]float64{1, 3, 5}, []float64{2, 4, 6}, 0.7},
		{[]float64{1}, []float64{2}, 1},
		{[]float64{7, 7, 7, 7}, []float64{7, 7, 7, 7}, 1},
		{nil, []float64{1}, 1},
	} {
		if got := rankTest(c.a, c.b); math.Abs(got-c.p) > 1e-9 {
			t.Errorf("%v against %v: p %v, want %v", c.a, c.b, got, c.p)
		}
	}
}

func text(p99, rate float64, valid bool) []byte {
	b, _ := json.Marshal(map[string]any{
		"format": "atelier-bench/1", "scenario": "fanout", "about": "some", "valid": valid, "count": 9, "p99": p99, "deliveries_per_second": rate,
		"series": []int{1, 2, 3}, "server": map[string]any{"cpu": 1.0, "rss": 100.0},
	})
	return b
}

func set(t *testing.T, reports ...[]byte) *Set {
	t.Helper()
	path := filepath.Join(t.TempDir(), "set.json")
	if err := Write(path, reports); err != nil {
		t.Fatal(err)
	}
	s, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDifferencesNeedRepeatedRuns(t *testing.T) {
	var a, b [][]byte
	for i := range 5 {
		a = append(a, text(10+float64(i)/10, 1000+float64(i), true))
		b = append(b, text(20+float64(i)/10, 2000+float64(i), true))
	}
	b = append(b, text(1, 1, false))
	l := Limits{Tolerance: 0.05, Alpha: 0.05}
	findings, skipped, err := Compare(set(t, a...), set(t, b...), l)
	if err != nil || skipped != 1 {
		t.Fatalf("Compare skipped %d, %v, want 1", skipped, err)
	}
	got := map[string]Verdict{}
	for _, f := range findings {
		got[f.Number] = f.Verdict
	}
	want := map[string]Verdict{"p99": Worse, "deliveries_per_second": Better, "server.cpu": Same}
	for number, v := range want {
		if got[number] != v {
			t.Errorf("%s is %q, want %q", number, got[number], v)
		}
	}
	var out strings.Builder
	if worse, err := Text(&out, findings, skipped); err != nil || worse != 1 || !strings.Contains(out.String(), "\nomitted INVALID runs: 1\n") || !strings.Contains(out.String(), "\nWORSE: p99 (fanout: some)\n") {
		t.Errorf("%d numbers are worse, want 1; %v\n%s", worse, err, out.String())
	}
	// One run per side proves nothing, unless the caller sets Single.
	findings, _, err = Compare(set(t, a[0]), set(t, b[0]), l)
	if err != nil || verdict(findings, "p99") != Unproven {
		t.Errorf("the findings are %v, %v", findings, err)
	}
	l.Single = true
	if findings, _, _ = Compare(set(t, a[0]), set(t, b[0]), l); verdict(findings, "p99") != Worse {
		t.Errorf("the findings are %v", findings)
	}
	l.Tolerance = 2
	if findings, _, _ = Compare(set(t, a[0]), set(t, b[0]), l); verdict(findings, "p99") != MaybeNo {
		t.Errorf("the findings are %v", findings)
	}
}

func verdict(findings []Finding, number string) Verdict {
	for _, f := range findings {
		if f.Number == number {
			return f.Verdict
		}
	}
	return ""
}

func TestInvalidFilesAreNotCompared(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"nothing": "", "not a report": `{"format":"x"}`, "empty": `{"format":"atelier-bench-set/1","runs":[]}`,
		"a word": "no", "half": `{"format":`, "behind a report": string(text(1, 1, true)) + "x", "a list of others": `[{"format":"y"}]`, "an empty list": "[]",
		"other run": `{"format":"atelier-bench-set/1","runs":[{"format":"y"}]}`,
	} {
		path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	other := []byte(strings.ReplaceAll(string(text(1, 1, true)), "fanout", "idle"))
	if _, _, err := Compare(set(t, text(1, 1, true)), set(t, other), Limits{}); err == nil {
		t.Error("different scenarios were compared")
	}
}

// Repeated runs can be in one file, in any simple form.
func TestOneFileCanContainSeveralReports(t *testing.T) {
	one := string(text(1, 1, true))
	for name, content := range map[string]string{
		"a set": `{"format":"atelier-bench-set/1","runs":[` + one + "," + one + "]}", "a list": "[" + one + "," + one + "]", "one behind the other": one + "\n" + one + "\n",
		"a list and one": "[" + one + "]" + one,
	} {
		path := filepath.Join(t.TempDir(), "runs.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := Read(path); err != nil || len(s.Runs) != 2 || s.Runs[1].Numbers["p99"] != 1 {
			t.Errorf("%s: read %+v, %v", name, s, err)
		}
	}
}

// A change by more than the tolerance counts in both directions.
func TestTheToleranceAppliesToBothSides(t *testing.T) {
	for number, want := range map[string]Verdict{"p99": Better, "deliveries_per_second": Worse, "drops": Different} {
		if f := judge("x", number, []float64{100}, []float64{80}, Limits{Tolerance: 0.1, Single: true}); f.Verdict != want {
			t.Errorf("%s: %s, want %s", number, f.Verdict, want)
		}
	}
}

// lossy returns the report of a run with these faults.
func lossy(valid bool, lost, duplicated, reordered, misdirected int, failures ...string) []byte {
	b, _ := json.Marshal(map[string]any{
		"format": "atelier-bench/1", "scenario": "fanout", "valid": valid, "count": 9, "p99": 5, "failures": failures,
		"lost": lost, "duplicated": duplicated, "reordered": reordered, "audit": map[string]int{"misdirected": misdirected},
	})
	return b
}

// A single run is enough if it has a value above 0 that must be 0, even if its generator was late.
func TestAFailureMakesASingleRunWorse(t *testing.T) {
	fine := lossy(true, 0, 0, 0, 0)
	for name, c := range map[string]struct {
		a, b    [][]byte
		number  string
		verdict Verdict
	}{
		"lost":                  {[][]byte{fine}, [][]byte{lossy(true, 784, 0, 0, 0)}, "lost", Worse},
		"duplicated":            {[][]byte{fine}, [][]byte{lossy(true, 0, 1, 0, 0)}, "duplicated", Worse},
		"reordered":             {[][]byte{fine}, [][]byte{lossy(true, 0, 0, 1, 0)}, "reordered", Worse},
		"misdirected":           {[][]byte{fine}, [][]byte{lossy(true, 0, 0, 0, 1)}, "misdirected", Worse},
		"a verdict":             {[][]byte{fine}, [][]byte{lossy(true, 0, 0, 0, 0, "p99<1ms: it is 5")}, "failures", Worse},
		"one of five":           {[][]byte{fine, fine, fine, fine, fine}, [][]byte{fine, fine, lossy(true, 1, 0, 0, 0), fine, fine}, "lost", Worse},
		"with a late generator": {[][]byte{fine}, [][]byte{lossy(false, 9, 0, 0, 0)}, "lost", Worse},
		"repaired":              {[][]byte{lossy(true, 784, 0, 0, 0)}, [][]byte{fine}, "lost", Better},
		"as wrong as before":    {[][]byte{lossy(true, 7, 0, 0, 0)}, [][]byte{lossy(true, 7, 0, 0, 0)}, "lost", Same},
		"nothing ever happened": {[][]byte{fine}, [][]byte{fine}, "lost", Same},
	} {
		findings, skipped, err := Compare(set(t, c.a...), set(t, c.b...), Limits{Tolerance: 0.5, Alpha: 0.05})
		if err != nil || verdict(findings, c.number) != c.verdict {
			t.Errorf("%s: the verdict is %q, %v", name, verdict(findings, c.number), err)
		}
		var out strings.Builder
		if worse, err := Text(&out, findings, skipped); err != nil || worse > 0 != (c.verdict == Worse) || strings.Contains(out.String(), "\nWORSE: "+c.number+" (") != (c.verdict == Worse) {
			t.Errorf("%s: %d numbers are worse, %v\n%s", name, worse, err, out.String())
		}
	}
}

// A comparison names the invalid run, and the reason.
func TestAnInvalidRunIsReported(t *testing.T) {
	run := func(scenario string, invalid ...string) []byte {
		b, _ := json.Marshal(map[string]any{"format": "atelier-bench/1", "scenario": scenario, "about": "some", "valid": invalid == nil, "invalid": invalid, "count": 9, "p99": 1})
		return b
	}
	for want, c := range map[string][2][]byte{
		"INVALID: fanout: some: B: the generator was late":                {run("fanout"), run("fanout", "the generator was late")},
		"INVALID: fanout: some: A: it was full; B: it was full, and late": {run("fanout", "it was full"), run("fanout", "it was full, and late")},
	} {
		findings, skipped, err := Compare(set(t, c[0]), set(t, c[1]), Limits{})
		if err != nil || !AnyInvalid(findings) || verdict(findings, "p99") != NoMeaning {
			t.Fatalf("%q: the findings are %v, %v", want, findings, err)
		}
		var out strings.Builder
		// The values of both sides are still shown.
		if worse, err := Text(&out, findings, skipped); err != nil || worse > 0 || !strings.Contains(out.String(), "\n"+want+"\n") || !regexp.MustCompile(`(?m)^p99 +1 +1 `).MatchString(out.String()) {
			t.Errorf("%q: %d numbers are worse, want 0; %v\n%s", want, worse, err, out.String())
		}
	}
	if _, _, err := Compare(set(t, run("fanout")), set(t, run("idle")), Limits{}); err == nil || !strings.Contains(err.Error(), "no scenario in common: fanout: some against idle: some") {
		t.Error(err)
	}
}

// The last line contains the result, and each row the basis of its verdict.
func TestAComparisonHasAVerdict(t *testing.T) {
	repeats := func(p99 float64, n int) (out [][]byte) {
		for i := range n {
			out = append(out, text(p99+float64(i)/100, 1000, true))
		}
		return out
	}
	for name, c := range map[string]struct {
		a, b [][]byte
		l    Limits
		text string
	}{
		"alike":       {repeats(10, 5), repeats(10, 5), Limits{Alpha: 0.05}, "\nnothing worse\n"},
		"few":         {repeats(10, 1), repeats(20, 1), Limits{Alpha: 0.05}, "\nUNDECIDED: not enough runs to tell"},
		"three":       {repeats(10, 3), repeats(20, 3), Limits{Alpha: 0.05}, "\nUNDECIDED: not enough runs to tell"},
		"shown":       {repeats(10, 5), repeats(20, 5), Limits{Alpha: 0.05}, "0.008  worse\n"},
		"tolerance":   {repeats(10, 2), repeats(20, 2), Limits{Tolerance: 0.4, Alpha: 1, Single: true}, "0.333  worse, by the tolerance, not by the test\n"},
		"its verdict": {repeats(10, 2), repeats(20, 2), Limits{Tolerance: 0.4, Alpha: 1, Single: true}, "\nWORSE: p99 (fanout: some)\n"},
		"within it":   {repeats(10, 2), repeats(11, 2), Limits{Tolerance: 0.4, Alpha: 1, Single: true}, "\nnothing worse\n"},
	} {
		findings, skipped, err := Compare(set(t, c.a...), set(t, c.b...), c.l)
		var out strings.Builder
		if err == nil {
			_, err = Text(&out, findings, skipped)
		}
		if err != nil || !strings.Contains(out.String(), c.text) {
			t.Errorf("%s: %v\n%s", name, err, out.String())
		}
	}
}
