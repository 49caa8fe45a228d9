package latency

import (
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestMergedHistogramsHaveTheQuantilesOfAllValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.IntRange(1, 5_000_000), 1, 400).Draw(t, "us")
		parts := []*Histogram{New(), New(), New()}
		for i, us := range values {
			parts[i%3].Record(time.Duration(us) * time.Microsecond)
		}
		parts[0].Merge(parts[1])
		parts[0].Merge(parts[2])
		slices.Sort(values)
		for _, q := range []float64{0.5, 0.9, 0.99, 1} {
			// The library uses the nearest rank, not the next higher one.
			rank := max(int(q*float64(len(values))+0.5), 1)
			want := time.Duration(values[rank-1]) * time.Microsecond
			got := parts[0].Quantile(q)
			if diff := math.Abs(float64(got-want)) / float64(want); diff > 0.001 {
				t.Errorf("quantile %v: got %v, want %v", q, got, want)
			}
		}
	})
}

func TestRecordClampsToItsRange(t *testing.T) {
	h := New()
	h.Record(-time.Second)
	h.Record(24 * time.Hour)
	if h.Count() != 2 || h.Quantile(0.1) != 0 || h.Max() < longest-longest/1000 {
		t.Errorf("count %d, smallest %v, largest %v", h.Count(), h.Quantile(0.1), h.Max())
	}
}

func TestEmptyHistogramIsZero(t *testing.T) {
	if s := New().Summary(); s != (Summary{}) {
		t.Errorf("the summary is %+v", s)
	}
}

// Percentiles are round numbers: 10, not 9.999999999999998.
func TestPercentilesOfTheCurveAreRound(t *testing.T) {
	h := New()
	for i := range 100_000 {
		h.Record(time.Duration(i) * time.Microsecond)
	}
	for _, p := range h.Curve() {
		if text := strconv.FormatFloat(p.Percentile, 'f', -1, 64); len(text) > len("99.9999") {
			t.Errorf("the percentile is written %s", text)
		}
	}
}

func BenchmarkRecord(b *testing.B) {
	h := New()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		h.Record(time.Duration(i%10_000_000) * time.Nanosecond)
	}
}

func TestSumsAndCountsWithinBounds(t *testing.T) {
	h := New()
	if h.Sum() != 0 || !slices.Equal(h.Within([]time.Duration{0, time.Hour}), []int64{0, 0}) {
		t.Error("an empty histogram has a sum or counts")
	}
	for _, d := range []time.Duration{0, time.Millisecond, 10 * time.Millisecond, 10 * time.Millisecond, time.Second} {
		h.Record(d)
	}
	if got, want := h.Sum(), 1021*time.Millisecond; (got - want).Abs() > want/500 {
		t.Errorf("the sum is %v, want %v", got, want)
	}
	bounds := []time.Duration{0, 999 * time.Microsecond, time.Millisecond, 10 * time.Millisecond, 900 * time.Millisecond, time.Second}
	if got := h.Within(bounds); !slices.Equal(got, []int64{1, 1, 2, 4, 4, 5}) {
		t.Errorf("the counts within the bounds are %v", got)
	}
}
