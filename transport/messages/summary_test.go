package messages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"atelier/actors/clock/clocktest"
	"atelier/actors/codelab"
	"atelier/actors/room"
)

// In an earlier version, facilitators got the same summary again whenever the attendees' summary
// was due.
func TestSummaryIsSentOnceAndPulsesOnlyToFacilitators(t *testing.T) {
	var last lastSent
	// audiences returns the audiences that receive a summary, in order.
	audiences := func(v codelab.View, online int, attendees bool) (out []room.Audience) {
		for _, f := range last.changes(&v, online, attendees) {
			out = append(out, f.Audience)
			if pulse := strings.Contains(string(f.Payload), `"pulse":{"fine":`); pulse != (f.Audience == room.Facilitators) || f.Seq != 0 {
				t.Errorf("the summary to %v is %s", f.Audience, f.Payload)
			}
		}
		return out
	}
	v := codelab.View{PerStep: []int{3, 1}}
	for i, tc := range []struct {
		change    func()
		online    int
		attendees bool
		want      []room.Audience
	}{
		{func() {}, 4, false, []room.Audience{room.Facilitators}},
		{func() {}, 4, false, nil},
		{func() {}, 4, true, []room.Audience{room.Attendees}},
		{func() {}, 4, true, nil},
		{func() {}, 5, true, []room.Audience{room.Attendees, room.Facilitators}},
		{func() { v.Pulses.Stuck++ }, 5, true, []room.Audience{room.Facilitators}},
		{func() { v.Completed++ }, 5, false, []room.Audience{room.Facilitators}},
		{func() { v.Completed-- }, 5, false, []room.Audience{room.Facilitators}},
		{func() {}, 5, true, nil}, // nothing has changed for attendees
		{func() { v.PerStep = []int{2, 2} }, 5, true, []room.Audience{room.Attendees, room.Facilitators}},
	} {
		tc.change()
		if got := audiences(v, tc.online, tc.attendees); len(got) != len(tc.want) || len(got) > 0 && got[0] != tc.want[0] || len(got) > 1 && got[1] != tc.want[1] {
			t.Errorf("case %d: summaries were sent to %v, want %v", i, got, tc.want)
		}
	}
	if f := new(lastSent).changes(&codelab.View{}, 0, false); len(f) != 1 || !strings.Contains(string(f[0].Payload), `"per_step":[]`) {
		t.Errorf("without steps, the summary is %v", f)
	}
}

// However often the codelab changes, facilitators receive four summaries per second, and attendees
// one every three seconds.
func TestSummariesAreSentAtTheirRate(t *testing.T) {
	lab := newSchool(t).lab
	lab.Room.Join("facilitator")
	clocktest.Bubble(t, func(t *testing.T) {
		rounds := 0
		g := NewGateway(Config{Codelabs: func() []codelab.Codelab {
			rounds++
			lab.Room.Join(fmt.Sprint(rounds)) // each summary counts more people online
			return []codelab.Codelab{lab}
		}})
		time.Sleep(12*time.Second + summaryEvery/2)
		g.Close()
		if sent := lab.Room.TransientHead(); rounds != 12*4 || sent != 12*4+12/3 {
			t.Errorf("in 12 s, the gateway looked %d times and sent %d summaries, want 48 and 52", rounds, sent)
		}
	})
}

// An attendees' summary is sent with the next message to everyone. If no message follows within a
// few turns of the gateway (alone), the summary is sent by itself.
func TestAttendeesSummariesWaitForAnotherMessage(t *testing.T) {
	s, last := newSchool(t), map[string]*lastSent{}
	hall, active := s.lab.Room, []codelab.Codelab{s.lab}
	hall.Join(codelab.FacilitatorID)
	summarize(active, last, 0)
	if got := hall.TransientHead(); got != 1 {
		t.Fatalf("%d summaries were sent at once, want only the facilitators'", got)
	}
	summarize(active, last, 1)
	if got := hall.TransientHead(); got != 1 {
		t.Errorf("%d summaries were sent without another message, want 1", got)
	}
	summarize(active, last, alone)
	if got := hall.TransientHead(); got != 2 {
		t.Errorf("%d summaries were sent after the last turn, want 2", got)
	}
}

// A person who joins an empty room gets a summary, because all earlier recipients have left.
func TestTheFirstPersonInARoomGetsASummary(t *testing.T) {
	s, last := newSchool(t), map[string]*lastSent{}
	room, active := s.lab.Room, []codelab.Codelab{s.lab}
	for i, tc := range []struct {
		change func()
		want   uint64
	}{
		{func() {}, 0},
		{func() { room.Join("facilitator") }, 1},
		{func() {}, 1},
		{func() { room.Leave("facilitator") }, 1},
		{func() { room.Join("facilitator") }, 2},
	} {
		tc.change()
		if summarize(active, last, 1); room.TransientHead() != tc.want {
			t.Errorf("case %d: %d summaries were sent, want %d", i, room.TransientHead(), tc.want)
		}
	}
}
