package service

import (
	"slices"
	"testing"
)

// Memory is released once, after a load peak rather than during it.
func TestMemoryIsReleasedOnceAfterAPeak(t *testing.T) {
	const mib = 1 << 20
	var g growth
	var r returns
	for i, sample := range []struct {
		allocated, unused uint64
		due               bool
	}{
		{500 * mib, 80 * mib, false},  // no earlier value yet
		{900 * mib, 120 * mib, false}, // a load peak
		{904 * mib, 120 * mib, true},  // the load has ended
		{905 * mib, 20 * mib, false},  // the rest stays
		{906 * mib, 27 * mib, false},
		{907 * mib, 29 * mib, true}, // the same amount again
		{1907 * mib, 99 * mib, false},
	} {
		grown, known := g.since(sample.allocated)
		if got := r.due(grown, known, sample.unused); got != sample.due {
			t.Errorf("sample %d: due is %v", i+1, got)
		}
		if sample.due {
			r.done(20 * mib)
		}
	}
}

// Garbage is collected less often while the server allocates much. A setting that is already
// active is not set again.
func TestGarbageIsCollectedLessOftenUnderLoad(t *testing.T) {
	const mib = 1 << 20
	var set []int
	p := pace{set: func(percent int) { set = append(set, percent) }}
	p.is(thrifty)
	var g growth
	for _, allocated := range []uint64{900 * mib, 950 * mib, 1200 * mib, 1500 * mib, 1620 * mib, 1621 * mib} {
		p.adjust(g.since(allocated))
	}
	if want := []int{thrifty, hurried, thrifty}; !slices.Equal(set, want) {
		t.Errorf("the settings are %v, want %v", set, want)
	}
}
