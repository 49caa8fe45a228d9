package acceptance

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// report sends a report with only the token, as an attendee's program does.
func (c *class) report(token, name string, body any, opts ...option) answer {
	c.t.Helper()
	return open(c.t, c.addr).post("/check/"+name, body, append(opts, header("Authorization", "Bearer "+token))...)
}

// declare creates two steps, which each declare a check.
func (c *class) declare(settings record) {
	c.t.Helper()
	c.admin.put(c.path+"/steps", record{"steps": []record{
		{"title": "One", "content_markdown": "Build it.\n\n```check build\nIt builds\n\nRun `make`.\n```\n"},
		{"title": "Two", "content_markdown": "```check unit-tests\nThe tests pass\n```\n"},
	}}).want(200)
	if settings != nil {
		c.admin.put(c.path, settings).want(200)
	}
}

func TestReportedChecksAreShown(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	c.declare(record{"require_checks": true})
	lin, max := c.attendee("Lin"), c.attendee("Max")
	access := lin.post(c.path+"/check-access", nil).object()
	if !strings.HasPrefix(access.text("url"), "http://127.0.0.1:") || !strings.HasSuffix(access.text("url"), "/api/check") || access.text("expires_at") == "" {
		t.Fatalf("access is for %q until %q", access.text("url"), access.text("expires_at"))
	}
	token := access.text("token")
	watch, other := c.admin.connect(c.id, ""), max.connect(c.id, "")

	c.report(token, "build", record{"ok": false, "note": "line 3"}).want(200)
	m := watch.next("check")
	if m.text("attendee_id") != lin.id || m.text("name") != "build" || m["ok"] != false || m.text("note") != "line 3" || m.number("tries") != 1 {
		t.Errorf("facilitators received %v", m)
	}
	lin.post(c.path+"/complete", nil).refused(409, "build, unit-tests")
	form := url.Values{"ok": {"true"}, "note": {"12 passed"}}.Encode()
	c.report(token, "build", []byte(form), header("Content-Type", "application/x-www-form-urlencoded")).want(200)
	c.report(token, "unit-tests", record{"ok": true}).want(200)

	own := lin.get(c.path + "/attendees/" + lin.id).object()["checks"].([]any)
	if build := record(own[0].(map[string]any)); len(own) != 2 || build.text("note") != "12 passed" || build.number("tries") != 2 {
		t.Errorf("Lin reads %v", own)
	}
	if seen := max.get(c.path + "/attendees/" + lin.id).object()["checks"].([]any); len(seen) != 0 {
		t.Errorf("others read %v", seen)
	}
	for _, a := range c.admin.get(c.path + "/attendees").list() {
		if want := map[string]int{"Lin": 2, "Max": 0}[a.text("name")]; len(a["checks"].([]any)) != want {
			t.Errorf("facilitators see for %s the checks %v", a.text("name"), a["checks"])
		}
	}
	counts := c.admin.get(c.path + "/overview").object()["checks"].([]any)
	first := record(counts[0].(map[string]any))
	if len(counts) != 2 || first.text("title") != "It builds" || first.number("ok") != 1 || first.number("failed") != 0 || first.number("step_number") != 1 {
		t.Errorf("the overview has %v", counts)
	}
	if table := string(c.admin.get(c.path + "/export/attendance.csv").body); !strings.Contains(table, "check build") || !strings.Contains(table, ",ok,") {
		t.Errorf("the table is %s", table)
	}
	lin.post(c.path+"/complete", nil).want(200)
	max.post(c.path+"/messages", record{"type": "chat", "message": "end"}).want(200)
	other.next("chat")
	if other.count("check") != 0 {
		t.Error("another attendee received the check")
	}
}

func TestInvalidReportsAreRefused(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	c.declare(nil)
	lin := c.attendee("Lin")
	token := lin.post(c.path+"/check-access", nil).object().text("token")
	good := record{"ok": true}
	c.report(token, "other", good).refused(404)
	c.report(token, "..", good).refused(404)
	c.report(token[:len(token)-1], "build", good).refused(401)
	c.report("", "build", good).refused(401)
	lin.post("/check/build", good).refused(401) // a session cookie is not accepted for reports
	c.admin.post(c.path+"/check-access", nil).refused(403)
	for _, bad := range []any{record{}, record{"ok": nil}, record{"ok": "yes"}, record{"ok": true, "note": strings.Repeat("x", 501)}} {
		c.report(token, "build", bad).refused(400)
	}
	c.report(token, "build", []byte("ok=maybe"), header("Content-Type", "application/x-www-form-urlencoded")).refused(400)
	c.report(token, "build", []byte("ok"), header("Content-Type", "text/plain")).refused(415)
	// The token permits nothing except reports.
	open(t, c.addr).get(c.path+"/attendees", header("Authorization", "Bearer "+token)).refused(401)
	c.admin.delete(c.path + "/attendees/" + lin.id).want(204)
	if a := c.report(token, "build", good); a.status != 401 && a.status != 403 {
		t.Errorf("a report of a removed attendee returned %d, want 401 or 403", a.status)
	}
}

func TestReportsAreLimited(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.ChecksPerMinute = 3
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	c.declare(nil)
	lin := c.attendee("Lin")
	token := lin.post(c.path+"/check-access", nil).object().text("token")
	for range 3 {
		c.report(token, "build", record{"ok": true}).want(200)
	}
	limited(t, c.report(token, "build", record{"ok": true}), 20)
	lin.post(c.path+"/messages", record{"type": "chat", "message": "x"}).want(200)
}

// Two attendees in one browser have different secrets. The secret of a removed attendee is
// refused.
func TestAReportCountsForTheAttendeeOfItsSecret(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	c.declare(nil)
	c.workspace("branch", file("main.txt", "of the author"))
	shared := open(t, c.addr)
	lin := c.join(shared, record{"name": "Lin", "code": "1"})
	token := lin.post(c.path+"/check-access", nil).object().text("token")
	c.report(token, "build", record{"ok": true}).want(200)
	max := c.join(shared, record{"name": "Max", "code": "1"})
	own := max.post(c.path+"/check-access", nil).object().text("token")
	c.report(own, "unit-tests", record{"ok": true}).want(200)
	// The previous session stays valid briefly, for requests in flight. Its report counts for
	// Lin.
	c.report(token, "unit-tests", record{"ok": false})
	c.admin.delete(c.path + "/attendees/" + lin.id).want(204)
	// Another node can accept the session slightly longer, but then finds no attendee for it.
	if status := c.report(token, "build", record{"ok": true}).status; status != 401 && status != 403 {
		t.Errorf("a report with the session of a removed attendee returned %d, want 401 or 403", status)
	}
	got := c.admin.get(c.path + "/attendees/" + max.id).object()["checks"].([]any)
	if len(got) != 1 || record(got[0].(map[string]any)).text("name") != "unit-tests" || got[0].(map[string]any)["ok"] != true {
		t.Errorf("the checks of Max are %v", got)
	}

	assistant := c.assistant("secret-assistant@example.org")
	url := c.gitURL(assistant.browser)
	g := newGit(t)
	g.run(g.home, "ls-remote", url)
	assistant.login("") // the owner, in the same browser
	c.admin.delete("/admin/people/" + assistant.id).want(204)
	g.shutOut(g.home, "ls-remote", url)
}

// Checks that the text no longer declares disappear from the records. Checks beyond the limit are
// never added. Reports are refused after the workshop has ended.
func TestUndeclaredAndExcessChecksAreDropped(t *testing.T) {
	t.Parallel()
	s := startServer(t, testConfig(t))
	c := newClassOn(t, s.Addr(), record{})
	text := ""
	for i := range 51 {
		text += fmt.Sprintf("```check c%02d\nCheck %d\n```\n\n", i, i)
	}
	put := func(steps ...string) {
		t.Helper()
		var all []record
		for i, s := range steps {
			all = append(all, record{"title": fmt.Sprint("Step ", i+1), "content_markdown": s})
		}
		c.admin.put(c.path+"/steps", record{"steps": all}).want(200)
	}
	names := func() (out []string) {
		for _, o := range c.admin.get(c.path + "/overview").object()["checks"].([]any) {
			one := record(o.(map[string]any))
			out = append(out, fmt.Sprint(one.text("name"), " ", one.text("title"), " ", one.number("step_number")))
		}
		return out
	}
	put("```check c00\nThe first\n```", text)
	if got := names(); len(got) != 50 || got[0] != "c00 The first 1" || got[49] != "c49 Check 49 2" {
		t.Errorf("the checks are %q", got)
	}
	lin := c.attendee("Lin")
	token := lin.post(c.path+"/check-access", nil).object().text("token")
	c.report(token, "c50", record{"ok": true}).refused(404, "the declared checks are c00, c01", "and more")
	c.report(token, "c01", []byte("ok=true"), header("Content-Type", "text/plain")).refused(415, "or a form")
	c.report(token, "c01", record{"ok": true}).want(200)
	c.report(token, "c02", record{"ok": true}).want(200)
	put("```check c02\nStays\n```\n\n<aside class=\"facilitator\">\n\n```check hidden\nFor nobody\n```\n\n</aside>\n")
	if got := names(); len(got) != 1 {
		t.Errorf("the checks are %q", got)
	}
	c.report(token, "c02", record{"ok": false}).want(200)
	if own := lin.get(c.path + "/attendees/" + lin.id).object()["checks"].([]any); len(own) != 1 {
		t.Errorf("the checks of Lin are %v", own)
	}
	c.admin.post(c.path+"/end", nil).want(200)
	c.report(token, "c02", record{"ok": true}).refused(409)
}
