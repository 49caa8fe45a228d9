//go:build linux

package beside

import (
	"testing"
	"time"

	"atelier/bench/workshop"
)

// People vote at the end of the measured time. The time before that is measured separately.
// Operations in progress at the transition count for neither part.
func TestVotesDivideTheMeasuredTime(t *testing.T) {
	w := workshop.Config{Attendees: 10, Facilitators: 1, Duration: 30 * time.Second, Drain: time.Second}
	l := &polls{cfg: &Polls{Config: w, Votes: 5, Within: 10 * time.Second}}
	for since, want := range map[time.Duration]int{
		-time.Second: -1, 0: without, 16*time.Second - 1: without, 16 * time.Second: -1,
		17 * time.Second: with, 27*time.Second - 1: with, 27 * time.Second: -1,
	} {
		if got := l.partOf(since); got != want {
			t.Errorf("%v is in part %d, want %d", since, got, want)
		}
	}
	if err := l.cfg.Check(); err != nil {
		t.Error(err)
	}
	for what, c := range map[string]*Polls{
		"more votes than people": {w, 11, 10 * time.Second}, "no time before them": {w, 5, 20 * time.Second}, "no time": {w, 5, 0},
	} {
		if c.Check() == nil {
			t.Errorf("votes with %s are accepted", what)
		}
	}
}

// Only counts that arrive during the votes are limited.
func TestCountsAreCountedDuringTheVotes(t *testing.T) {
	l := &polls{site: &site{}, cfg: &Polls{Config: workshop.Config{Duration: time.Hour}, Within: 30 * time.Minute}, counts: make([]int, 2)}
	l.counted(1, "poll_counts") // before the measured time
	for _, ago := range []time.Duration{time.Minute, 45 * time.Minute} {
		l.live = &workshop.Live{Began: time.Now().Add(-ago)}
		l.counted(1, "poll_counts")
		l.counted(1, "presence")
	}
	if l.counts[0] != 0 || l.counts[1] != 1 {
		t.Errorf("the counts are %v", l.counts)
	}
}
