package server

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestRecentTimesCoverTheLastMinutes(t *testing.T) {
	at := time.Date(2026, 3, 9, 12, 0, 0, 0, time.UTC)
	l := &recentDurations{now: func() time.Time { return at }}
	if r := l.recent(); r != (Recent{}) {
		t.Errorf("without observations, recent is %+v", r)
	}
	within := func(what string, got, want time.Duration) {
		t.Helper()
		if got < want || float64(got) > 1.1001*float64(want) {
			t.Errorf("%s: %s, want %s or a tenth more", what, got, want)
		}
	}
	for range 99 {
		l.observe(3 * time.Millisecond)
	}
	l.observe(time.Second)
	r := l.recent()
	within("P50", r.P50, 3*time.Millisecond)
	within("P99 with one slow response of a hundred", r.P99, 3*time.Millisecond)
	l.observe(time.Second)
	within("P99 with two slow responses", l.recent().P99, time.Second)

	at = at.Add(RecentSpan)
	if n := l.recent().N; n != 101 {
		t.Errorf("at the end of the span, there are %d observations, want 101", n)
	}
	l.observe(time.Hour)
	if at = at.Add(recentSlot); l.recent().N != 1 {
		t.Errorf("older observations are counted: %+v", l.recent())
	}
	if last := l.recent().P50; last < time.Minute {
		t.Errorf("an hour is counted as %s", last)
	}
	at = at.Add(24 * time.Hour)
	if r := l.recent(); r.N != 0 || r.P99 != 0 {
		t.Errorf("a day later recent is %+v", r)
	}
}

// The quantiles are at most a tenth higher than the exact quantiles.
func TestRecentQuantilesAreAccurate(t *testing.T) {
	l := &recentDurations{now: func() time.Time { return time.Unix(1, 0) }}
	r := rand.New(rand.NewPCG(1, 2))
	var all []time.Duration
	for range 5000 {
		took := time.Duration(r.ExpFloat64() * float64(5*time.Millisecond))
		all = append(all, max(took, recentFirst))
		l.observe(took)
	}
	slices.Sort(all)
	got := l.recent()
	for _, q := range []struct {
		got  time.Duration
		rank int
	}{{got.P50, 2500}, {got.P99, 4950}} {
		if want := all[q.rank-1]; float64(q.got) < 0.9999*float64(want) || float64(q.got) > 1.1001*float64(want) {
			t.Errorf("the quantile is %s, want %s or a tenth more", q.got, want)
		}
	}
}
