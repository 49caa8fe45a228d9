//go:build linux

package tokens

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"atelier/bench/latency"
	"atelier/bench/report"
)

// Result is everything that a run found. Latencies are in milliseconds, memory
// in bytes, processor time in cores.
type Result struct {
	Scenario    string            `json:"scenario"`
	Started     time.Time         `json:"started"`
	Command     []string          `json:"command"`
	Versions    map[string]string `json:"versions"`
	Rate        float64           `json:"rate"`
	Connections int               `json:"connections"`
	Interrupted bool              `json:"interrupted"`

	Seconds        float64            `json:"seconds"`
	PairsPerSecond float64            `json:"pairs_per_second"`
	Operations     []report.Operation `json:"operations"`
	// Raced tokens were used by two callers at once. Doubled gave their
	// credential to both, Denied to neither, Wrong gave another's.
	Raced   int `json:"raced"`
	Doubled int `json:"doubled"`
	Denied  int `json:"denied"`
	Wrong   int `json:"wrong"`

	Lag          latency.Summary `json:"generator_lag"`
	GeneratorCPU float64         `json:"generator_cpu"`
	Server       *report.Server  `json:"server,omitempty"`
	Crowd        *Crowd          `json:"crowd,omitempty"`

	Failures []string `json:"failures"`
	Invalid  []string `json:"invalid"`
}

// Crowd is what many live tokens took.
type Crowd struct {
	Tokens          int     `json:"tokens"`
	MintedPerSecond float64 `json:"minted_per_second"`
	RSS             int64   `json:"rss"`
	PeakRSS         int64   `json:"peak_rss"`
	// Restarted is from the start of a new process, after a SIGKILL, to the
	// first answered pair.
	Restarted        float64 `json:"restarted_ms"`
	RestartedRSS     int64   `json:"restarted_rss"`
	IdleCores        float64 `json:"idle_cores"`
	IdleGoroutines   int     `json:"idle_goroutines"`
	ExpiryCores      float64 `json:"expiry_cores"`
	ExpiryGoroutines int     `json:"expiry_goroutines"`
}

// Thresholds decide whether a run passes; zero is off.
type Thresholds struct {
	MinPairs float64
	MaxP99   time.Duration
	MaxLag   time.Duration
	MaxRSS   int64
}

func newResult(cfg *Config) *Result {
	return &Result{Scenario: "tokens", Started: time.Now().UTC().Truncate(time.Second), Rate: cfg.Rate, Connections: cfg.Connections}
}

// conclude fills in what the workers found. They have ended.
func (r *run) conclude(workers []*worker, begin, end weight) {
	out := r.result
	lag := latency.New()
	for _, k := range []struct {
		name string
		of   func(*worker) *tally
	}{
		{"tokenize", func(w *worker) *tally { return &w.tokenize }},
		{"detokenize", func(w *worker) *tally { return &w.detokenize }},
		{"pair", func(w *worker) *tally { return &w.pair }},
	} {
		all := latency.New()
		op := report.Operation{Name: k.name}
		for _, w := range workers {
			t := k.of(w)
			all.Merge(t.latency)
			op.Done += t.done
			op.Refused += t.refused
			op.Unanswered += t.unanswered
			if t.complaint != "" {
				op.Complaint = t.complaint
			}
		}
		op.Latency = all.Summary()
		out.Operations = append(out.Operations, op)
	}
	for _, w := range workers {
		lag.Merge(w.lag)
		out.Raced += w.raced
		out.Doubled += w.doubled
		out.Denied += w.denied
		out.Wrong += w.wrong
	}
	out.Lag = lag.Summary()
	if out.Seconds = (end.at - begin.at).Seconds(); out.Seconds > 0 {
		out.PairsPerSecond = float64(out.Operations[0].Latency.Count) / out.Seconds
		out.GeneratorCPU = (end.generator - begin.generator).Seconds() / out.Seconds
		if r.target.Usage != nil {
			out.Server = &report.Server{
				CPU: (end.server.CPU - begin.server.CPU).Seconds() / out.Seconds, RSS: end.server.RSS, PeakRSS: end.server.PeakRSS,
			}
		}
	}
}

// Judge fills in what is wrong.
func (r *Result) Judge(t *Thresholds) {
	r.Failures, r.Invalid = []string{}, []string{}
	fail := func(wrong bool, format string, args ...any) {
		if wrong {
			r.Failures = append(r.Failures, fmt.Sprintf(format, args...))
		}
	}
	fail(r.Doubled > 0, "%d tokens gave their credential twice", r.Doubled)
	fail(r.Denied > 0, "%d tokens gave their credential to neither of two callers", r.Denied)
	fail(r.Wrong > 0, "%d credentials were not those given", r.Wrong)
	bad := 0
	for _, op := range r.Operations {
		bad += op.Refused + op.Unanswered
	}
	fail(bad > 0, "%d operations refused or unanswered", bad)
	if len(r.Operations) == 3 {
		fail(t.MinPairs > 0 && r.PairsPerSecond < t.MinPairs, "%.0f pairs/s, under %.0f", r.PairsPerSecond, t.MinPairs)
		for _, op := range r.Operations[:2] {
			fail(t.MaxP99 > 0 && op.Latency.P99 > latency.Milliseconds(t.MaxP99), "p99 of %s is %.1f ms, over %v", op.Name, op.Latency.P99, t.MaxP99)
		}
	}
	if c := r.Crowd; c != nil {
		fail(t.MaxRSS > 0 && max(c.RSS, c.RestartedRSS) > t.MaxRSS, "%d MiB resident with %d live tokens", max(c.RSS, c.RestartedRSS)>>20, c.Tokens)
	}
	if t.MaxLag > 0 && r.Lag.P99 > latency.Milliseconds(t.MaxLag) {
		r.Invalid = append(r.Invalid, fmt.Sprintf("the generator was late: p99 of its lag is %.1f ms, over %v", r.Lag.P99, t.MaxLag))
	}
}

// ExitCode is what the command ends with.
func (r *Result) ExitCode() int {
	switch {
	case len(r.Failures) > 0:
		return report.ExitFailed
	case len(r.Invalid) > 0:
		return report.ExitInvalid
	case r.Interrupted:
		return report.ExitInterrupted
	}
	return report.ExitPassed
}

// Text prints the result for people.
func (r *Result) Text(w io.Writer) error {
	var b strings.Builder
	switch {
	case len(r.Operations) == 0:
		b.WriteString("tokens: no load\n\n")
	case r.Rate > 0:
		fmt.Fprintf(&b, "tokens: %.0f pairs/s planned, %d connections\n\n", r.Rate, r.Connections)
	default:
		fmt.Fprintf(&b, "tokens: as fast as %d connections go\n\n", r.Connections)
	}
	if len(r.Operations) > 0 {
		r.latencies(&b)
	}
	r.facts(&b)
	for _, why := range r.Failures {
		fmt.Fprintln(&b, "FAIL", why)
	}
	for _, why := range r.Invalid {
		fmt.Fprintln(&b, "INVALID", why)
	}
	if r.ExitCode() == report.ExitPassed {
		b.WriteString("PASS\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Result) latencies(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "latency, ms\tcount\tp50\tp90\tp99\tp99.9\tmax\trefused\tno answer\t")
	row := func(name string, s latency.Summary, refused, unanswered string) {
		fmt.Fprintf(t, "%s\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%s\t%s\t\n", name, s.Count, s.P50, s.P90, s.P99, s.P999, s.Max, refused, unanswered)
	}
	for _, op := range r.Operations {
		row(op.Name, op.Latency, fmt.Sprint(op.Refused), fmt.Sprint(op.Unanswered))
	}
	row("generator lag", r.Lag, "", "")
	t.Flush()
	for _, op := range r.Operations {
		if op.Complaint != "" {
			fmt.Fprintf(b, "  %s: %s\n", op.Name, op.Complaint)
		}
	}
	b.WriteByte('\n')
}

func (r *Result) facts(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) { fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	if len(r.Operations) > 0 {
		r.load(line)
	}
	if c := r.Crowd; c != nil {
		line("live tokens", "%d, made at %.0f/s; %d MiB resident, %d MiB at the peak", c.Tokens, c.MintedPerSecond, c.RSS>>20, c.PeakRSS>>20)
		line("after SIGKILL", "first pair answered after %.0f ms; %d MiB resident", c.Restarted, c.RestartedRSS>>20)
		line("expiry", "%.3f cores and %d goroutines at most while all expire; idle %.3f cores, %d goroutines",
			c.ExpiryCores, c.ExpiryGoroutines, c.IdleCores, c.IdleGoroutines)
	}
	t.Flush()
}

func (r *Result) load(line func(name, format string, args ...any)) {
	line("pairs", "%.0f/s over %.1f s", r.PairsPerSecond, r.Seconds)
	line("winners", "%d tokens used by two at once: %d gave to both, %d to neither; %d wrong credentials", r.Raced, r.Doubled, r.Denied, r.Wrong)
	line("generator", "%.2f cores", r.GeneratorCPU)
	if r.Server != nil {
		line("server", "%.2f cores, %d MiB resident, %d MiB at its peak", r.Server.CPU, r.Server.RSS>>20, r.Server.PeakRSS>>20)
	}
}

// WriteJSON writes the result for machines.
func (r *Result) WriteJSON(path string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}
