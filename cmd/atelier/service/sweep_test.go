package service

import (
	"testing"
	"time"

	"atelier/actors/people"
)

// ending is the time at which the next helper's access ends, or zero without a helper.
type ending time.Time

func (e ending) NextEnd(time.Time) (time.Time, bool) { return time.Time(e), !time.Time(e).IsZero() }

// The connections of a one-day helper end exactly when the helper's time ends, rather than with the
// next regular sweep.
func TestASweepRunsWhenAHelpersTimeEnds(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for end, want := range map[time.Duration]time.Duration{
		time.Second: time.Second + time.Millisecond, 29 * time.Second: 29*time.Second + time.Millisecond, time.Hour: grantsEvery,
	} {
		if got := untilSweep(ending(now.Add(end)), now); got != want {
			t.Errorf("%v before the end, the next sweep is in %v, want %v", end, got, want)
		}
	}
	if got := untilSweep(ending{}, now); got != grantsEvery {
		t.Errorf("without a helper, the next sweep is in %v", got)
	}
	if people.MinHelperLife <= grantsEvery {
		t.Error("a helper's time could begin and end between two sweeps")
	}
}
