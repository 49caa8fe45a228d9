//go:build linux

package rest

import (
	"errors"
	"testing"
	"time"

	"atelier/bench/audit"
	"atelier/bench/latency"
	"atelier/bench/pacing"
	"atelier/bench/report"
	"atelier/bench/server"
	"atelier/bench/timeline"
)

// A request that was due in the measured time is timed from its due time. Refusals and missing
// responses are counted but not timed. The results of workers are combined.
func TestResponsesAreRecorded(t *testing.T) {
	clock := pacing.NewClock()
	now := clock.Now()
	r := &run{cfg: &Config{}, target: &server.Target{}, clock: clock, timeline: timeline.New(clock.Now), from: now - time.Second, until: now + time.Hour}
	for range 2 {
		w := &worker{r: r, tallies: map[string]*report.Tally{}, lag: latency.New()}
		w.late(now)
		w.late(now - 2*time.Second)                           // in the warm-up
		w.note("read self", now-2*time.Second, 200, nil, nil) // in the warm-up
		w.note("read self", now-500*time.Millisecond, 200, nil, nil)
		w.note("read self", now+2*time.Hour, 200, nil, nil)
		w.note("read self", now, 503, []byte("busy"), nil)
		w.note("read self", now, 0, nil, errors.New("gone"))
		r.workers = append(r.workers, w)
	}
	for _, status := range []int{200, 409} {
		r.fate(r.addMessage(), status, nil)
	}
	r.fate(r.addMessage(), 0, errors.New("gone"))
	out := r.conclude(timeline.Weight{}, timeline.Weight{At: time.Second}, []int{1, 0, 0}, false)
	if name := Names.Lacks(out); name != "" || len(out.Figures) == 0 {
		t.Errorf("%q is not available for thresholds: %+v", name, out.Figures)
	}
	op := out.Operations[0]
	if op.Done != 6 || op.Refused != 2 || op.Unanswered != 2 || op.Latency.Count != 2 || out.Latency.Count != 2 || out.Generator.Lag.Count != 2 {
		t.Errorf("the operation is %+v, the lag %+v", op, out.Generator.Lag)
	}
	if op.Latency.P50 < 500 || op.Latency.Max > 10_000 {
		t.Errorf("the latency is %+v", op.Latency)
	}
	if got, want := out.Audit.Writes["chat"], (audit.Writes{Acknowledged: 1, Unanswered: 1}); got != want {
		t.Errorf("the writes are %+v, want %+v", got, want)
	}
}
