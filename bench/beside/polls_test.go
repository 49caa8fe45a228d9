//go:build linux

package beside

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"atelier/bench/api"
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

// Frames with a poll's counts are counted only if they arrive during the votes.
func TestCountsAreCountedDuringTheVotes(t *testing.T) {
	l := &polls{site: &site{}, cfg: &Polls{Config: workshop.Config{Duration: time.Hour}, Within: 30 * time.Minute}, counts: make([]int, 2)}
	l.counted(1, "poll_counts") // before the measured time
	for _, ago := range []time.Duration{time.Minute, 45 * time.Minute} {
		l.live = &workshop.Live{Began: time.Now().Add(-ago)}
		l.counted(1, "poll_counts")
		l.counted(1, "presence")
	}
	if l.counts[0] != 0 || l.counts[1] != 1 {
		t.Errorf("the counts are %v, want 0 and 1", l.counts)
	}
}

// A stored vote was not cast in the run if its option is not the voter's choice, or if it belongs
// to somebody else.
func TestStoredVotesAreComparedWithTheVoters(t *testing.T) {
	for table, want := range map[string]string{
		"attendee_id,answer\na,option 1\nb,option 0\nb,option 0\nc,option 1\na,option 2\n": "[1 2] 2",
		"attendee_id,text\na,option 1\n": "columns",
		"":                               "not CSV",
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, table) }))
		client, err := api.New(srv.URL, "", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		l := &polls{site: &site{Client: client}, live: &workshop.Live{}, voters: []api.Person{{ID: "a"}, {ID: "b"}}, choice: []int{1, 0}}
		votes, strange, err := l.stored()
		if got := fmt.Sprint(votes, " ", strange); err == nil && got != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q is read as %s, %v", table, got, err)
		}
		client.Close()
		srv.Close()
	}
}
