package acceptance

import (
	"slices"
	"strings"
	"testing"
)

// asks opens a help request of an attendee and returns its id.
func (c *class) asks(p *person) string {
	c.t.Helper()
	p.post(c.path+"/help", record{"step_number": 1}).want(200)
	return p.get(c.path + "/help").list()[0].text("id")
}

func TestAReleasedRequestReturnsToItsOldPlace(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	asa := c.assistant("asa-releases")
	lin, max := c.attendee("Lin"), c.attendee("Max")
	first, second := c.asks(lin), c.asks(max)
	own, boss := lin.connect(c.id, ""), c.admin.connect(c.id, "")
	c.admin.post(c.path+"/help/"+first+"/release", nil).refused(409)
	if claimed := asa.post(c.path+"/help/"+first+"/claim", nil).want(200).object(); claimed.text("person") != asa.id {
		t.Errorf("the claim is %v", claimed)
	}
	lin.post(c.path+"/help/"+first+"/release", nil).refused(403)
	c.admin.post(c.path+"/help/"+first+"/release", record{"reason": strings.Repeat("x", 201)}).refused(400, "reason")
	c.admin.post(c.path+"/help/"+unknownID+"/release", nil).refused(404)
	released := c.admin.post(c.path+"/help/"+first+"/release", record{"reason": "could not find you"}).want(200).object()
	if released.text("status") != "pending" || released["claimed_by"] != nil || released["person"] != nil {
		t.Errorf("the released request is %v", released)
	}
	for _, s := range []*socket{own, boss} {
		if m := s.next("help_released"); m.text("id") != first || m.text("attendee_id") != lin.id || m.text("attendee_name") != "Lin" || m.text("reason") != "could not find you" {
			t.Errorf("received %v", m)
		}
	}
	queue := c.admin.get(c.path + "/help").list()
	if len(queue) != 2 || queue[0].text("id") != first || queue[1].text("id") != second {
		t.Errorf("the queue is %v", queue)
	}
	for p, place := range map[*person]float64{lin: 1, max: 2} {
		if got := p.get(c.path + "/help").list()[0]["position"]; got != place {
			t.Errorf("%s is at %v, want %v", p.id, got, place)
		}
	}
	if !slices.Contains(c.audited(), "help_release") {
		t.Error("the release is not audited")
	}
}

func TestOneMessageCanAnswerSeveralRequests(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max, zoe := c.attendee("Lin"), c.attendee("Max"), c.attendee("Zoe")
	a, b, other := c.asks(lin), c.asks(max), c.asks(zoe)
	own, others := lin.connect(c.id, ""), zoe.connect(c.id, "")
	answer := record{"help_ids": []string{a, b, a}, "message": "Type **make** once more."}
	lin.post(c.path+"/help/answer", answer).refused(403)
	for what, bad := range map[string]record{
		"message":  {"help_ids": []string{a}},
		"help_ids": {"help_ids": []string{}, "message": "m"},
		"1 to 200": {"help_ids": slices.Repeat([]string{a}, 201), "message": "m"},
	} {
		c.admin.post(c.path+"/help/answer", bad).refused(400, what)
	}
	c.admin.post(c.path+"/help/answer", record{"help_ids": []string{a}, "message": strings.Repeat("x", 2001)}).refused(400, "message")
	c.admin.post(c.path+"/help/answer", record{"help_ids": []string{a, unknownID}, "message": "m"}).refused(404)
	if n := len(c.admin.get(c.path + "/help").list()); n != 3 {
		t.Fatalf("%d requests are open, want 3", n)
	}
	for range 2 { // a repetition changes nothing
		c.admin.post(c.path+"/help/answer", answer).want(200)
	}
	if m := own.next("help_resolved"); m.text("message") != answer["message"] || m.text("id") != a {
		t.Errorf("received %v", m)
	}
	if queue := c.admin.get(c.path + "/help").list(); len(queue) != 1 || queue[0].text("id") != other {
		t.Errorf("the queue is %v", queue)
	}
	for _, p := range []*person{lin, max} {
		if mine := p.get(c.path + "/help").list(); mine[0].text("status") != "resolved" || mine[0].text("answer") != answer["message"] {
			t.Errorf("the attendees see %v", mine)
		}
	}
	zoe.post(c.path+"/messages", record{"type": "chat", "message": "end"}).want(200)
	for s, want := range map[*socket]int{own: 1, others: 0} {
		if s.untilChat("end"); s.count("help_resolved") > want {
			t.Errorf("received %v", s.kinds())
		}
	}
}

func TestFacilitatorsSeeThePlaceOfAnAttendee(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.join(open(t, c.addr), record{"name": "Lin", "code": "4711", "place": "  row 4 "})
	max := c.attendee("Max")
	boss, others := c.admin.connect(c.id, ""), max.connect(c.id, "")
	path := c.path + "/attendees/" + lin.id
	place := func(b *browser) any { return b.get(path).want(200).object()["place"] }
	if place(c.admin) != "row 4" || place(lin.browser) != "row 4" || place(max.browser) != nil {
		t.Errorf("facilitators see place %v, the attendee %v, others %v", place(c.admin), place(lin.browser), place(max.browser))
	}
	c.asks(lin)
	if m := boss.next("help_request"); m.text("place") != "row 4" {
		t.Errorf("received %v", m)
	}
	if got := lin.put(path, record{"place": "by the window"}).want(200).object().text("place"); got != "by the window" {
		t.Errorf("the response has the place %q", got)
	}
	if m := boss.next("attendee_placed"); m.text("attendee_id") != lin.id || m.text("place") != "by the window" {
		t.Errorf("received %v", m)
	}
	if h := c.admin.get(c.path + "/help").list()[0]; h.text("place") != "by the window" {
		t.Errorf("the queue has %v", h)
	}
	lin.put(path, record{"place": strings.Repeat("x", 41)}).refused(400, "place")
	lin.put(path, record{"place": "a\nb"}).refused(400, "place")
	lin.put(path, record{}).refused(400, "place")
	lin.put(path, record{"place": "here", "name": "Grace"}).refused(403)
	lin.put(path, record{"muted": false}).refused(403)
	max.put(path, record{"place": "elsewhere"}).refused(403)
	c.admin.put(path, record{"place": "elsewhere"}).refused(403)
	// An attendee who joins again keeps the place, unless the request contains another.
	c.join(open(t, c.addr), record{"name": "Lin", "code": "4711"})
	if place(c.admin) != "by the window" {
		t.Errorf("after a rejoin, the place is %v", place(c.admin))
	}
	c.join(open(t, c.addr), record{"name": "Lin", "code": "4711", "place": "row 1"})
	if place(c.admin) != "row 1" {
		t.Errorf("after a rejoin with another place, it is %v", place(c.admin))
	}
	lin.put(path, record{"place": ""}).want(200)
	if place(c.admin) != nil {
		t.Errorf("after its removal, the place is %v", place(c.admin))
	}
	max.post(c.path+"/messages", record{"type": "chat", "message": "end"}).want(200)
	if others.untilChat("end"); others.count("attendee_placed") > 0 {
		t.Errorf("others received %v", others.kinds())
	}
}

func TestMessagesOfFacilitatorsContainTheirPerson(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	asa, lin := c.assistant("asa-speaks"), c.attendee("Lin")
	listener := lin.connect(c.id, "")
	asa.post(c.path+"/messages", record{"type": "broadcast", "message": "from Asa"}).want(200)
	if m := listener.next("broadcast"); m.text("sender_id") != "facilitator" || m.text("person") != asa.id {
		t.Errorf("received %v", m)
	}
	asa.post(c.path+"/messages", record{"type": "dm", "target_id": lin.id, "message": "psst"}).want(200)
	if m := listener.next("dm"); m.text("person") != asa.id {
		t.Errorf("received %v", m)
	}
	asa.post(c.path+"/messages", record{"type": "pointer", "step_number": 2}).want(200)
	if m := listener.next("pointer"); m.text("person") != asa.id || m.text("by") != "Asa" {
		t.Errorf("received %v", m)
	}
	lin.post(c.path+"/messages", record{"type": "chat", "message": "from Lin"}).want(200)
	if m := listener.next("chat"); m["person"] != nil {
		t.Errorf("received %v", m)
	}
	for _, m := range lin.get(c.path + "/chat").list() {
		want := any(asa.id)
		if m.text("message") == "from Lin" {
			want = nil
		}
		if m["person"] != want {
			t.Errorf("the history has %v", m)
		}
	}
	if _, p, _ := c.shown(lin.browser); p.text("person") != asa.id {
		t.Errorf("the pointer is %v", p)
	}
	thread := asa.post(c.path+"/inline-comments", c.anchor(c.steps[1], 3, 9, "hi")).want(200).object()
	first := thread["messages"].([]any)[0].(map[string]any)
	if first["person"] != asa.id {
		t.Errorf("the comment is %v", first)
	}
}

// If helpers are disabled, all their claims and offers are released, even if other people have made
// claims later.
func TestTheClaimsOfDisabledHelpersWaitAgain(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	offers, claims := c.helper(), c.helper()
	lin, max := c.attendee("Lin"), c.attendee("Max")
	claims.post(c.path+"/help/"+c.asks(max)+"/claim", nil).want(200)
	offers.post(c.path+"/help", record{"attendee_id": lin.id}).want(200) // this offer is the last claim
	for i, out := range []*leader{offers, claims} {
		c.admin.put("/admin/people/"+out.id, record{"disabled": true}).want(200)
		waiting := 0
		for _, h := range c.admin.get(c.path + "/help").list() {
			if h.text("status") == "pending" && h["person"] == nil {
				waiting++
			}
		}
		if waiting != i+1 {
			t.Errorf("%d requests wait after %d helpers were disabled", waiting, i+1)
		}
	}
}
