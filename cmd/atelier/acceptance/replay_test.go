package acceptance

import (
	"fmt"
	"net/http"
	"reflect"
	"testing"
)

// resume returns the query of a client that reconnects.
func resume(epoch string, since int) string { return fmt.Sprintf("?epoch=%s&since=%d", epoch, since) }

func TestReconnectingReplaysMissedMessagesAndContinuesLive(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	boss := c.admin.connect(c.id, "")
	all := lin.connect(c.id, "")
	start := all.welcome
	speaker := max.connect(c.id, "")
	for i := range 5 {
		speaker.acked(record{"type": "chat", "message": fmt.Sprint("m", i)}, fmt.Sprint("r", i))
		speaker.acked(record{"type": "step_progress", "step_number": 1 + i%3}, fmt.Sprint("p", i))
	}
	speaker.acked(record{"type": "dm", "target_id": lin.id, "message": "psst"}, "d")
	all.next("dm")

	again := lin.connect(c.id, resume(start.text("epoch"), start.seq()))
	if again.welcome.seq() != start.seq() || again.welcome.number("head") <= start.seq() {
		t.Errorf("the welcome is at %d with head %d after %d", again.welcome.seq(), again.welcome.number("head"), start.seq())
	}
	again.next("dm")
	speaker.send(record{"type": "chat", "message": "live"})
	all.untilChat("live")
	again.untilChat("live")
	if !reflect.DeepEqual(all.stored(), again.stored()) {
		t.Errorf("replayed %v\nreceived %v", again.stored(), all.stored())
	}
	last := 0
	for _, m := range again.stored() {
		if m.seq() <= last {
			t.Errorf("seq %d follows %d", m.seq(), last)
		}
		last = m.seq()
	}
	if n := again.count("step_progress"); n != 0 {
		t.Errorf("the replay has %d messages for others, want 0", n)
	}
	// The client resumes in the middle, and misses nothing.
	mid := all.stored()[2].seq()
	part := lin.connect(c.id, resume(start.text("epoch"), mid))
	part.untilChat("live")
	if !reflect.DeepEqual(part.stored(), all.stored()[3:]) {
		t.Errorf("the replay from %d is %v", mid, part.stored())
	}
	boss.untilChat("live")
	if n := boss.count("step_progress"); n != 5 {
		t.Errorf("the facilitator received %d progress messages, want 5", n)
	}
}

func TestTheReplayContainsTheSendersOwnMessages(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	s := lin.connect(c.id, "")
	s.acked(record{"type": "dm", "target_id": max.id, "message": "psst"}, "d")
	s.acked(record{"type": "step_progress", "step_number": 2}, "p")
	_ = s.conn.Close()
	again := lin.connect(c.id, resume(s.welcome.text("epoch"), s.welcome.seq()))
	again.next("dm")
	again.next("step_progress")
}

func TestAPositionThatCannotBeReplayedGetsAResync(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Live.ReplayEvents = 10
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	lin := c.attendee("Lin")
	s := lin.connect(c.id, "")
	epoch, start := s.welcome.text("epoch"), s.welcome.seq()
	for i := range 30 {
		s.acked(record{"type": "chat", "message": fmt.Sprint("m", i)}, fmt.Sprint("r", i))
	}
	for i, at := range []struct {
		query, reason string
	}{
		{resume(epoch, start), "window"},
		{resume(epoch, 1<<40), "window"},
		{resume("another", start+30), "epoch"},
	} {
		again := lin.connect(c.id, at.query)
		m := again.next("resync")
		if m.text("reason") != at.reason || m.text("epoch") != epoch || m.seq() < start+30 {
			t.Errorf("%s: the resync is %v", at.query, m)
		}
		// A read returns the state at this position.
		if got := lin.get(c.path + "/chat").want(200).header.Get("X-Codelab-Seq"); got != fmt.Sprint(m.seq()) {
			t.Errorf("the resync is at %d, the state at %s", m.seq(), got)
		}
		again.acked(record{"type": "chat", "message": "on"}, fmt.Sprint("on", i))
	}
	if _, res := lin.dial("/ws/" + c.id + "?since=x"); res.StatusCode != http.StatusBadRequest {
		t.Errorf("since=x returned %d", res.StatusCode)
	}
	if s, _ := lin.dial("/ws/" + c.id + "?token=1&foo=bar"); s == nil {
		t.Error("other parameters of the query are not ignored")
	}
}
