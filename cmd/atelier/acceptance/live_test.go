package acceptance

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestChatReachesEveryoneIncludingTheSender(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	a, b, f := lin.connect(c.id, ""), max.connect(c.id, ""), c.admin.connect(c.id, "")
	a.send(record{"type": "chat", "message": "  as sent \n"})
	for _, s := range []*socket{a, b, f} {
		m := s.untilChat("  as sent \n")
		if m.text("sender") != "Lin" || m.text("sender_id") != lin.id || m.seq() == 0 {
			t.Errorf("received %v", m)
		}
	}
}

func TestAnAckFollowsTheMessageThatItAcknowledges(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	s := c.attendee("Lin").connect(c.id, "")
	ack := s.acked(record{"type": "chat", "message": "hello"}, "r1")
	// Messages without a position, such as a progress summary, can arrive in between.
	i := slices.IndexFunc(s.received, func(m message) bool { return m.text("message") == "hello" })
	if i < 0 || s.received[i].seq() != ack.seq() {
		t.Errorf("before the ack %v, the messages are %v", ack, s.received)
	}
}

func TestTheSameRefIsAppliedOnceAlsoAfterReconnecting(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	s := lin.connect(c.id, "")
	first := s.acked(record{"type": "chat", "message": "once"}, "r1")
	again := s.acked(record{"type": "chat", "message": "once"}, "r1")
	_ = s.conn.Close()
	other := lin.connect(c.id, "").acked(record{"type": "chat", "message": "once"}, "r1")
	posted := lin.post(c.path+"/messages", record{"type": "chat", "message": "once", "ref": "r1"}).object()
	if first.seq() != again.seq() || first.seq() != other.seq() || posted.number("seq") != first.seq() {
		t.Errorf("the acks are at %d, %d, %d, %d, want one position", first.seq(), again.seq(), other.seq(), posted.number("seq"))
	}
	// References belong to one person.
	max.connect(c.id, "").acked(record{"type": "chat", "message": "mine"}, "r1")
	if got := texts(lin.get(c.path+"/chat").list(), "message"); !slices.Equal(got, []string{"once", "mine"}) {
		t.Errorf("the chat contains %q", got)
	}
}

func TestADirectMessageReachesTheRecipientAndTheSendersOtherSessions(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max, eve := c.attendee("Lin"), c.attendee("Max"), c.attendee("Eve")
	one, two := lin.connect(c.id, ""), lin.connect(c.id, "")
	target, outsider, boss := max.connect(c.id, ""), eve.connect(c.id, ""), c.admin.connect(c.id, "")
	one.acked(record{"type": "dm", "target_id": max.id, "message": "psst"}, "d1")
	for _, s := range []*socket{two, target} {
		if m := s.next("dm"); m.text("message") != "psst" || m.text("target_id") != max.id || m.text("sender_id") != lin.id {
			t.Errorf("received %v", m)
		}
	}
	one.send(record{"type": "dm", "target_id": "facilitator", "message": "help me"})
	if m := boss.next("dm"); m.text("message") != "help me" || m.text("sender") != "Lin" {
		t.Errorf("the facilitator received %v", m)
	}
	one.acked(record{"type": "chat", "message": "end"}, "c1")
	for name, s := range map[string]*socket{"sender's own": one, "outsider's": outsider} {
		if !slices.Contains(s.kinds(), "chat") {
			s.untilChat("end")
		}
		if n := s.count("dm"); n != 0 {
			t.Errorf("the %s session received %d direct messages, want 0", name, n)
		}
	}
}

func TestProgressReachesFacilitatorsAndTheSendersOtherTabs(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	one, two, other, boss := lin.connect(c.id, ""), lin.connect(c.id, ""), max.connect(c.id, ""), c.admin.connect(c.id, "")
	one.acked(record{"type": "step_progress", "step_number": 3}, "p1")
	one.acked(record{"type": "step_progress", "step_number": 2}, "p2")
	one.acked(record{"type": "chat", "message": "end"}, "c1")
	for _, s := range []*socket{two, boss} {
		if m := s.next("step_progress"); m.number("step_number") != 3 || m.text("attendee_id") != lin.id {
			t.Errorf("received %v", m)
		}
	}
	other.untilChat("end")
	if other.count("step_progress")+one.count("step_progress") != 0 {
		t.Errorf("another attendee received %v, the sender %v", other.kinds(), one.kinds())
	}
	me := c.admin.get(c.path + "/attendees").list()[0]
	if me.number("current_step") != 2 || me.number("furthest_step") != 3 {
		t.Errorf("the record is %v", me)
	}
}

func (m message) number(key string) int { return record(m).number(key) }

func TestAnErrorContainsTheRefAndTheConnectionStaysOpen(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	s := c.attendee("Lin").connect(c.id, "")
	for i, bad := range []struct {
		m     record
		names string
	}{
		{record{"type": "chat"}, "message"},
		{record{"type": "chat", "message": ""}, "message"},
		{record{"type": "chat", "message": strings.Repeat("ä", 2001)}, "message"},
		{record{"type": "chat", "message": 7}, "message"},
		{record{"type": "dm", "message": "x"}, "target_id"},
		{record{"type": "dm", "message": "x", "target_id": "nobody"}, "target_id"},
		{record{"type": "step_progress"}, "step_number"},
		{record{"type": "step_progress", "step_number": 0}, "step_number"},
		{record{"type": "step_progress", "step_number": 4}, "step_number"},
		{record{"type": "step_progress", "step_number": 1.5}, "step_number"},
		{record{"type": "step_progress", "step_number": "1"}, "step_number"},
		{record{"type": "no_such_type"}, "type"},
		{record{"type": 1}, "type"},
		{record{}, "type"},
		{record{"type": "screen_share_status"}, "facilitators"},
		{record{"type": "webrtc_signal", "target_id": "nobody"}, "facilitators only"},
	} {
		if e := s.ask(bad.m, fmt.Sprint("bad", i)); e.kind() != "error" || !strings.Contains(e.text("error"), bad.names) {
			t.Errorf("%v was answered with %v", bad.m, e)
		}
	}
	for _, text := range []string{"{", "[]", "null", `"chat"`, "", `{"type":"chat","message":"x","ref":"` + strings.Repeat("r", 65) + `"}`} {
		if err := s.conn.WriteMessage(1, []byte(text)); err != nil {
			t.Fatal(err)
		}
		s.next("error")
	}
	s.acked(record{"type": "chat", "message": strings.Repeat("ä", 2000)}, "good")
	if n := len(c.admin.get(c.path + "/chat").list()); n != 1 {
		t.Errorf("%d messages are stored, want 1", n)
	}
}

func TestJoinAndHelloAreAnsweredByWelcome(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	s := lin.connect(c.id, "")
	you, _ := s.welcome["you"].(map[string]any)
	if you["id"] != lin.id || you["name"] != "Lin" || you["role"] != "attendee" {
		t.Errorf("the welcome is for %v", you)
	}
	s.send(record{"type": "join", "name": "Somebody Else"})
	if m := s.next("welcome"); m["you"].(map[string]any)["name"] != "Lin" {
		t.Errorf("the name in join is used: %v", m)
	}
	s.send(record{"type": "hello"})
	s.next("welcome")
	boss := c.admin.connect(c.id, "")
	if you := boss.welcome["you"].(map[string]any); you["id"] != "facilitator" || you["role"] != "admin" {
		t.Errorf("the facilitator's welcome is for %v", you)
	}
}

func TestPresenceReportsTheFirstTabToJoinAndTheLastToLeave(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	boss, lin, max := c.admin.connect(c.id, ""), c.attendee("Lin"), c.attendee("Max")
	watcher := max.connect(c.id, "")
	one, two := lin.connect(c.id, ""), lin.connect(c.id, "")
	joined := func(id string) func(message) bool {
		return func(m message) bool {
			a, _ := m["attendee"].(map[string]any)
			return strings.HasPrefix(m.kind(), "attendee_") && a["id"] == id
		}
	}
	if m := boss.until("Lin", joined(lin.id)); m.kind() != "attendee_joined" || m["attendee"].(map[string]any)["name"] != "Lin" {
		t.Errorf("received %v", m)
	}
	_ = one.conn.Close()
	two.send(record{"type": "chat", "message": "still here"})
	boss.untilChat("still here")
	_ = two.conn.Close()
	boss.until("Lin leaving", func(m message) bool { return m.kind() == "attendee_left" && joined(lin.id)(m) })
	if n := boss.count("attendee_left"); n != 1 {
		t.Errorf("attendee_left was received %d times, want 1", n)
	}
	// A removed attendee also counts as having left.
	three := lin.connect(c.id, "")
	boss.until("Lin again", func(m message) bool { return m.kind() == "attendee_joined" && joined(lin.id)(m) })
	c.admin.delete(c.path + "/attendees/" + lin.id).want(204)
	boss.until("Lin removed", func(m message) bool { return m.kind() == "attendee_left" && joined(lin.id)(m) })
	_ = three.conn.Close()
	boss.send(record{"type": "chat", "message": "end"})
	watcher.untilChat("end")
	if watcher.count("attendee_joined")+watcher.count("attendee_left") != 0 {
		t.Errorf("an attendee received %v", watcher.kinds())
	}
}

func TestScreenSharesAndSignalsAreRelayedUnderTheSendersName(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	a, b, boss := lin.connect(c.id, ""), max.connect(c.id, ""), c.admin.connect(c.id, "")
	boss.send(record{"type": "screen_share_status", "active": true})
	if m := a.next("screen_share_status"); m["active"] != true || m.text("sender_id") != "facilitator" {
		t.Errorf("received %v", m)
	}
	// An attendee cannot impersonate others.
	a.send(record{"type": "attendee_screen_status", "active": true, "sender": "Facilitator", "sender_id": "facilitator", "attendee_id": max.id, "seq": 1})
	if m := boss.next("attendee_screen_status"); m.text("attendee_id") != lin.id || m.text("sender_id") != lin.id || m.text("sender") != "Lin" {
		t.Errorf("received %v", m)
	}
	if e := a.ask(record{"type": "webrtc_signal", "target_id": max.id, "signal": record{"type": "offer"}}, "s0"); !strings.Contains(e.text("error"), "facilitators only") {
		t.Errorf("a signal between attendees was answered with %v", e)
	}
	a.acked(record{"type": "webrtc_signal", "target_id": "facilitator", "signal": record{"type": "offer"}}, "s1")
	if m := boss.next("webrtc_signal"); m.text("sender_id") != lin.id || m["signal"] == nil {
		t.Errorf("received %v", m)
	}
	boss.send(record{"type": "webrtc_signal", "signal": record{"type": "to all"}})
	a.next("webrtc_signal")
	b.next("webrtc_signal")
	if e := a.ask(record{"type": "webrtc_signal", "target_id": max.id, "signal": strings.Repeat("x", 65<<10)}, "s2"); e.kind() != "error" {
		t.Errorf("a signal over 64 KiB was answered with %v", e)
	}
	b.send(record{"type": "chat", "message": "end"})
	b.untilChat("end")
	if b.count("attendee_screen_status") != 0 {
		t.Errorf("another attendee received %v", b.kinds())
	}
}

// Several nodes can serve a person's windows. In an earlier version, a signal reached only the
// windows on the sender's node, unless this node had none.
func TestASignalReachesAllWindowsOfAPerson(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, boss := c.attendee("Lin"), c.admin.connect(c.id, "")
	windows := []*socket{lin.connect(c.id, ""), lin.connect(c.id, ""), lin.connect(c.id, "")}
	rounds := 0
	c.eventually("a signal in all windows", func() bool { // other nodes report arrivals a little later
		rounds++
		end := fmt.Sprint("round ", rounds)
		boss.send(record{"type": "webrtc_signal", "target_id": lin.id, "signal": "offer"})
		boss.send(record{"type": "chat", "message": end})
		all := true
		for _, w := range windows {
			w.untilChat(end)
			all = all && w.count("webrtc_signal") > 0
		}
		return all
	})
}

func TestOnlyFacilitatorsReceiveHelpEventsOfOthers(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	a, b, boss := lin.connect(c.id, ""), max.connect(c.id, ""), c.admin.connect(c.id, "")
	lin.post(c.path+"/help", record{"step_number": 2}).want(200)
	id := boss.next("help_request").text("id")
	c.admin.post(c.path+"/help/"+id+"/claim", nil).want(200)
	if m := a.next("help_claimed"); m.text("claimed_by") != "Facilitator" || m.text("id") != id {
		t.Errorf("received %v", m)
	}
	c.admin.post(c.path+"/help/"+id+"/resolve", nil).want(200)
	boss.next("help_resolved")
	a.next("help_resolved")
	lin.post(c.path+"/complete", nil).want(200)
	if m := boss.next("attendee_completed"); m.text("attendee_id") != lin.id {
		t.Errorf("received %v", m)
	}
	a.next("attendee_completed")
	b.send(record{"type": "chat", "message": "end"})
	b.untilChat("end")
	for _, kind := range b.kinds() {
		if strings.HasPrefix(kind, "help_") || kind == "attendee_completed" {
			t.Errorf("another attendee received %s", kind)
		}
	}
}

func TestChangesOfTheCodelabAreAnnounced(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	s := c.attendee("Lin").connect(c.id, "")
	c.setSteps("four", "five")
	s.next("steps_changed")
	c.admin.put(c.path, record{"title": "New"}).want(200)
	s.next("codelab_changed")
	c.admin.put(c.path+"/quizzes", []record{}).want(200)
	s.next("codelab_changed")
	c.admin.delete(c.path).want(204)
	s.next("codelab_deleted")
	if code := s.closed(); code != 1008 {
		t.Errorf("closed with %d, want 1008", code)
	}
}
