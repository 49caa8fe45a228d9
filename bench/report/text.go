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

// Style says how a report is printed.
type Style struct {
	// Colour the verdict.
	Colour bool
}

// Text prints the result for people.
func (r *Result) Text(w io.Writer, style Style) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d attendees, %d facilitators, %s measured", r.Scenario, r.Attendees, r.Facilitators, seconds(r.Duration))
	fmt.Fprintf(&b, " after %s of warm-up, seed %d\n", seconds(r.Warmup), r.Seed)
	if r.Interrupted {
		b.WriteString("interrupted: this is a part of the run\n")
	}
	b.WriteByte('\n')
	r.latencies(&b)
	b.WriteByte('\n')
	r.facts(&b)
	b.WriteByte('\n')
	r.verdict(&b, style)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("print report: %w", err)
	}
	return nil
}

// latencies is the table of all operations.
func (r *Result) latencies(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "latency, ms\tcount\tp50\tp90\tp99\tp99.9\tmax\trefused\tno answer\t")
	row := func(name string, s latency.Summary, refused, unanswered string) {
		fmt.Fprintf(t, "%s\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%s\t%s\t\n", name, s.Count, s.P50, s.P90, s.P99, s.P999, s.Max, refused, unanswered)
	}
	row("chat delivery", r.Chat, "", "")
	for _, p := range r.Parts {
		row("  "+p.Name, p.Chat, "", "")
	}
	for _, op := range r.Operations {
		row(op.Name, op.Latency, some(op.Refused), some(op.Unanswered))
	}
	row("generator lag", r.Generator.Lag, "", "")
	row("generator turn", r.Generator.Turns, "", "")
	t.Flush()
	for _, op := range r.Operations {
		if op.Complaint != "" {
			fmt.Fprintf(b, "  %s: %s\n", op.Name, op.Complaint)
		}
	}
}

// facts are lines of a name and a sentence.
func (r *Result) facts(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) { fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	a := &r.Audit
	line("deliveries", "%d chat, %.0f/s; %d events of all kinds", r.Chat.Count, r.DeliveriesPerSecond, r.Events)
	line("audit", "%d lost, %d duplicated, %d reordered, %d resyncs, %d misdirected", a.Lost(), a.Doubled(), a.Reordered, a.Resyncs, a.Misdirected)
	for _, name := range slices.Sorted(maps.Keys(a.Writes)) {
		w := a.Writes[name]
		line("  "+name, "%d acknowledged, %d lost, %d doubled%s", w.Acknowledged, w.Lost, w.Doubled,
			unless(w.Unanswered == 0, fmt.Sprintf("; %d unanswered, %d of them applied", w.Unanswered, w.UnansweredApplied)))
	}
	if s := a.Stalled; s.People > 0 {
		line("stalled", "%d people: %d closed by the server; awake again %d caught up, %d resynced, %d silent gaps, %d unfinished",
			s.People, s.Closed, s.CaughtUp, s.Resynced, s.Gaps, s.Unfinished)
	}
	for i, k := range r.Restarts {
		line(fmt.Sprintf("kill %d", i+1), "ready after %.0f ms, all resumed after %.0f ms%s", k.Ready, k.Resumed,
			unless(k.AllResumed, ", some never"))
	}
	for _, how := range slices.Sorted(maps.Keys(r.Disconnects)) {
		line("disconnects", "%d: %s", r.Disconnects[how], how)
	}
	line("generator", "%.2f cores, socket loop %.0f %% busy", r.Generator.CPU, r.Generator.Busy*100)
	if r.Server != nil {
		line("server", "%.2f cores, %.0f MiB resident, %.0f MiB at its peak", r.Server.CPU, mebibytes(r.Server.RSS), mebibytes(r.Server.PeakRSS))
	}
	for _, p := range r.Parts {
		if p.Highest > 0 {
			line("  "+p.Name, "%.0f to %.0f MiB resident, %.0f on average", mebibytes(p.Lowest), mebibytes(p.Highest), mebibytes(p.Mean))
		}
	}
	if len(r.Parts) > 1 {
		line("compared", "chat p99 %+.0f %%, highest memory %+.0f MiB", r.Slowdown()*100, mebibytes(r.Growth()))
	}
	if len(r.Memory) > 0 {
		line("memory", "%s MiB", r.course())
	}
	t.Flush()
}

// course is the server's memory over the measured time in some numbers, those
// of the last part in brackets.
func (r *Result) course() string {
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
	case len(r.Verdict.Allowed) > 0:
		fmt.Fprintln(b, style.paint(yellow, "PASS, but the generator was late: its latencies are not the server's alone"))
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

// some is a count that says nothing when it is zero.
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
