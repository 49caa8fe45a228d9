package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"atelier/bench/latency"
)

// Style configures the printing of a report.
type Style struct {
	// Colour adds colour to the verdict.
	Colour bool
}

// Text prints the result for people.
func (r *Result) Text(w io.Writer, style Style) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s measured", r.Scenario, r.About, seconds(r.Duration))
	if r.Warmup > 0 {
		fmt.Fprintf(&b, " after %s of warm-up", seconds(r.Warmup))
	}
	if r.Seed > 0 {
		fmt.Fprintf(&b, ", seed %d", r.Seed)
	}
	b.WriteByte('\n')
	if r.Interrupted {
		b.WriteString("interrupted: this is a part of the run\n")
	}
	b.WriteByte('\n')
	r.latencies(&b)
	b.WriteByte('\n')
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, f := range r.facts() {
		fmt.Fprintf(t, "%s\t%s\n", f.Name, f.Text)
	}
	t.Flush()
	b.WriteByte('\n')
	r.verdict(&b, style)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("print report: %w", err)
	}
	return nil
}

// rows returns the latencies of a run, beginning with the main one.
func (r *Result) rows() []latencyRow {
	var out []latencyRow
	row := func(name string, s latency.Summary, refused, unanswered int) {
		out = append(out, latencyRow{name, s, refused, unanswered})
	}
	// If the run's subject is one of the operations, it has one row instead of two.
	subject := -1
	if r.Latency.Count > 0 {
		refused, unanswered := 0, 0
		subject = slices.IndexFunc(r.Operations, func(op Operation) bool { return op.Name == r.Subject && op.Latency == r.Latency })
		if subject >= 0 {
			refused, unanswered = r.Operations[subject].Refused, r.Operations[subject].Unanswered
		}
		row(r.Subject, r.Latency, refused, unanswered)
	}
	for _, p := range r.Parts {
		row("  "+p.Name, p.Latency, 0, 0)
	}
	if r.Last != nil {
		row("to the last", *r.Last, 0, 0)
	}
	for i, op := range r.Operations {
		if i != subject {
			row(op.Name, op.Latency, op.Refused, op.Unanswered)
		}
	}
	if r.Generator.Lag.Count > 0 {
		row("generator lag", r.Generator.Lag, 0, 0)
	}
	if r.Generator.Turns.Count > 0 {
		row("generator turn", r.Generator.Turns, 0, 0)
	}
	return out
}

// latencies writes the table of all operations.
func (r *Result) latencies(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "latency, ms\tcount\tp50\tp90\tp99\tp99.9\tmax\trefused\tno answer\t")
	for _, l := range r.rows() {
		s := l.S
		fmt.Fprintf(t, "%s\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%s\t%s\t\n", l.Name, s.Count, s.P50, s.P90, s.P99, s.P999, s.Max, some(l.Refused), some(l.Unanswered))
	}
	t.Flush()
	for _, op := range r.Operations {
		if op.Complaint != "" {
			fmt.Fprintf(b, "  %s: %s\n", op.Name, op.Complaint)
		}
	}
}

// fact is a line of the report: a name, and a text.
type fact struct{ Name, Text string }

// facts returns the findings of a run in addition to latencies.
func (r *Result) facts() []fact {
	var out []fact
	line := func(name, format string, args ...any) { out = append(out, fact{name, fmt.Sprintf(format, args...)}) }
	a := &r.Audit
	if r.Messages > 0 {
		line("messages", "%s", grouped(r.Messages))
	}
	if r.Deliveries > 0 {
		line("deliveries", "%s, %s/s%s", grouped(r.Deliveries), grouped(int64(r.DeliveriesPerSecond)),
			unless(r.Events == 0, fmt.Sprintf("; %s events of all kinds", grouped(r.Events))))
	}
	if c := r.Connections; c != nil {
		line("connections", "%d of %d open, %s%s", c.Open, c.Wanted, Count(c.Publishers, "publisher"), unless(c.Lost == 0, fmt.Sprintf("; %d ended", c.Lost)))
	}
	for _, f := range r.Figures {
		value, unit := f.text()
		line(f.Name, "%s %s", value, unit)
	}
	if r.Search != nil {
		out = append(out, r.Search.facts()...)
	}
	for _, k := range r.Remarks {
		line(k.Name, "%s", k.Text)
	}
	if r.Deliveries > 0 || a.Writes != nil {
		line("audit", "%d lost, %d duplicated, %d reordered, %s, %d misdirected%s%s", a.Lost(), a.Doubled(), a.Reordered, Count(a.Resyncs, "resync"), a.Misdirected,
			unless(a.Away == 0, fmt.Sprintf("; %d sent while a subscriber was away, and not replayed", a.Away)), unless(r.Warmup == 0, "; warm-up included"))
	}
	if t := a.Tokens; t != nil {
		line("audit", "%s", t.audit())
		line("pairs", "%s", t.pairs())
	}
	for _, name := range slices.Sorted(maps.Keys(a.Writes)) {
		w := a.Writes[name]
		line("  "+name, "%d acknowledged, %d lost, %d doubled%s", w.Acknowledged, w.Lost, w.Doubled,
			unless(w.Unanswered == 0, fmt.Sprintf("; %d unanswered, %d of them applied", w.Unanswered, w.UnansweredApplied)))
	}
	if s := a.Stalled; s.People > 0 {
		line("stalled", "%d: %d closed by the server; after reading again %d caught up, %d resynced, %d unreported gaps, %d unfinished",
			s.People, s.Closed, s.CaughtUp, s.Resynced, s.Gaps, s.Unfinished)
	}
	for i, k := range r.Restarts {
		line(fmt.Sprintf("%s %d", k.fault(), i+1), "%sready after %.0f ms, all resumed after %.0f ms%s%s", unless(len(k.Nodes) == 0, k.What+": "), k.Ready, k.Resumed,
			unless(k.AllResumed, ", some never"), k.recovered())
	}
	for _, how := range slices.Sorted(maps.Keys(r.Disconnects)) {
		if status, refused := strings.CutPrefix(how, "refused with "); refused {
			line("handshakes", "%d refused with %s", r.Disconnects[how], status)
		} else {
			line("disconnects", "%d: %s", r.Disconnects[how], how)
		}
	}
	// Some scenarios have no socket loop.
	g := &r.Generator
	line("generator", "%.2f cores%s%s", g.CPU, unless(g.Workers < 2, fmt.Sprintf(" in %d workers", g.Workers)),
		unless(g.Busy == 0 && g.Turns.Count == 0, fmt.Sprintf(", busiest socket loop %.0f %% busy", g.Busy*100)))
	if r.Server != nil {
		line("server", "%.2f cores, %.0f MiB resident, %.0f MiB at its peak", r.Server.CPU, mebibytes(r.Server.RSS), mebibytes(r.Server.PeakRSS))
	}
	for _, n := range r.Nodes {
		line("  "+n.Name, "%.2f cores, %.0f MiB resident%s%s", n.CPU, mebibytes(n.RSS),
			unless(n.CPUPerMillion == 0, fmt.Sprintf("; %s deliveries, %.2f s of CPU time per million", grouped(n.Deliveries), n.CPUPerMillion)),
			unless(n.Sent+n.Received == 0, fmt.Sprintf("; %s messages to other nodes (%s bytes), %s from them", grouped(n.Sent), grouped(n.Bytes), grouped(n.Received))))
	}
	if messages, bytes := r.betweenNodes(); messages > 0 {
		line("between nodes", "%.2f messages and %.0f bytes for each message of the load", messages, bytes)
	}
	for _, p := range r.Parts {
		if p.Highest > 0 {
			line("  "+p.Name, "%.0f to %.0f MiB resident, %.0f on average", mebibytes(p.Lowest), mebibytes(p.Highest), mebibytes(p.Mean))
		}
	}
	if len(r.Parts) > 1 {
		first, last := &r.Parts[0], &r.Parts[len(r.Parts)-1]
		line("compared", "p99 %+.0f %%, computed from %s and %s deliveries%s", r.Slowdown()*100, grouped(first.Latency.Count), grouped(last.Latency.Count),
			unless(first.Highest == 0, fmt.Sprintf("; highest memory %+.0f MiB", mebibytes(r.Growth()))))
	}
	if len(r.Memory) > 0 {
		line("memory", "%s MiB", r.overTime())
	}
	return out
}

// text formats a figure for people.
func (f *Figure) text() (value, unit string) {
	switch v := f.Value; {
	case f.Unit == "bytes" && v >= 1<<20:
		return fmt.Sprintf("%.1f", v/(1<<20)), "MiB"
	case f.Unit == "bytes" && v >= 10<<10:
		return fmt.Sprintf("%.1f", v/(1<<10)), "KiB"
	case v == float64(int64(v)) || v >= 10_000:
		return grouped(int64(v)), f.Unit
	case v < 1:
		return fmt.Sprintf("%.3f", v), f.Unit
	default:
		return fmt.Sprintf("%.2f", v), f.Unit
	}
}

// overTime summarizes the server's memory over the measured time, with the last part's values in
// brackets.
func (r *Result) overTime() string {
	const most = 40
	var b strings.Builder
	step := (len(r.Memory) + most - 1) / most
	for i := 0; i < len(r.Memory); i += step {
		form := "%.0f "
		if w := r.Memory[i]; w.Part == len(r.Parts)-1 {
			form = "[%.0f] "
		}
		fmt.Fprintf(&b, form, mebibytes(r.Memory[i].RSS))
	}
	return strings.TrimSpace(b.String())
}

func (r *Result) verdict(b *strings.Builder, style Style) {
	const red, yellow, green = "31", "33", "32"
	for _, c := range r.Verdict.Checks {
		if c.Passed {
			fmt.Fprintf(b, "kept %s: it is %s\n", c.Threshold, c.text)
		}
	}
	for _, why := range r.Verdict.Failures {
		fmt.Fprintf(b, "%s %s\n", style.paint(red, "FAIL"), why)
	}
	for _, why := range r.Verdict.Invalid {
		fmt.Fprintf(b, "%s %s\n", style.paint(yellow, "INVALID"), why)
	}
	for _, why := range r.Verdict.Allowed {
		fmt.Fprintf(b, "%s %s\n", style.paint(yellow, "ALLOWED"), why)
	}
	switch {
	case len(r.Verdict.Failures) > 0 || !r.Verdict.Valid():
	case r.Interrupted:
		fmt.Fprintln(b, style.paint(yellow, "INTERRUPTED, and nothing wrong until then"))
	case len(r.Verdict.Allowed) > 0:
		fmt.Fprintln(b, style.paint(yellow, "PASS, but the generator was late: the latencies include its delay"))
	default:
		fmt.Fprintln(b, style.paint(green, "PASS"))
	}
}

func (s Style) paint(colour, text string) string {
	if !s.Colour {
		return text
	}
	return "\x1b[1;" + colour + "m" + text + "\x1b[0m"
}

// grouped formats a large number with commas, such as 1,234,567.
func grouped(n int64) string {
	if n < 0 {
		return "-" + grouped(-n)
	}
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// some formats a count, or returns "-" if the count is 0.
func some(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func unless(quiet bool, text string) string {
	if quiet {
		return ""
	}
	return text
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(10 * time.Millisecond)
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }
