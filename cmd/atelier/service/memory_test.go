package service

import "testing"

// Memory is given back after a storm and not during it, and once only.
func TestMemoryIsGivenBackWhenItIsQuiet(t *testing.T) {
	const mib = 1 << 20
	var r returns
	for i, look := range []struct {
		allocated, unused uint64
		due               bool
	}{
		{500 * mib, 80 * mib, false},  // nothing is known yet
		{900 * mib, 120 * mib, false}, // a storm
		{904 * mib, 120 * mib, true},  // it is over
		{905 * mib, 20 * mib, false},  // what is left is left
		{906 * mib, 27 * mib, false},
		{907 * mib, 29 * mib, true}, // as much again
		{1907 * mib, 99 * mib, false},
	} {
		if got := r.due(look.allocated, look.unused); got != look.due {
			t.Errorf("look %d: %v", i+1, got)
		}
		if look.due {
			r.done(20 * mib)
		}
	}
}
