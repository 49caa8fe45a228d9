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
	// A and B are medians, Change by how much B is above A, as a share.
	A, B, Change float64
	// P is how likely a difference like this is by chance; 1 with single runs.
	P       float64
	Verdict Verdict
}

// Verdict of a finding.
type Verdict string

// Verdicts.
const (
	Same      Verdict = "no difference shown"
	Better    Verdict = "better"
	Worse     Verdict = "worse"
	MaybeNo   Verdict = "within the tolerance"
	Unproven  Verdict = "single runs prove nothing"
	Different Verdict = "another amount"
)

// Limits say what counts as a difference.
type Limits struct {
	// Tolerance is the change, as a share, that is let pass.
	Tolerance float64
	// Alpha is the largest P that counts as shown.
	Alpha float64
	// Single lets runs without repeats count, too: for a check against numbers
	// of another day, whose tolerance must then be wide.
	Single bool
}

// Compare looks at all numbers that both sets have. Runs that are not valid are
// left out; skipped is how many. An error means that nothing is common.
func Compare(a, b *Set, l Limits) (findings []Finding, skipped int, err error) {
	left, right := group(a, &skipped), group(b, &skipped)
	for _, name := range slices.Sorted(maps.Keys(left)) {
		if right[name] == nil {
			continue
		}
		for _, number := range slices.Sorted(maps.Keys(left[name])) {
			if len(right[name][number]) == 0 {
				continue
			}
			findings = append(findings, judge(name, number, left[name][number], right[name][number], l))
		}
	}
	if len(findings) == 0 {
		return nil, skipped, fmt.Errorf("the two have no valid run of the same scenario: %s against %s", names(a), names(b))
	}
	return findings, skipped, nil
}

// group collects the values of each number of each scenario.
func group(s *Set, skipped *int) map[string]map[string][]float64 {
	out := map[string]map[string][]float64{}
	for _, r := range s.Runs {
		if !r.Valid {
			*skipped++
			continue
		}
		if out[r.Name] == nil {
			out[r.Name] = map[string][]float64{}
		}
		for number, v := range r.Numbers {
			out[r.Name][number] = append(out[r.Name][number], v)
		}
	}
	return out
}

func names(s *Set) string {
	seen := map[string]bool{}
	for _, r := range s.Runs {
		seen[r.Name] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(seen)), "; ")
}

func judge(name, number string, a, b []float64, l Limits) Finding {
	f := Finding{Name: name, Number: number, A: median(a), B: median(b), P: rankTest(a, b)}
	if f.A != 0 {
		f.Change = f.B/f.A - 1
	} else if f.B != 0 {
		f.Change = 1
	}
	single := len(a) < 2 || len(b) < 2
	switch {
	case f.A == f.B:
		f.Verdict = Same
	case single && !l.Single:
		f.Verdict = Unproven
	case !single && f.P > l.Alpha:
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
	return f
}

// direction is 1 for a number of which more is better, -1 for one of which less
// is, 0 for one that only describes the run.
func direction(number string) float64 {
	switch {
	case strings.HasSuffix(number, "_per_second"):
		return 1
	case slices.Contains([]string{"drops", "raced", "live_tokens", "rss_without", "clock_error_ms"}, number):
		return 0
	}
	return -1
}

// Text prints findings as a table, and says how many are worse.
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
		fmt.Fprintf(t, "%s\t%s\t%s\t%+.1f %%\t%s\t%s\n", f.Number, figure(f.A), figure(f.B), f.Change*100, fmt.Sprintf("%.3f", f.P), f.Verdict)
		if f.Verdict == Worse {
			worse++
		}
	}
	t.Flush()
	if skipped > 0 {
		fmt.Fprintf(&b, "\n%d runs are left out: their generator was late\n", skipped)
	}
	_, err = io.WriteString(w, b.String())
	return worse, err
}

func figure(v float64) string {
	switch {
	case v >= 1000 || v <= -1000:
		return fmt.Sprintf("%.0f", v)
	case v == float64(int64(v)):
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
