package compare

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"atelier/bench/report"
)

// Rows contains the judgements of several works of the same two servers.
type Rows struct {
	Format string `json:"format"`
	// Base and New describe the sources of the two servers.
	Base string `json:"base"`
	New  string `json:"new"`
	// Incomplete means that later rounds and works are missing.
	Incomplete bool  `json:"incomplete,omitempty"`
	Rows       []Row `json:"works"`
}

// FormatOfRows identifies the format of the JSON file.
const FormatOfRows = "atelier-bench-regress/1"

// JSON returns the content of the table and the value of every run.
func (r *Rows) JSON() ([]byte, error) {
	out := *r
	out.Format = FormatOfRows
	b, err := json.MarshalIndent(&out, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encode comparison: %w", err)
	}
	return append(b, '\n'), nil
}

// Text writes the table, the problems of runs, and the verdict.
func (r *Rows) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "base: %s\nnew:  %s\n\n", r.Base, r.New)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "work\tunit\tbase\tnew\tratio\t95 % interval\tverdict")
	marked := false
	for i := range r.Rows {
		row := &r.Rows[i]
		unit := row.Unit
		if row.Less {
			unit, marked = unit+" *", true
		}
		within := row.Interval
		if row.Verdict == Unjudged {
			within = nil // the interval of two short rounds is nearly unbounded
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", row.Name, unit, known(row.Base, figure(row.Base)), known(row.New, figure(row.New)),
			known(row.Ratio, fmt.Sprintf("%.3f", row.Ratio)), within, row.Verdict)
	}
	t.Flush()
	b.WriteString("\nratio: new/base; above 1 the new server is better\n")
	if marked {
		b.WriteString("*      less is better, so the ratio is base/new\n")
	}
	for _, row := range r.Rows {
		for _, why := range row.Why {
			fmt.Fprintf(&b, "%s, %s\n", row.Name, why)
		}
	}
	fmt.Fprintf(&b, "\n%s\n", r.conclusion())
	_, err := io.WriteString(w, b.String())
	return err
}

// known returns "-" instead of the text of a value without a valid round.
func known(v float64, text string) string {
	if v == 0 {
		return "-"
	}
	return text
}

func (i *Interval) String() string {
	if i == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f to %.3f", i.Low, i.High)
}

// ExitCode returns report.ExitFailed if any work fails. Otherwise, if any work is invalid, it
// returns report.ExitInvalid. Otherwise it returns report.ExitPassed.
func (r *Rows) ExitCode() int {
	switch {
	case len(r.with(Fail)) > 0:
		return report.ExitFailed
	case len(r.with(Invalid)) > 0:
		return report.ExitInvalid
	}
	return report.ExitPassed
}

func (r *Rows) conclusion() string {
	var out []string
	for _, v := range []Verdict{Fail, Invalid} {
		if works := r.with(v); len(works) > 0 {
			out = append(out, fmt.Sprintf("%s: %s", v, strings.Join(works, "; ")))
		}
	}
	if r.Incomplete {
		out = append(out, "INCOMPLETE: later rounds and works are missing")
	}
	switch {
	case len(out) > 0:
		return strings.Join(out, "\n")
	case len(r.with(Unjudged)) > 0:
		return "everything works; short runs do not judge the speed"
	}
	return fmt.Sprintf("PASS: nothing is shown to be more than %.0f %% slower", 100*Slower)
}

// with returns the names of the works with a verdict.
func (r *Rows) with(v Verdict) (works []string) {
	for _, row := range r.Rows {
		if row.Verdict == v {
			works = append(works, row.Name)
		}
	}
	return works
}
