package acceptance

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestActionsInACodelabAreAudited(t *testing.T) {
	t.Parallel()
	c := newClass(t) // codelab_create, codelab_steps_update
	lin := c.attendee("Lin")
	lin.post(c.path+"/help", record{"step_number": 1}).want(200)
	help := c.path + "/help/" + lin.get(c.path + "/help").list()[0].text("id")
	c.admin.post(help+"/claim", nil).want(200)
	c.admin.post(help+"/resolve", nil).want(200)
	lin.post(c.path+"/feedback", record{"difficulty": "1", "satisfaction": "1"}).want(200)
	c.admin.put(c.path, record{"title": "T", "author": "A"}).want(200)
	c.quizzes(choice("q", 1))
	c.admin.put(c.path+"/attendees/"+lin.id, record{"name": "Linnea", "muted": true}).want(200)
	c.admin.put(c.path+"/attendees/"+lin.id, record{"muted": false}).want(200)
	c.admin.post(c.path+"/registration", record{"open": false}).want(200)
	c.admin.get(c.path + "/export").want(200)
	lin.post(c.path+"/complete", nil).want(200)
	lin.post(c.path+"/messages", record{"type": "chat", "message": "not audited"}).want(200)
	lin.post(c.path+"/messages", record{"type": "step_progress", "step_number": 2}).want(200)
	c.admin.delete(c.path + "/chat/" + lin.get(c.path + "/chat").list()[0].text("id")).want(204)
	c.admin.post(c.path+"/attendees/"+lin.id+"/reset-pin", nil).want(200)
	c.admin.delete(c.path).want(204)
	got := c.audited()
	slices.Reverse(got)
	want := []string{
		"codelab_create", "codelab_steps_update", "attendee_register", "help_request", "help_claim", "help_resolve", "feedback_submit", "codelab_update",
		"quiz_update", "attendee_rename", "attendee_mute", "attendee_unmute", "codelab_update", "codelab_export", "codelab_complete",
		"chat_delete", "attendee_pin_reset", "codelab_delete",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the audited actions are %v\nwant                    %v", got, want)
	}
}

func TestAnAuditRecordSaysWhoDidWhatFromWhere(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := open(t, c.addr)
	lin.from = "192.0.2.44"
	p := c.join(lin, record{"name": "Lin"})
	lin.post(c.path+"/help", record{"step_number": 1}, header("User-Agent", "Probe/1.0")).want(200)
	help := lin.get(c.path + "/help").list()[0].text("id")
	c.admin.put(c.path, record{"author": "A", "title": "T"}).want(200)
	records := c.admin.get("/admin/audit-logs?codelab_id=" + c.id).list()
	update, asked, joined := records[0], records[1], records[2]
	for _, r := range records {
		if r.text("codelab_id") != c.id {
			t.Errorf("a record of another codelab: %v", r)
		}
	}
	if update.text("actor_type") != "admin" || update.text("actor_id") != adminID || update["metadata"].(map[string]any)["fields"] != "author,title" {
		t.Errorf("the update is recorded as %v", update)
	}
	if asked.text("actor_type") != "attendee" || asked.text("actor_id") != p.id || asked.text("target_id") != help || asked.text("ip") != lin.from || asked.text("user_agent") != "Probe/1.0" {
		t.Errorf("the help request is recorded as %v", asked)
	}
	if joined.text("actor_type") != "anonymous" || joined.text("target_id") != p.id {
		t.Errorf("the registration is recorded as %v", joined)
	}
}

func TestTheAuditTrailIsPagedNewestFirst(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	for i := range 10 {
		c.admin.put(c.path, record{"title": fmt.Sprint(i)}).want(200)
	}
	read := func(query string) []string {
		return texts(c.admin.get("/admin/audit-logs?codelab_id="+c.id+query).list(), "id")
	}
	all := read("")
	if len(all) != 12 || !slices.IsSortedFunc(all, func(a, b string) int { return strings.Compare(b, a) }) {
		t.Errorf("got the records %v, want 12, newest first", all)
	}
	if got := read("&limit=3&offset=2"); !slices.Equal(got, all[2:5]) {
		t.Errorf("limit=3&offset=2 returned %v", got)
	}
	if got := read("&action=codelab_update&limit=1000&offset=9"); !slices.Equal(got, all[9:10]) {
		t.Errorf("limit=1000&offset=9 returned %v", got)
	}
	if got := read("&offset=100"); len(got) != 0 {
		t.Errorf("an offset past the end returned %v", got)
	}
	if got := read("&action=no_such"); len(got) != 0 {
		t.Errorf("an unknown action returned %v", got)
	}
}
