package acceptance

import (
	"slices"
	"strings"
	"testing"
)

func TestARemovedAttendeeDisappearsEverywhere(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.join(open(t, c.addr), record{"name": "Linnea Xylander", "email": "lx@example.org"}), c.attendee("Max")
	watcher, live := max.connect(c.id, ""), lin.connect(c.id, "")
	live.acked(record{"type": "chat", "message": "from linnea"}, "c")
	live.acked(record{"type": "dm", "target_id": max.id, "message": "dm from linnea"}, "d")
	watcher.acked(record{"type": "dm", "target_id": lin.id, "message": "dm to linnea"}, "d")
	watcher.acked(record{"type": "chat", "message": "stays"}, "c")
	lin.post(c.path+"/help", record{"step_number": 1}).want(200)
	lin.post(c.path+"/feedback", record{"difficulty": "1", "satisfaction": "1", "comment": "by linnea"}).want(200)
	quiz := c.quizzes(record{"question": "free", "quiz_type": "descriptive"})[0].text("id")
	lin.post(c.path+"/quizzes/submit", record{"submissions": []record{{"quiz_id": quiz, "answer": "by linnea"}}}).want(200)
	lin.post(c.path+"/inline-comments", c.anchor(c.steps[0], 0, 5, "only linnea")).want(200)
	max.post(c.path+"/inline-comments", c.anchor(c.steps[1], 0, 5, "max")).want(200)
	lin.post(c.path+"/inline-comments", c.anchor(c.steps[1], 0, 5, "linnea too")).want(200)
	// The thread that Linnea began stays because it has comments of others, but it no longer has
	// her id.
	lin.post(c.path+"/inline-comments", c.anchor(c.steps[1], 6, 9, "linnea first")).want(200)
	max.post(c.path+"/inline-comments", c.anchor(c.steps[1], 6, 9, "max after")).want(200)
	lin.post(c.path+"/complete", nil).want(200)

	c.admin.delete(c.path + "/attendees/" + lin.id).want(204)
	if code := live.closed(); code != 1008 {
		t.Errorf("her connection is closed with %d, want 1008", code)
	}
	lin.get(c.path + "/chat").refused(403)
	lin.get("/session").refused(401)
	lin.post(c.path+"/messages", record{"type": "chat", "message": "x"}).refused(403)
	lin.get("/certificates/" + lin.id).refused(404)
	for _, who := range []*browser{c.admin, max.browser} {
		for _, path := range []string{"/chat", "/attendees", "/help", "/inline-comments"} {
			if body := string(who.get(c.path + path).body); strings.Contains(body, "innea") || strings.Contains(body, lin.id) {
				t.Errorf("%s still contains data of the removed attendee: %s", path, body)
			}
		}
	}
	for _, path := range []string{"/feedback", "/quizzes/submissions", "/overview"} {
		if body := string(c.admin.get(c.path + path).body); strings.Contains(body, "innea") || strings.Contains(body, lin.id) {
			t.Errorf("%s still contains data of the removed attendee: %s", path, body)
		}
	}
	// The replay does not mention her either.
	again := max.connect(c.id, resume(watcher.welcome.text("epoch"), watcher.welcome.seq()))
	again.acked(record{"type": "chat", "message": "end"}, "e")
	for _, m := range again.received {
		if strings.Contains(m.text("sender")+m.text("message"), "innea") || m.text("sender_id") == lin.id {
			t.Errorf("the replay contains %v", m)
		}
	}
	boss := c.admin.connect(c.id, resume(watcher.welcome.text("epoch"), watcher.welcome.seq()))
	boss.untilChat("end")
	if n := boss.count("help_request") + boss.count("attendee_completed"); n != 0 {
		t.Errorf("%d messages about her are replayed to facilitators, want 0", n)
	}
	if got := c.audited(); !slices.Contains(got, "attendee_remove") {
		t.Errorf("the audited actions are %v", got)
	}
	// The name is available again.
	c.attendee("Linnea Xylander")
}

func TestAttendeesCanEraseOnlyThemselves(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	lin.delete(c.path + "/attendees/" + max.id).refused(403)
	lin.delete(c.path + "/attendees/" + lin.id).want(204)
	if got := texts(c.admin.get(c.path+"/attendees").list(), "name"); !slices.Equal(got, []string{"Max"}) {
		t.Errorf("the remaining attendees are %q", got)
	}
	if got := c.audited(); !slices.Contains(got, "attendee_erase") {
		t.Errorf("the audited actions are %v", got)
	}
}

func TestAMutedAttendeeCannotSendMessages(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	s := lin.connect(c.id, "")
	if got := c.admin.put(c.path+"/attendees/"+lin.id, record{"muted": true}).object(); got["muted"] != true {
		t.Errorf("the record is %v", got)
	}
	boss := c.admin.connect(c.id, "")
	for i, m := range []record{
		{"type": "chat", "message": "x"}, {"type": "dm", "target_id": "facilitator", "message": "x"},
		{"type": "webrtc_signal", "target_id": "facilitator", "signal": "x"}, {"type": "attendee_screen_status", "active": true},
	} {
		if e := s.ask(m, string(rune('a'+i))); e.kind() != "error" || !strings.Contains(e.text("error"), "muted") {
			t.Errorf("%v returned %v", m, e)
		}
	}
	lin.post(c.path+"/messages", record{"type": "webrtc_signal", "target_id": "facilitator", "signal": "x"}).refused(403, "muted")
	lin.post(c.path+"/inline-comments", c.anchor(c.steps[0], 0, 5, "x")).refused(403, "muted")
	s.acked(record{"type": "step_progress", "step_number": 2}, "p")
	lin.post(c.path+"/help", record{"step_number": 1}).want(200)
	c.admin.put(c.path+"/attendees/"+lin.id, record{"muted": false}).want(200)
	s.acked(record{"type": "chat", "message": "again"}, "c")
	s.acked(record{"type": "webrtc_signal", "target_id": "facilitator", "signal": "x"}, "d")
	// The facilitator and the attendee receive the message about the change.
	if m := boss.next("attendee_muted"); m["muted"] != false || m.text("attendee_id") != lin.id {
		t.Errorf("the facilitator received %v", m)
	}
	boss.next("webrtc_signal")
	if boss.count("webrtc_signal")+boss.count("attendee_screen_status") != 1 || s.count("attendee_muted") != 2 {
		t.Errorf("the facilitator received %v, the attendee %v", boss.kinds(), s.kinds())
	}
	max := c.attendee("Max").connect(c.id, "?since=0")
	max.acked(record{"type": "chat", "message": "end"}, "e")
	if max.count("attendee_muted") != 0 {
		t.Errorf("another attendee received %v", max.kinds())
	}
}

func TestARenamedAttendeeSendsUnderTheNewName(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, _ := c.attendee("Lin"), c.attendee("Max")
	s, boss := lin.connect(c.id, ""), c.admin.connect(c.id, "")
	lin.post(c.path+"/help", record{"step_number": 1}).want(200)
	c.admin.put(c.path+"/attendees/"+lin.id, record{"name": "MAX"}).refused(409)
	c.admin.put(c.path+"/attendees/"+lin.id, record{"name": " Linnea "}).want(200)
	s.send(record{"type": "chat", "message": "hello"})
	if m := s.untilChat("hello"); m.text("sender") != "Linnea" {
		t.Errorf("received %v, want the new name of the sender", m)
	}
	// Relayed messages and a welcome carry the new name too.
	s.send(record{"type": "attendee_screen_status", "active": true})
	if m := boss.next("attendee_screen_status"); m.text("sender") != "Linnea" || m.text("attendee_name") != "Linnea" {
		t.Errorf("received %v, want the new name of the attendee", m)
	}
	s.send(record{"type": "hello"})
	if m := s.next("welcome"); m["you"].(map[string]any)["name"] != "Linnea" {
		t.Errorf("received %v, want a welcome with the new name", m)
	}
	for who, conn := range map[string]*socket{"the attendee": s, "the facilitator": boss} {
		if n := conn.count("attendee_renamed"); n != 1 {
			t.Errorf("%s received the new name %d times, want once", who, n)
		}
	}
	for _, m := range s.received {
		if m.kind() == "attendee_renamed" && (m.text("attendee_id") != lin.id || m.text("name") != "Linnea" || m.seq() == 0) {
			t.Errorf("received %v, want the attendee with the new name and a seq", m)
		}
	}
	if got := c.admin.get(c.path + "/help").list()[0].text("attendee_name"); got != "Linnea" {
		t.Errorf("the queue has the name %q, want \"Linnea\"", got)
	}
	c.attendee("Lin")
}

func TestAfterAResetOnlyTheNewPINIsAccepted(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.join(open(t, c.addr), record{"name": "Lin", "code": "old"})
	c.admin.post(c.path+"/attendees/"+lin.id+"/reset-pin", record{"code": "new"}).want(200)
	open(t, c.addr).post(c.path+"/register", record{"name": "Lin", "code": "old"}).refused(409)
	open(t, c.addr).post(c.path+"/register", record{"name": "Lin", "code": "new"}).want(200)
	c.admin.post(c.path+"/attendees/"+lin.id+"/reset-pin", nil).want(200)
	open(t, c.addr).post(c.path+"/register", record{"name": "Lin", "code": "new"}).refused(409)
	c.admin.post(c.path+"/attendees/"+unknownID+"/reset-pin", nil).refused(404)
}

// In an earlier version, attendees who had joined with the old code kept their access after a
// reset.
func TestAPINResetEndsEarlierGrants(t *testing.T) {
	t.Parallel()
	c, other := newClass(t), newClass(t)
	lin := c.join(open(t, c.addr), record{"name": "Lin", "code": "old"})
	hijacker := c.join(open(t, c.addr), record{"name": "Lin", "code": "old"})
	other.join(hijacker.browser, record{"name": "Lin"})
	max := c.attendee("Max")
	live, elsewhere, maxLive := hijacker.connect(c.id, ""), hijacker.connect(other.id, ""), max.connect(c.id, "")
	events, _ := hijacker.follow(c.id, "")
	c.admin.post(c.path+"/attendees/"+lin.id+"/reset-pin", record{"code": "new"}).want(200)
	if code := live.closed(); code != 1008 {
		t.Errorf("closed with %d, want 1008", code)
	}
	for events.lines.Scan() { // to the end
	}
	for _, b := range []*browser{lin.browser, hijacker.browser} {
		b.get(c.path + "/chat").refused(403)
		b.get("/session?codelab_id=" + c.id).refused(401)
		if _, res := b.dial("/ws/" + c.id); res.StatusCode != 403 {
			t.Errorf("a connection with the old grant returned %d, want 403", res.StatusCode)
		}
	}
	lin.get("/session").refused(401)
	hijacker.get("/session?codelab_id=" + other.id).want(200)
	elsewhere.acked(record{"type": "chat", "message": "another codelab"}, "a")
	maxLive.acked(record{"type": "chat", "message": "another attendee"}, "a")
	c.join(lin.browser, record{"name": "Lin", "code": "new"})
	if s := lin.get("/session?codelab_id=" + c.id).object(); s.text("sub") != lin.id {
		t.Errorf("with the new code, the session is %v", s)
	}
	again := lin.connect(c.id, "")
	again.acked(record{"type": "chat", "message": "back"}, "b")
	hijacker.get(c.path + "/chat").refused(403)
}

func TestADeletedMessageIsGoneFromHistoryAndReplay(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	s := lin.connect(c.id, "")
	s.acked(record{"type": "chat", "message": "rude"}, "a")
	s.acked(record{"type": "chat", "message": "kind"}, "b")
	id := lin.get(c.path + "/chat").list()[0].text("id")
	lin.delete(c.path + "/chat/" + id).refused(403)
	c.admin.delete(c.path + "/chat/" + id).want(204)
	if m := s.next("chat_deleted"); m.text("id") != id {
		t.Errorf("received %v, want the deletion of the message", m)
	}
	c.admin.delete(c.path + "/chat/" + id).refused(404)
	if got := texts(lin.get(c.path+"/chat").list(), "message"); !slices.Equal(got, []string{"kind"}) {
		t.Errorf("the history is %q", got)
	}
	again := lin.connect(c.id, resume(s.welcome.text("epoch"), s.welcome.seq()))
	again.next("chat_deleted")
	if n := again.count("chat"); n != 1 {
		t.Errorf("%d chat messages are replayed, want 1", n)
	}
}

func TestRegistrationCanBeClosedAndReopened(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	c.join(open(t, c.addr), record{"name": "Lin", "code": "4711"})
	if got := c.admin.post(c.path+"/registration", record{"open": false}).object(); got["registration_open"] != false {
		t.Errorf("the record is %v", got)
	}
	open(t, c.addr).post(c.path+"/register", record{"name": "Max"}).refused(403, "closed")
	open(t, c.addr).post(c.path+"/register", record{"name": "Lin", "code": "4711"}).want(200)
	c.join(c.admin, record{"name": "Guest"})
	c.admin.post(c.path+"/registration", record{"open": true}).want(200)
	c.attendee("Max")
}

func TestAfterTheEndAttendeesCanOnlyRead(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	s := lin.connect(c.id, "")
	if got := c.admin.post(c.path+"/end", nil).object(); got["ended_at"] == nil || got["registration_open"] != false {
		t.Errorf("the record is %v", got)
	}
	s.next("codelab_changed")
	for i, m := range []record{{"type": "chat", "message": "x"}, {"type": "step_progress", "step_number": 2}} {
		if e := s.ask(m, string(rune('a'+i))); e.kind() != "error" || !strings.Contains(e.text("error"), "ended") {
			t.Errorf("%v returned %v", m, e)
		}
	}
	lin.post(c.path+"/help", record{"step_number": 1}).refused(409, "ended")
	lin.post(c.path+"/inline-comments", c.anchor(c.steps[0], 0, 5, "x")).refused(409, "ended")
	open(t, c.addr).post(c.path+"/register", record{"name": "Max"}).refused(409, "ended")
	lin.post(c.path+"/feedback", record{"difficulty": "1", "satisfaction": "1"}).want(200)
	lin.get(c.path + "/chat").want(200)
	c.admin.post(c.path+"/end", record{"ended": false}).want(200)
	s.acked(record{"type": "chat", "message": "on"}, "c")
}
