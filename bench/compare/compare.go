package compare

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// Finding is one number of one scenario in both sets.
type Finding struct {
	Name, Number string
	// A and B are medians, or the maxima of a number that must be 0. Change is the relative
	// increase from A to B.
	A, B, Change float64
	// P is the probability that chance alone makes at least this difference. It is 1 with single
	// runs, and for numbers that must be 0.
	P       float64
	Verdict Verdict
	// By is the rule that decided the verdict, if it was not the test.
	By By
	// Why, for NoMeaning, names each INVALID side and the reasons.
	Why string
}

// Verdict is the judgement of a finding.
type Verdict string

// Verdicts.
const (
	Same      Verdict = "no difference shown"
	Better    Verdict = "better"
	Worse     Verdict = "worse"
	MaybeNo   Verdict = "within the tolerance"
	Unproven  Verdict = "too few runs to tell"
	Different Verdict = "different"
	// NoMeaning is the verdict if all runs of one side are INVALID.
	NoMeaning Verdict = "INVALID, not comparable"
)

// By is the rule that decides the verdict of a number instead of the test.
type By string

// Rules.
const (
	ByTest      By = ""
	ByTolerance By = "by the tolerance, not by the test"
	ByZero      By = "it must be 0"
)

// Limits define what counts as a difference.
type Limits struct {
	// Tolerance is the accepted relative change.
	Tolerance float64
	// Alpha is the largest P that counts as significant.
	Alpha float64
	// Single judges by Tolerance alone, so that single runs suffice. It is for a check against
	// earlier numbers, with a wide tolerance.
	Single bool
}

// Compare compares all numbers that both sets have. Invalid runs are omitted, except for numbers
// that must be 0, since a loss counts however late the generator was. skipped is the number of
// invalid runs. An error means that the sets have no scenario in common.
func Compare(a, b *Set, l Limits) (findings []Finding, skipped int, err error) {
	left, right := group(a, &skipped), group(b, &skipped)
	common := false
	for _, name := range slices.Sorted(maps.Keys(left)) {
		if right[name] == nil {
			continue
		}
		common = true
		findings = append(findings, left[name].against(name, right[name], l)...)
	}
	if !common {
		return nil, skipped, fmt.Errorf("the two sets have no scenario in common: %s against %s", names(left), names(right))
	}
	return findings, skipped, nil
}

// against compares the numbers of a scenario that both sides have. If a side has no valid run, its
// numbers are shown, but only numbers that must be 0 are judged.
func (a *scenario) against(name string, b *scenario, l Limits) (findings []Finding) {
	var why []string
	for _, side := range []struct {
		name string
		s    *scenario
	}{{"A", a}, {"B", b}} {
		if !side.s.valid {
			why = append(why, side.name+": "+strings.Join(side.s.why, "; "))
		}
	}
	before, after := a.numbers, b.numbers
	if why != nil {
		before, after = a.all, b.all
	}
	for _, number := range slices.Sorted(maps.Keys(before)) {
		was, is := before[number], after[number]
		if len(was) == 0 || len(is) == 0 {
			continue
		}
		f := judge(name, number, was, is, l)
		if why != nil && (f.Verdict != Worse || f.By != ByZero) {
			f.Verdict, f.By, f.Why = NoMeaning, ByTest, strings.Join(why, "; ")
		}
		findings = append(findings, f)
	}
	return findings
}

// scenario contains the results of all runs of one scenario.
type scenario struct {
	// numbers contains the numbers of valid runs, and for invalid runs only the numbers that must
	// be 0. all contains the numbers of all runs.
	numbers, all map[string][]float64
	// valid means that at least one run is valid. why contains the reasons why the others are
	// invalid.
	valid bool
	why   []string
}

// group collects the values of each number of each scenario.
func group(s *Set, skipped *int) map[string]*scenario {
	out := map[string]*scenario{}
	for _, r := range s.Runs {
		if !r.Valid {
			*skipped++
		}
		if out[r.Name] == nil {
			out[r.Name] = &scenario{numbers: map[string][]float64{}, all: map[string][]float64{}}
		}
		g := out[r.Name]
		g.valid = g.valid || r.Valid
		for _, why := range r.Invalid {
			if !slices.Contains(g.why, why) {
				g.why = append(g.why, why)
			}
		}
		for number, v := range r.Numbers {
			g.all[number] = append(g.all[number], v)
			if r.Valid || slices.Contains(mustBeZero, number) {
				g.numbers[number] = append(g.numbers[number], v)
			}
		}
	}
	return out
}

func names(s map[string]*scenario) string {
	return strings.Join(slices.Sorted(maps.Keys(s)), "; ")
}

func judge(name, number string, a, b []float64, l Limits) Finding {
	if slices.Contains(mustBeZero, number) {
		return judgeZero(name, number, a, b)
	}
	f := Finding{Name: name, Number: number, A: median(a), B: median(b), P: rankTest(a, b)}
	f.Change = change(f.A, f.B)
	few := !l.Single && smallest(len(a), len(b)) > l.Alpha
	switch {
	case f.A == f.B:
		f.Verdict = Same
	case few:
		f.Verdict = Unproven
	case !l.Single && f.P > l.Alpha:
		f.Verdict = Same
	case max(f.Change, -f.Change) <= l.Tolerance:
		f.Verdict = MaybeNo
	case direction(number) == 0:
		f.Verdict = Different
	case f.Change*direction(number) > 0:
		f.Verdict = Better
	default:
		f.Verdict = Worse
	}
	if l.Single && (f.Verdict == Worse || f.Verdict == Better) {
		f.By = ByTolerance
	}
	return f
}

// mustBeZero contains the counts of violated guarantees. Chance plays no part in them, so one
// violation in a single run is enough.
var mustBeZero = []string{"lost", "duplicated", "reordered", "misdirected", "failures"}

// judgeZero compares the worst run of each side.
func judgeZero(name, number string, a, b []float64) Finding {
	f := Finding{Name: name, Number: number, A: slices.Max(a), B: slices.Max(b), P: 1, Verdict: Same}
	f.Change = change(f.A, f.B)
	switch {
	case f.B > f.A:
		f.Verdict, f.By = Worse, ByZero
	case f.B < f.A:
		f.Verdict, f.By = Better, ByZero
	}
	return f
}

// change returns the relative difference of b from a. It returns 1 if only a is zero.
func change(a, b float64) float64 {
	switch {
	case a != 0:
		return b/a - 1
	case b != 0:
		return 1
	}
	return 0
}

// direction returns 1 for a number that should be high, -1 for one that should be low, and 0 for
// one that only describes the run.
func direction(number string) float64 {
	switch {
	case strings.HasSuffix(number, "_per_second"):
		return 1
	case slices.Contains([]string{"drops", "raced", "live_tokens", "rss_without", "clock_error_ms"}, number):
		return 0
	}
	return -1
}

// AnyInvalid reports whether any scenario has a side without a valid run.
func AnyInvalid(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Verdict == NoMeaning })
}

// Text prints findings as a table with a verdict, and returns how many are worse.
func Text(w io.Writer, findings []Finding, skipped int) (worse int, err error) {
	var b strings.Builder
	name := ""
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, f := range findings {
		if f.Name != name {
			t.Flush()
			if name != "" {
				b.WriteByte('\n')
			}
			name = f.Name
			fmt.Fprintln(&b, name)
			fmt.Fprintln(t, "number\tA\tB\tchange\tp\t")
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", f.Number, figure(f.A), figure(f.B), f.share(), f.chance(), f.verdictText())
		if f.Verdict == Worse {
			worse++
		}
	}
	t.Flush()
	if skipped > 0 && !AnyInvalid(findings) {
		fmt.Fprintf(&b, "\nomitted INVALID runs: %d\n", skipped)
	}
	fmt.Fprintf(&b, "\n%s\n", conclusion(findings))
	_, err = io.WriteString(w, b.String())
	return worse, err
}

// conclusion returns the overall verdict.
func conclusion(findings []Finding) string {
	var worse, scenarios, invalid []string
	unproven := 0
	for _, f := range findings {
		switch f.Verdict {
		case Worse:
			if !slices.Contains(scenarios, f.Name) {
				scenarios = append(scenarios, f.Name)
			}
			worse = append(worse, f.Number)
		case NoMeaning:
			if why := f.Name + ": " + f.Why; !slices.Contains(invalid, why) {
				invalid = append(invalid, why)
			}
		case Unproven:
			unproven++
		}
	}
	switch {
	case len(worse) > 0:
		slices.Sort(worse)
		return fmt.Sprintf("WORSE: %s (%s)", strings.Join(slices.Compact(worse), ", "), strings.Join(scenarios, "; "))
	case invalid != nil:
		return "INVALID: " + strings.Join(invalid, "; ")
	case unproven > 0:
		return "UNDECIDED: not enough runs to tell; at least 4 of each are needed to show a difference"
	}
	return "nothing worse"
}

// share formats the change in percent. An increase from 0 has no relative change.
func (f *Finding) share() string {
	if f.A == 0 && f.B != 0 {
		return "from 0"
	}
	return fmt.Sprintf("%+.1f %%", f.Change*100)
}

// chance formats p. It returns "-" for NoMeaning, and for a number that must be 0 if the sides
// differ.
func (f *Finding) chance() string {
	if f.By == ByZero || f.Verdict == NoMeaning {
		return "-"
	}
	return fmt.Sprintf("%.3f", f.P)
}

func (f *Finding) verdictText() string {
	if f.By == ByTest {
		return string(f.Verdict)
	}
	return fmt.Sprintf("%s, %s", f.Verdict, f.By)
}

func figure(v float64) string {
	switch {
	case v >= 999.5 || v <= -999.5: // three significant digits would be 1e+03
		return fmt.Sprintf("%.0f", v)
	case v == float64(int64(v)):
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
