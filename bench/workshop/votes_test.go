//go:build linux

package workshop

import (
	"testing"
	"time"
)

// People vote at the end of the measured time. The time before that is measured separately.
// Operations in progress at the transition count for neither part.
func TestVotesDivideTheMeasuredTime(t *testing.T) {
	c := &Config{Attendees: 10, Duration: 30 * time.Second, Votes: Votes{Count: 5, Within: 10 * time.Second}}
	for since, want := range map[time.Duration]int{
		-time.Second: -1, 0: resting, 16*time.Second - 1: resting, 16 * time.Second: -1,
		17 * time.Second: voting, 27*time.Second - 1: voting, 27 * time.Second: -1,
	} {
		if got := c.partOfVotes(since); got != want {
			t.Errorf("%v is in part %d, want %d", since, got, want)
		}
	}
	for what, v := range map[string]Votes{
		"more votes than people": {11, 10 * time.Second}, "no time before them": {5, 20 * time.Second}, "no time": {5, 0},
	} {
		if v.check(&Config{Attendees: 10, Duration: 30 * time.Second, Votes: v}) == nil {
			t.Errorf("votes with %s are accepted", what)
		}
	}
}
