package acceptance

import (
	"slices"
	"strings"
	"testing"
)

func TestANewCodelabHasTheDefaults(t *testing.T) {
	t.Parallel()
	admin := facilitator(t, common.get(t).Addr(), "")
	got := admin.post("/codelabs", record{"title": "  Trim me  ", "unknown": 1}).object()
	want := record{
		"title": "Trim me", "description": "", "author": "", "is_public": true, "quiz_enabled": false, "require_quiz": false,
		"require_feedback": false, "require_submission": false, "guide_markdown": nil, "registration_open": true, "ended_at": nil,
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s is %v, want %v", k, got[k], v)
		}
	}
}

func TestAnOmittedSettingKeepsItsValue(t *testing.T) {
	t.Parallel()
	c := newClassOn(t, common.get(t).Addr(), record{"title": "A", "author": "Ada", "guide_markdown": " # Kept as sent \n"})
	got := c.admin.put(c.path, record{"title": "B", "is_public": false}).object()
	if got.text("title") != "B" || got.text("author") != "Ada" || got["is_public"] != false || got.text("guide_markdown") != " # Kept as sent \n" {
		t.Errorf("after the update, the codelab is %v", got)
	}
	if got = c.admin.put(c.path, record{"guide_markdown": ""}).object(); got["guide_markdown"] != nil {
		t.Errorf("an empty guide is %v, want null", got["guide_markdown"])
	}
}

func TestCodelabsAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	first, second := newClass(t), newClass(t)
	ids := texts(first.admin.get("/codelabs").list(), "id")
	if i, j := slices.Index(ids, second.id), slices.Index(ids, first.id); i < 0 || j < 0 || i > j {
		t.Errorf("the newer codelab is at %d, the older at %d", i, j)
	}
}

func TestAStepWithAKnownIDKeepsItsIdentity(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	foreign := newClass(t).steps[0]
	lin := c.attendee("Lin")
	for _, step := range c.steps {
		lin.post(c.path+"/inline-comments", c.anchor(step, 0, 5, "x")).want(200)
	}
	c.admin.put(c.path+"/steps", record{"steps": []record{
		{"id": c.steps[2], "title": " three, now first ", "content_markdown": " as sent "},
		{"id": foreign, "title": "foreign", "content_markdown": ""},
		{"id": c.steps[2], "title": "the same again", "content_markdown": ""},
		{"id": c.steps[0], "title": "one", "content_markdown": "About one"},
	}}).want(200)
	got := c.readSteps()
	if got[0].text("id") != c.steps[2] || got[3].text("id") != c.steps[0] || got[0].text("title") != "three, now first" || got[0].text("content_markdown") != " as sent " {
		t.Errorf("the steps are %v", got)
	}
	for i, s := range got {
		if s.number("step_number") != i+1 || i > 0 && i < 3 && slices.Contains(append(c.steps, foreign), s.text("id")) {
			t.Errorf("step %d is %v", i+1, s)
		}
	}
	// The threads stay on their steps.
	targets := texts(lin.get(c.path+"/inline-comments").list(), "target_step_id")
	if !slices.Equal(targets, []string{c.steps[0], c.steps[2]}) {
		t.Errorf("the threads refer to %v", targets)
	}
}

func TestAttendeesAreMovedBackToTheLastStep(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	lin.post(c.path+"/messages", record{"type": "step_progress", "step_number": 3}).want(200)
	c.setSteps("only one")
	if a := lin.get(c.path + "/attendees").list()[0]; a.number("current_step") != 1 || a.number("furthest_step") != 1 {
		t.Errorf("the record is %v", a)
	}
}

func TestTextLimitsCountCodePoints(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	long := func(n int) string { return strings.Repeat("🎉", n) }
	c.admin.put(c.path, record{"title": long(200), "author": long(120), "description": long(4000), "guide_markdown": long(50_000)}).want(200)
	c.admin.put(c.path+"/steps", record{"steps": []record{{"title": long(200), "content_markdown": long(50_000)}}}).want(200)
	lin := c.join(open(t, c.addr), record{"name": long(80), "code": long(64)})
	lin.post(c.path+"/messages", record{"type": "chat", "message": long(2000), "ref": long(64)}).want(200)
	lin.post(c.path+"/feedback", record{"difficulty": "1", "satisfaction": "1", "comment": long(2000)}).want(200)
	for field, bad := range map[string]string{"title": "two\nlines", "author": "bell\a"} {
		c.admin.put(c.path, record{field: bad}).refused(400, field)
	}
	for _, mail := range []string{"x", "x@", "@x", "a b@example.org", "Lin <lin@example.org>", "lin@example.org, max@example.org", strings.Repeat("x", 250) + "@example.org"} {
		open(t, c.addr).post(c.path+"/register", record{"name": "Mail", "email": mail}).refused(400, "email")
	}
}

func TestRetentionIsASettingOfTheCodelab(t *testing.T) {
	t.Parallel()
	c := newClassOn(t, common.get(t).Addr(), record{"email_retention_days": 30})
	if m := c.meta(); m.number("email_retention_days") != 30 || m.number("chat_retention_days") != 0 {
		t.Errorf("the record is %v", m)
	}
	if m := c.admin.put(c.path, record{"chat_retention_days": 7}).object(); m.number("email_retention_days") != 30 || m.number("chat_retention_days") != 7 {
		t.Errorf("the record is %v", m)
	}
}

func TestADeletedCodelabIsGone(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	lin.post(c.path+"/complete", nil).want(200)
	c.admin.delete(c.path).want(204)
	c.admin.delete(c.path).refused(404)
	c.admin.get(c.path + "/attendees").refused(404)
	lin.get("/certificates/" + lin.id).refused(404)
	open(t, c.addr).get(c.path).refused(404)
	if s := lin.get(c.path + "/chat").status; s != 404 {
		t.Errorf("an attendee of the deleted codelab gets %d, want 404", s)
	}
}

func TestAnyoneCanReadAPublicCodelab(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	got := open(t, c.addr).get(c.path).want(200)
	if strings.Contains(string(got.body), "join_code") {
		t.Error("strangers see the join code")
	}
	if c.meta().text("join_code") == "" {
		t.Error("an admin does not see the join code")
	}
}
