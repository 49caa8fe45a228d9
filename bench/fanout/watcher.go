//go:build linux

package fanout

import (
	"sync"
	"time"

	"atelier/bench/broadcast"
	"atelier/bench/report"
	"atelier/bench/timeline"
)

// watcher adds the workers' samples to the timeline of the run, and reports the progress.
type watcher struct {
	*timeline.Timeline
	cfg *Config

	mu sync.Mutex
	// Guarded by mu.
	now          func() time.Duration
	start, until time.Duration
	shown        report.Sample
	// reported counts, for each second, the workers that have reported it.
	reported map[int64]int
}

func newWatcher(cfg *Config) *watcher {
	w := &watcher{cfg: cfg, now: func() time.Duration { return 0 }, reported: map[int64]int{}}
	w.Timeline = timeline.New(w.clock)
	return w
}

func (w *watcher) clock() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now()
}

// begin sets the clock.
func (w *watcher) begin(now func() time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = now
}

// plan records the times of the load.
func (w *watcher) plan(start, until time.Duration) {
	w.Begin(start)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.start, w.until = start, until
}

// enter sets the run's phase.
func (w *watcher) enter(phase string) {
	w.Enter(phase)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.show(phase)
}

// add adds a worker's sample.
func (w *watcher) add(s broadcast.Sample) {
	sample := report.Sample{Messages: s.Sent, Deliveries: s.Deliveries, Errors: s.Errors, Open: s.Open, Counts: s.Latencies}
	if w.cfg.Meter != nil {
		w.cfg.Meter.Add(sample)
	}
	w.Add(sample, s.Second)
	workers := w.cfg.Plan.Size()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reported[s.Second]++; w.reported[s.Second] < workers {
		return
	}
	delete(w.reported, s.Second)
	w.shown = w.Second(s.Second)
	if w.cfg.Meter != nil {
		w.cfg.Meter.Open(w.shown.Open)
	}
	w.show(w.Phase())
}

// show reports the progress. The caller must hold mu.
func (w *watcher) show(phase string) {
	if w.cfg.Progress == nil {
		return
	}
	s := &w.shown
	p := Progress{
		Phase: phase, Elapsed: w.now(), Open: s.Open, Wanted: w.cfg.Subscribers,
		Messages: s.Messages, Deliveries: s.Deliveries, Errors: s.Errors, P50: s.P50, P99: s.P99, Max: s.Max, CPU: s.CPU, RSS: s.RSS,
	}
	if w.until > w.start {
		p.Done = min(max(float64(p.Elapsed-w.start)/float64(w.until-w.start), 0), 1)
	}
	w.cfg.Progress(p)
}
