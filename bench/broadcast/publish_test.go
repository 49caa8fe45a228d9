//go:build linux

package broadcast

import (
	"fmt"
	"testing"
	"time"
)

// The plan of a load depends only on the seed, not on when a run begins.
func TestASeedDeterminesTheLoad(t *testing.T) {
	plan := func(seed uint64) map[uint64]time.Duration {
		due := map[uint64]time.Duration{} // first on the timeline, finally since the start of the load
		var l *Load
		h := &hub{}
		h.harm = func(client, m string) []string {
			if client == "0" {
				var stamp, seq uint64
				_, _ = fmt.Sscan(m, &stamp, &seq)
				due[seq] = sealer(0).open(stamp, seq)
			}
			return []string{m}
		}
		hold(t, h, func(j *Job, load *Load) {
			j.Seed, l = seed, load
			l.Stages = []Stage{{During: 150 * time.Millisecond, Rate: 200}, {During: time.Minute, Rate: 400}}
		}, nil)
		h.mu.Lock()
		defer h.mu.Unlock()
		for seq := range due {
			due[seq] -= l.Start
		}
		return due
	}
	first, again, other := plan(3), plan(3), plan(4)
	compare := func(a, b map[uint64]time.Duration) (same, differ int) {
		for seq, due := range a {
			// A message due at the last moment can be sent in one run only. A time is truncated to
			// a microsecond after the start was added.
			switch d, sent := b[seq]; {
			case sent && (d-due).Abs() <= time.Microsecond:
				same++
			case sent:
				differ++
			}
		}
		return same, differ
	}
	if same, differ := compare(first, again); same < 40 || differ > 0 {
		t.Errorf("with the same seed %d operations are equal, %d differ", same, differ)
	}
	if same, differ := compare(first, other); differ < 20 {
		t.Errorf("with another seed %d operations are equal, %d differ", same, differ)
	}
}
