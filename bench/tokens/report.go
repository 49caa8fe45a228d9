//go:build linux

package tokens

import (
	"fmt"
	"time"

	"atelier/bench/latency"
	"atelier/bench/report"
	"atelier/bench/timeline"
)

func newResult(cfg *Config) *report.Result {
	about := fmt.Sprintf("as many pairs as %d connections carry", cfg.Connections)
	switch {
	case cfg.Duration == 0:
		about = report.Count(cfg.Live, "live token")
	case cfg.Rate > 0:
		about = fmt.Sprintf("%.0f pairs a second planned, %s", cfg.Rate, report.Count(cfg.Connections, "connection"))
	}
	return &report.Result{
		Scenario: "tokens", About: about, Subject: "pair", Started: time.Now().UTC().Truncate(time.Second), Warmup: cfg.Warmup.Seconds(),
	}
}

// crowd is the cost of many live tokens. Memory is in bytes.
type crowd struct {
	tokens          int
	mintedPerSecond float64
	rss, peakRSS    int64
	// restarted is the time from the start of a new process, after a SIGKILL, to the first
	// completed pair, in milliseconds.
	restarted        float64
	restartedRSS     int64
	idleCores        float64
	idleGoroutines   int
	expiryCores      float64
	expiryGoroutines int
}

func (c *crowd) figures(r *report.Result) {
	r.Figures = append(r.Figures,
		report.Figure{Key: "live_tokens", Name: "live tokens", Value: float64(c.tokens), Unit: ""},
		report.Figure{Key: "live_rss", Name: "memory with live tokens", Value: float64(max(c.rss, c.restartedRSS)), Unit: "bytes"},
		report.Figure{Key: "live_peak_rss", Name: "peak memory during their creation", Value: float64(c.peakRSS), Unit: "bytes"},
		report.Figure{Key: "minted_per_second", Name: "tokens created", Value: c.mintedPerSecond, Unit: "per second"},
		report.Figure{Key: "restarted_ms", Name: "first pair after SIGKILL", Value: c.restarted, Unit: "ms"},
		report.Figure{Key: "restarted_rss", Name: "memory after the restart", Value: float64(c.restartedRSS), Unit: "bytes"},
		report.Figure{Key: "expiry_cores", Name: "while all expire", Value: c.expiryCores, Unit: "cores"},
		report.Figure{Key: "expiry_goroutines", Name: "while all expire", Value: float64(c.expiryGoroutines), Unit: "goroutines"},
		report.Figure{Key: "idle_cores", Name: "while none expires", Value: c.idleCores, Unit: "cores"},
		report.Figure{Key: "idle_goroutines", Name: "while none expires", Value: float64(c.idleGoroutines), Unit: "goroutines"},
	)
}

// operations lists the measurements of each worker.
var operations = []struct {
	name string
	of   func(*worker) *report.Tally
}{
	{"tokenize", func(w *worker) *report.Tally { return w.tokenize }},
	{"detokenize", func(w *worker) *report.Tally { return w.detokenize }},
	{"pair", func(w *worker) *report.Tally { return w.pair }},
}

func named() (names []string) {
	for _, k := range operations {
		names = append(names, k.name)
	}
	return names
}

// conclude adds the results of the workers, which have ended.
func (r *run) conclude(workers []*worker, begin, end timeline.Weight) {
	out := r.result
	lag := latency.New()
	for _, k := range operations {
		all := report.NewTally(k.name)
		for _, w := range workers {
			all.Merge(k.of(w))
			for _, c := range []*caller{&w.conn, &w.rival} {
				all.Repeated += c.trips[k.name].repeated
				all.Failed += c.trips[k.name].failed
			}
		}
		if k.name == out.Subject {
			out.Latency, out.Counts = all.Timed.Summary(), all.Timed
			continue
		}
		out.Operations = append(out.Operations, all.Result())
	}
	a := &report.Tokens{Timed: int(out.Latency.Count)}
	for _, w := range workers {
		lag.Merge(w.lag)
		a.Begun += w.begun
		a.Contested += w.contested
		a.Raced += w.raced
		a.OneWinner += w.won
		a.TwoWinners += w.doubled
		a.NoWinner += w.denied
		a.Wrong += w.wrong
	}
	out.Audit.Tokens = a
	out.Faults = append(out.Faults, broken(a.TwoWinners, a.NoWinner, a.Wrong)...)
	out.Generator.Workers, out.Generator.Lag = 1, lag.Summary()
	if end.Account(begin, r.target, nil, out) {
		out.Figures = append(out.Figures, report.Figure{Key: "pairs_per_second", Name: "pairs", Value: float64(out.Operations[0].Latency.Count) / out.Duration, Unit: "per second"})
	}
	out.Figures = append(out.Figures, report.Figure{Key: "raced", Name: "tokens used by two callers at once", Value: float64(a.Raced)})
}

// broken describes the violated guarantees.
func broken(doubled, denied, wrong int) []string {
	var out []string
	for _, f := range []struct {
		n            int
		what, detail string
	}{
		{doubled, "token", "that gave a credential twice"},
		{denied, "token", "that gave a credential to neither of two callers"},
		{wrong, "credential", "not equal to the original"},
	} {
		if f.n > 0 {
			out = append(out, report.Count(f.n, f.what)+" "+f.detail)
		}
	}
	return out
}
