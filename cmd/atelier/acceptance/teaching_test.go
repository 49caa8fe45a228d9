package acceptance

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestABroadcastReachesEveryoneAndStaysInTheChat(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	grace := facilitator(t, c.addr, "Grace")
	a, boss := lin.connect(c.id, ""), grace.connect(c.id, "")
	boss.acked(record{"type": "broadcast", "message": "Back at ten."}, "b")
	own := slices.IndexFunc(boss.received, func(m message) bool { return m.kind() == "broadcast" }) // the broadcast must arrive before its ack
	if own < 0 {
		t.Fatal("the ack came before the broadcast")
	}
	for _, m := range []message{a.next("broadcast"), boss.received[own]} {
		if m.kind() != "broadcast" || m.text("message") != "Back at ten." || m.text("sender_name") != "Grace" || m.text("sender_id") != "facilitator" {
			t.Errorf("received %v", m)
		}
	}
	for _, b := range []*browser{lin.browser, c.admin} {
		if h := b.get(c.path + "/chat").list(); len(h) != 1 || h[0].text("msg_type") != "broadcast" || h[0].text("sender_name") != "Grace" {
			t.Errorf("the history is %v", h)
		}
	}
	lin.post(c.path+"/messages", record{"type": "broadcast", "message": "me too"}).refused(403, "facilitators")
	grace.post(c.path+"/messages", record{"type": "broadcast", "message": strings.Repeat("ä", 2001)}).refused(400, "message")
	grace.post(c.path+"/messages", record{"type": "broadcast"}).refused(400, "message")
	id := lin.get(c.path + "/chat").list()[0].text("id")
	c.admin.delete(c.path + "/chat/" + id).want(204)
	if m := a.next("chat_deleted"); m.text("id") != id {
		t.Errorf("received %v", m)
	}
	if n := len(lin.get(c.path + "/chat").list()); n != 0 {
		t.Errorf("%d messages are left, want 0", n)
	}
}

// shown returns the pin and the pointer as this browser reads them. ok is false if the response
// contains neither field.
func (c *class) shown(b *browser) (pin, pointer record, ok bool) {
	c.t.Helper()
	var both []any
	b.get(c.path).into(&both)
	meta := both[0].(map[string]any)
	_, has := meta["pin"]
	_, too := meta["pointer"]
	if has != too {
		c.t.Errorf("the codelab has only one of pin and pointer: %v", meta)
	}
	p, _ := meta["pin"].(map[string]any)
	q, _ := meta["pointer"].(map[string]any)
	return p, q, has
}

func TestAPinIsShownToEveryoneUntilItIsRemoved(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, stranger := c.attendee("Lin"), open(t, c.addr)
	s := lin.connect(c.id, "")
	if pin, _, ok := c.shown(lin.browser); !ok || pin != nil {
		t.Errorf("before the first pin, the codelab has %v, %v", pin, ok)
	}
	tag := lin.get(c.path).header.Get("ETag")
	edit := c.admin.get(c.path).header.Get("ETag")
	if got := c.admin.put(c.path+"/pin", record{"message": "code 4711"}).object().text("status"); got != "ok" {
		t.Errorf("the status is %q, want ok", got)
	}
	if m := s.next("pin_changed"); m["pin"].(map[string]any)["message"] != "code 4711" || m["pin"].(map[string]any)["at"] != m["ts"] {
		t.Errorf("received %v", m)
	}
	for _, b := range []*browser{lin.browser, c.admin} {
		if pin, _, _ := c.shown(b); pin.text("message") != "code 4711" || pin.text("at") == "" {
			t.Errorf("the pin is %v", pin)
		}
	}
	// A response cached for one kind of reader is not returned to others.
	if pin, _, ok := c.shown(stranger); ok {
		t.Errorf("a stranger sees %v", pin)
	}
	if now := lin.get(c.path, header("If-None-Match", tag)); now.status != 200 {
		t.Errorf("the earlier tag still matches: %d", now.status)
	}
	// The tag of a stranger's response is not valid for a member.
	late := c.join(stranger, record{"name": "Late"})
	if got := late.get(c.path, header("If-None-Match", open(t, c.addr).get(c.path).header.Get("ETag"))); got.status != 200 {
		t.Errorf("the tag of a stranger's read matches for a member: %d", got.status)
	}
	// A pin is not an edit of the text.
	if got := c.admin.put(c.path, record{"description": "x"}, header("If-Match", edit)).object(); got["pin"] == nil {
		t.Errorf("the edit returned %v, without the pin", got)
	}
	c.admin.put(c.path+"/pin", record{"message": strings.Repeat("ä", 2001)}).refused(400, "message")
	c.admin.put(c.path+"/pin", record{}).refused(400, "message")
	lin.put(c.path+"/pin", record{"message": "mine"}).refused(403)
	copied := c.admin.post(c.path+"/copy", nil).object().text("id")
	if pin, _, _ := (&class{t: t, path: "/codelabs/" + copied}).shown(c.admin); pin != nil {
		t.Errorf("the copy has the pin %v", pin)
	}
	c.admin.put(c.path+"/pin", record{"message": nil}).want(200)
	if m := s.next("pin_changed"); m["pin"] != nil {
		t.Errorf("received %v", m)
	}
	if pin, _, _ := c.shown(lin.browser); pin != nil {
		t.Errorf("the pin is still %v", pin)
	}
	if got := c.audited(); !slices.Contains(got, "pin_set") || !slices.Contains(got, "pin_remove") {
		t.Errorf("the audited actions are %v", got)
	}
}

func TestAPointerShowsEveryoneTheStepAndItsHints(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	grace := facilitator(t, c.addr, "Grace")
	a, boss := lin.connect(c.id, ""), grace.connect(c.id, "")
	boss.acked(record{"type": "pointer", "step_number": 2, "hints": true}, "p")
	if boss.count("pointer") != 1 {
		t.Errorf("the sender received %v", boss.kinds())
	}
	if m := a.next("pointer"); m.number("step_number") != 2 || m.text("by") != "Grace" || m["hints"] != true {
		t.Errorf("received %v", m)
	}
	if _, p, _ := c.shown(lin.browser); p.number("step_number") != 2 || p.text("by") != "Grace" || p["hints"] != true {
		t.Errorf("the pointer is %v", p)
	}
	if _, p, ok := c.shown(open(t, c.addr)); ok {
		t.Errorf("a stranger sees %v", p)
	}
	for _, bad := range []record{{"type": "pointer"}, {"type": "pointer", "step_number": 4}, {"type": "pointer", "step_number": 0}, {"type": "pointer", "step_number": "2"}} {
		grace.post(c.path+"/messages", bad).refused(400, "step_number")
	}
	grace.post(c.path+"/messages", record{"type": "pointer", "step_number": 1, "hints": "yes"}).refused(400, "hints")
	lin.post(c.path+"/messages", record{"type": "pointer", "step_number": 1}).refused(403, "facilitators")
	copied := c.admin.post(c.path+"/copy", nil).object().text("id")
	if _, p, _ := (&class{t: t, path: "/codelabs/" + copied}).shown(c.admin); p != nil {
		t.Errorf("the copy has the pointer %v", p)
	}
	boss.acked(record{"type": "pointer", "step_number": nil}, "n")
	if m := a.next("pointer"); m["step_number"] != nil {
		t.Errorf("received %v", m)
	}
	if _, p, _ := c.shown(lin.browser); p != nil {
		t.Errorf("the pointer is still %v", p)
	}
}

func TestAPointerIsRemovedWithItsStepAndAtTheEnd(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	s := lin.connect(c.id, "")
	point := func(step int) {
		t.Helper()
		c.admin.post(c.path+"/messages", record{"type": "pointer", "step_number": step}).want(200)
		if m := s.next("pointer"); m.number("step_number") != step {
			t.Errorf("received %v", m)
		}
	}
	steps := func(ids ...string) answer {
		t.Helper()
		var out []record
		for _, id := range ids {
			out = append(out, record{"id": id, "title": "t", "content_markdown": ""})
		}
		return c.admin.put(c.path+"/steps", record{"steps": out}).want(200)
	}
	point(2)
	steps("", c.steps[0], c.steps[1])
	if m := s.next("pointer"); m.number("step_number") != 3 {
		t.Errorf("after its step moved, received %v", m)
	}
	made := steps(c.steps[0])
	if m := s.next("pointer"); m["step_number"] != nil {
		t.Errorf("after its step was removed, received %v", m)
	}
	if _, p, _ := c.shown(c.admin); p != nil {
		t.Errorf("the pointer is still %v", p)
	}
	// The response has the tag of the new revision, so the next edit succeeds.
	if tag := c.admin.get(c.path).header.Get("ETag"); tag != made.header.Get("ETag") {
		t.Errorf("the edit returned the tag %s, a read %s", made.header.Get("ETag"), tag)
	}
	point(1)
	ended := c.admin.post(c.path+"/end", nil).object()
	if m := s.next("pointer"); m["step_number"] != nil {
		t.Errorf("after the end, received %v", m)
	}
	if _, p, _ := c.shown(c.admin); p != nil || ended["pointer"] != nil {
		t.Errorf("after the end, the pointer is %v, the response %v", p, ended)
	}
}

func TestAMessageAmongFacilitatorsReachesOnlyFacilitators(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	grace, alan := facilitator(t, c.addr, "Grace"), facilitator(t, c.addr, "Alan")
	one, two, other, a := grace.connect(c.id, ""), grace.connect(c.id, ""), alan.connect(c.id, ""), lin.connect(c.id, "")
	one.acked(record{"type": "dm", "target_id": "facilitator", "message": "Lin is lost"}, "n")
	for _, s := range []*socket{two, other} {
		if m := s.next("dm"); m.text("message") != "Lin is lost" || m.text("sender") != "Grace" {
			t.Errorf("received %v", m)
		}
	}
	for _, b := range []*browser{grace, alan} {
		if h := b.get(c.path + "/chat").list(); len(h) != 1 || h[0].text("msg_type") != "dm" || h[0].text("target_id") != "facilitator" {
			t.Errorf("a facilitator sees %v", h)
		}
	}
	one.acked(record{"type": "chat", "message": "end"}, "e")
	a.untilChat("end")
	again := lin.connect(c.id, "?since=0")
	again.untilChat("end")
	if h := lin.get(c.path + "/chat").list(); a.count("dm")+again.count("dm") != 0 || len(h) != 1 {
		t.Errorf("an attendee received %v, %v and sees %v", a.kinds(), again.kinds(), h)
	}
}

func TestAJoinCodeLeadsToItsCodelab(t *testing.T) {
	t.Parallel()
	c := newClassOn(t, common.get(t).Addr(), record{"title": "Closed", "description": "D", "author": "Ada", "is_public": false})
	code := c.meta().text("join_code")
	c.join(open(t, c.addr), record{"name": "Lin", "join_code": code})
	b := open(t, c.addr)
	for _, typed := range []string{code, strings.ToLower(code), code[:3] + "-" + code[3:], "%20" + code[:2] + "%20%E2%80%93" + code[2:] + "%20"} {
		got := b.get("/join/" + typed).object()
		if got.text("id") != c.id || got.text("title") != "Closed" || got.text("description") != "D" || got.text("author") != "Ada" ||
			got["is_public"] != false || got["registration_open"] != true || got.number("attendees") != 1 {
			t.Errorf("%s leads to %v", typed, got)
		}
	}
	b.get("/join/ABCDEF").refused(http.StatusNotFound)
	b.get("/join/---").refused(http.StatusNotFound)
	c.admin.post(c.path+"/end", nil).want(200)
	if got := b.get("/join/" + code).object(); got["registration_open"] != false {
		t.Errorf("after the end, a lookup of the join code returned %v", got)
	}
}

func TestJoinCodesHaveTheirOwnLimit(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.JoinsFrom, cfg.Limits.JoinsAtOnce, cfg.Limits.ReadsPerMinute = 1, 3, 2
	cfg.Server.TrustedProxies = []string{"127.0.0.0/8"}
	addr := startServer(t, cfg).Addr()
	b := open(t, addr)
	b.from = "203.0.113.7"
	for range 3 {
		b.get("/join/ABCDEF").refused(http.StatusNotFound)
	}
	// One more lookup is allowed each second, so a busy machine can need more of them.
	var a answer
	eventual(t, "a lookup is refused", func() bool {
		a = b.get("/join/ABCDEF")
		return a.status != http.StatusNotFound
	})
	if a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") == "" {
		t.Errorf("the last lookup returned %d with Retry-After %q", a.status, a.header.Get("Retry-After"))
	}
	b.get("/app").want(200) // lookups and other reads have separate limits
	neighbour := open(t, addr)
	neighbour.from = "203.0.113.8"
	neighbour.get("/join/ABCDEF").refused(http.StatusNotFound)
}
