package acceptance

import (
	"slices"
	"strings"
	"testing"
)

func TestARemovedAttendeeDisappearsEverywhere(t *testing.T) {
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
	// A thread that she began lives on through others, without her id.
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
				t.Errorf("%s still tells of her: %s", path, body)
			}
		}
	}
	for _, path := range []string{"/feedback", "/quizzes/submissions", "/overview"} {
		if body := string(c.admin.get(c.path + path).body); strings.Contains(body, "innea") || strings.Contains(body, lin.id) {
			t.Errorf("%s still tells of her: %s", path, body)
		}
	}
	// Nor does the replay.
	again := max.connect(c.id, resume(watcher.welcome.text("epoch"), watcher.welcome.seq()))
	again.acked(record{"type": "chat", "message": "end"}, "e")
	for _, m := range again.heard {
		if strings.Contains(m.text("sender")+m.text("message"), "innea") || m.text("sender_id") == lin.id {
			t.Errorf("replayed is %v", m)
		}
	}
	boss := c.admin.connect(c.id, resume(watcher.welcome.text("epoch"), watcher.welcome.seq()))
	boss.hear("end")
	if n := boss.count("help_request") + boss.count("attendee_completed"); n != 0 {
		t.Errorf("%d messages about her are replayed to facilitators", n)
	}
	if got := c.audited(); !slices.Contains(got, "attendee_remove") {
		t.Errorf("audited are %v", got)
	}
	// The name is free again.
	c.attendee("Linnea Xylander")
}

func TestAttendeesEraseThemselvesAndNobodyElse(t *testing.T) {
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	lin.delete(c.path + "/attendees/" + max.id).refused(403)
	lin.delete(c.path + "/attendees/" + lin.id).want(204)
	if got := texts(c.admin.get(c.path+"/attendees").list(), "name"); !slices.Equal(got, []string{"Max"}) {
		t.Errorf("left are %q", got)
	}
	if got := c.audited(); !slices.Contains(got, "attendee_erase") {
		t.Errorf("audited are %v", got)
	}
}

func TestAMutedAttendeeDoesNotSpeak(t *testing.T) {
	c := newClass(t)
	lin := c.attendee("Lin")
	s := lin.connect(c.id, "")
	if got := c.admin.put(c.path+"/attendees/"+lin.id, record{"muted": true}).object(); got["muted"] != true {
		t.Errorf("the record is %v", got)
	}
	for i, m := range []record{{"type": "chat", "message": "x"}, {"type": "dm", "target_id": "facilitator", "message": "x"}} {
		if e := s.ask(m, string(rune('a'+i))); e.kind() != "error" || !strings.Contains(e.text("error"), "muted") {
			t.Errorf("%v is answered by %v", m, e)
		}
	}
	lin.post(c.path+"/inline-comments", c.anchor(c.steps[0], 0, 5, "x")).refused(403, "muted")
	s.acked(record{"type": "step_progress", "step_number": 2}, "p")
	lin.post(c.path+"/help", record{"step_number": 1}).want(200)
	c.admin.put(c.path+"/attendees/"+lin.id, record{"muted": false}).want(200)
	s.acked(record{"type": "chat", "message": "again"}, "c")
}

func TestARenamedAttendeeSpeaksUnderTheNewName(t *testing.T) {
	c := newClass(t)
	lin, _ := c.attendee("Lin"), c.attendee("Max")
	s := lin.connect(c.id, "")
	lin.post(c.path+"/help", record{"step_number": 1}).want(200)
	c.admin.put(c.path+"/attendees/"+lin.id, record{"name": "MAX"}).refused(409)
	c.admin.put(c.path+"/attendees/"+lin.id, record{"name": " Linnea "}).want(200)
	s.say(record{"type": "chat", "message": "hello"})
	if m := s.hear("hello"); m.text("sender") != "Linnea" {
		t.Errorf("heard %v", m)
	}
	if got := c.admin.get(c.path + "/help").list()[0].text("attendee_name"); got != "Linnea" {
		t.Errorf("the queue says %q", got)
	}
	c.attendee("Lin")
}

func TestAResetPINIsTheOnlyOneThatCounts(t *testing.T) {
	c := newClass(t)
	lin := c.join(open(t, c.addr), record{"name": "Lin", "code": "old"})
	c.admin.post(c.path+"/attendees/"+lin.id+"/reset-pin", record{"code": "new"}).want(200)
	open(t, c.addr).post(c.path+"/register", record{"name": "Lin", "code": "old"}).refused(409)
	open(t, c.addr).post(c.path+"/register", record{"name": "Lin", "code": "new"}).want(200)
	c.admin.post(c.path+"/attendees/"+lin.id+"/reset-pin", nil).want(200)
	open(t, c.addr).post(c.path+"/register", record{"name": "Lin", "code": "new"}).refused(409)
	c.admin.post(c.path+"/attendees/"+unknownID+"/reset-pin", nil).refused(404)
}

func TestADeletedMessageLeavesHistoryAndReplay(t *testing.T) {
	c := newClass(t)
	lin := c.attendee("Lin")
	s := lin.connect(c.id, "")
	s.acked(record{"type": "chat", "message": "rude"}, "a")
	s.acked(record{"type": "chat", "message": "kind"}, "b")
	id := lin.get(c.path + "/chat").list()[0].text("id")
	lin.delete(c.path + "/chat/" + id).refused(403)
	c.admin.delete(c.path + "/chat/" + id).want(204)
	if m := s.next("chat_deleted"); m.text("id") != id {
		t.Errorf("heard %v", m)
	}
	c.admin.delete(c.path + "/chat/" + id).refused(404)
	if got := texts(lin.get(c.path+"/chat").list(), "message"); !slices.Equal(got, []string{"kind"}) {
		t.Errorf("the history is %q", got)
	}
	again := lin.connect(c.id, resume(s.welcome.text("epoch"), s.welcome.seq()))
	again.next("chat_deleted")
	if n := again.count("chat"); n != 1 {
		t.Errorf("%d chats are replayed", n)
	}
}

func TestRegistrationIsClosedAndOpenedAgain(t *testing.T) {
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

func TestAfterTheEndAttendeesOnlyRead(t *testing.T) {
	c := newClass(t)
	lin := c.attendee("Lin")
	s := lin.connect(c.id, "")
	if got := c.admin.post(c.path+"/end", nil).object(); got["ended_at"] == nil || got["registration_open"] != false {
		t.Errorf("the record is %v", got)
	}
	s.next("codelab_changed")
	for i, m := range []record{{"type": "chat", "message": "x"}, {"type": "step_progress", "step_number": 2}} {
		if e := s.ask(m, string(rune('a'+i))); e.kind() != "error" || !strings.Contains(e.text("error"), "ended") {
			t.Errorf("%v is answered by %v", m, e)
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
