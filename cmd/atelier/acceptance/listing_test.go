package acceptance

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

// listed returns a codelab as the list shows it to this browser.
func (c *class) listed(b *browser) record {
	c.t.Helper()
	for _, m := range b.get("/codelabs").list() {
		if m.text("id") == c.id {
			return m
		}
	}
	c.t.Fatal("the codelab is not in the list")
	return nil
}

// listedWith waits until the list shows this number of connected attendees. A node counts
// connections to other nodes a moment later.
func (c *class) listedWith(b *browser, online int) (m record) {
	c.t.Helper()
	eventual(c.t, "the number of connected attendees", func() bool { m = c.listed(b); return m["online"] == float64(online) })
	return m
}

func TestTheListShowsFacilitatorsAttendeesAndLastEdit(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	c.attendee("Max")
	boss := c.admin.connect(c.id, "")
	s := lin.connect(c.id, "")
	boss.next("attendee_joined")
	if m := c.listedWith(c.admin, 1); m.number("attendees") != 2 || m.text("updated_at") == "" {
		t.Errorf("the list has %v", m)
	}
	for _, b := range []*browser{lin.browser, open(t, c.addr)} {
		for _, field := range []string{"attendees", "online", "updated_at", "pin", "pointer"} {
			if v, there := c.listed(b)[field]; there {
				t.Errorf("others see %s: %v", field, v)
			}
		}
	}
	_ = s.conn.Close()
	boss.next("attendee_left")
	before := c.listed(c.admin).text("updated_at")
	c.admin.delete(c.path + "/attendees/" + lin.id).want(204)
	if m := c.listedWith(c.admin, 0); m.number("attendees") != 1 || m.text("updated_at") != before {
		t.Errorf("after an attendee left, the list has %v, last edit %s", m, before)
	}
	c.admin.put(c.path, record{"description": "new"}).want(200)
	if now := c.listed(c.admin).text("updated_at"); now <= before {
		t.Errorf("after the edit, updated_at is %s, before it %s", now, before)
	}
}

// Assistants get the facilitators' view of their own codelabs, and the public view of all others.
func TestTheListShowsAssistantsTheFiguresOfTheirCodelabs(t *testing.T) {
	t.Parallel()
	c, other := newClass(t), newClass(t)
	asa := c.assistant("asa-lists@example.org")
	c.attendee("Lin").connect(c.id, "")
	c.attendee("Max")
	want := c.listed(c.admin)
	if got := c.listedWith(asa.browser, 1); got.number("attendees") != 2 || got.text("updated_at") != want.text("updated_at") {
		t.Errorf("an assistant sees %v, a facilitator %v", got, want)
	}
	for _, m := range []record{other.listed(asa.browser), c.listed(c.attendee("Ada").browser)} {
		for _, field := range []string{"attendees", "online", "updated_at", "join_code"} {
			if v, there := m[field]; there {
				t.Errorf("others see %s: %v", field, v)
			}
		}
	}
	for _, m := range asa.get("/codelabs?as=attendee").list() {
		if _, there := m["online"]; there {
			t.Errorf("as an attendee, an assistant sees %v", m)
		}
	}
}

// stepOf returns a step with planned minutes.
func stepOf(title string, minutes int) record {
	return record{"title": title, "content_markdown": "", "duration_minutes": minutes}
}

// The list shows the number of steps and minutes to everybody, even after the steps have changed.
func TestTheListShowsTheNumberOfStepsAndMinutes(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	for _, x := range []struct {
		steps          []record
		count, minutes int
	}{
		{[]record{stepOf("a", 5), stepOf("b", 0), stepOf("c", 12)}, 3, 17},
		{[]record{stepOf("a", 0)}, 1, 0},
	} {
		c.admin.put(c.path+"/steps", record{"steps": x.steps}).want(200)
		for who, b := range map[string]*browser{"a facilitator": c.admin, "an attendee": lin.browser, "anybody": open(t, c.addr)} {
			if m := c.listed(b); m.number("steps_count") != x.count || m.number("minutes") != x.minutes {
				t.Errorf("%s sees %v for the steps %v", who, m, x.steps)
			}
		}
		c.admin.put(c.path, record{"description": "also after another change"}).want(200)
		if m := c.listed(lin.browser); m.number("steps_count") != x.count || m.number("minutes") != x.minutes {
			t.Errorf("after a change of the settings, the list has %v", m)
		}
	}
}

// The figures come from the store, so the list does not load an inactive codelab.
func TestTheListHasItsFiguresAfterARestart(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	s := startUntilStopped(t, cfg)
	c := newClassOn(t, s.Addr(), record{})
	c.attendee("Lin")
	want := c.listed(c.admin)
	c.admin.http.CloseIdleConnections()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	c.admin.base = "http://" + startServer(t, cfg).Addr()
	if got := c.listed(c.admin); got.number("attendees") != 1 || got.text("updated_at") != want.text("updated_at") {
		t.Errorf("after a restart, the list has %v, before %v", got, want)
	}
}

// In an earlier version, an open chat showed the messages of a removed attendee until it was read
// again.
func TestARemovalAnnouncesTheDeletedMessages(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	s := max.connect(c.id, "")
	from := resume(s.welcome.text("epoch"), s.welcome.seq())
	for _, m := range []record{
		{"type": "chat", "message": "one"}, {"type": "dm", "target_id": "facilitator", "message": "two"}, {"type": "dm", "target_id": max.id, "message": "three"},
	} {
		lin.post(c.path+"/messages", m).want(200)
	}
	max.post(c.path+"/messages", record{"type": "chat", "message": "stays"}).want(200)
	thread := lin.post(c.path+"/inline-comments", c.anchor(c.steps[0], 0, 5, "why")).object().text("id")
	gone := map[string]bool{}
	for _, id := range texts(lin.get(c.path+"/chat").list(), "id")[:3] {
		gone[id] = true
	}
	c.admin.delete(c.path + "/attendees/" + lin.id).want(204)
	c.admin.post(c.path+"/messages", record{"type": "chat", "message": "end"}).want(200)
	s.untilChat("end")
	again := max.connect(c.id, from)
	again.untilChat("end")
	for name, s := range map[string]*socket{"live": s, "replayed": again} {
		deleted := map[string]bool{}
		for _, m := range s.received {
			if m.kind() == "chat_deleted" {
				deleted[m.text("id")] = true
			}
		}
		if len(deleted) != 3 {
			t.Errorf("%s: the deleted messages are %v", name, deleted)
		}
		if !slices.ContainsFunc(s.received, func(m message) bool { return m.text("thread_id") == thread && m.text("action") == "deleted" }) {
			t.Errorf("%s: the deletion of the thread is not announced", name)
		}
		for id := range gone {
			if !deleted[id] {
				t.Errorf("%s: the deletion of message %s is not announced", name, id)
			}
		}
	}
}

// Everybody finds codelabs by title and author. Only facilitators find them by their code.
func TestCodelabsAreFoundByTitleAuthorAndCode(t *testing.T) {
	t.Parallel()
	c := newClassOn(t, common.get(t).Addr(), record{"title": "Concurrency Ünlimited", "author": "Grace of the search"})
	other := newClassOn(t, c.addr, record{"title": "Something else to be found", "is_public": false})
	find := func(b *browser, q string) string {
		return strings.Join(texts(b.get("/codelabs?q="+url.QueryEscape(q)).want(200).list(), "id"), " ")
	}
	code := c.meta().text("join_code")
	for q, want := range map[string]string{
		"currency ünl": c.id, "GRACE OF the search": c.id, code[:3] + "-" + strings.ToLower(code[3:]): c.id, "else to be found": other.id, "found nowhere": "",
	} {
		if got := find(c.admin, q); got != want {
			t.Errorf("%q finds %q, want %q", q, got, want)
		}
	}
	nobody := open(t, c.addr)
	for q, want := range map[string]string{"currency ünl": c.id, code: "", "else to be found": ""} {
		if got := find(nobody, q); got != want {
			t.Errorf("a visitor finds %q by %q, want %q", got, q, want)
		}
	}
	if all := nobody.get("/codelabs").want(200).list(); len(all) < 1 || slices.Contains(texts(all, "id"), other.id) {
		t.Errorf("the search changed the list: %v", all)
	}
	nobody.get("/codelabs?q="+strings.Repeat("x", 401)).refused(400, "q is longer")
}
