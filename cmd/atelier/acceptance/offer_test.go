package acceptance

import (
	"slices"
	"strings"
	"testing"
)

func TestHelpIsOfferedWithoutARequest(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	grace, alan := facilitator(t, c.addr, "Grace"), facilitator(t, c.addr, "Alan")
	a, b, boss := lin.connect(c.id, ""), max.connect(c.id, ""), alan.connect(c.id, "")
	lin.post(c.path+"/messages", record{"type": "step_progress", "step_number": 2}).want(200)
	if got := grace.post(c.path+"/help", record{"attendee_id": lin.id, "message": "I come over"}).object().text("status"); got != "ok" {
		t.Errorf("the status is %q, want ok", got)
	}
	for _, s := range []*socket{a, boss} {
		m := s.next("help_claimed")
		if m.text("attendee_id") != lin.id || m.text("claimed_by") != "Grace" || m.number("step_number") != 2 || m.text("message") != "I come over" {
			t.Errorf("received %v", m)
		}
	}
	own := lin.get(c.path + "/help").list()
	if len(own) != 1 || own[0].text("status") != "in_progress" || own[0].text("claimed_by") != "Grace" || own[0].text("message") != "I come over" || own[0]["position"] != nil {
		t.Errorf("the attendee sees %v", own)
	}
	grace.post(c.path+"/help", record{"attendee_id": lin.id}).want(200)
	alan.post(c.path+"/help", record{"attendee_id": lin.id}).refused(409, "Grace")
	if n := len(c.admin.get(c.path + "/help").list()); n != 1 {
		t.Errorf("%d requests are open, want 1", n)
	}
	lin.post(c.path+"/help/"+own[0].text("id")+"/resolve", nil).want(200)
	grace.post(c.path+"/help", record{"attendee_id": lin.id, "step_number": 3}).want(200)
	if queue := c.admin.get(c.path + "/help").list(); len(queue) != 1 || queue[0].number("step_number") != 3 {
		t.Errorf("the queue is %v", queue)
	}
	b.send(record{"type": "chat", "message": "end"})
	for _, s := range []*socket{a, b, boss} {
		s.untilChat("end")
		if s.count("help_request") != 0 || s == b && s.count("help_claimed") != 0 {
			t.Errorf("received %v", s.kinds())
		}
	}
	if got := c.audited(); !slices.Contains(got, "help_offer") || slices.Contains(got, "help_request") {
		t.Errorf("the audited actions are %v", got)
	}
}

func TestAnOfferClaimsTheWaitingRequest(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	lin.post(c.path+"/help", record{"step_number": 3, "message": "no idea"}).want(200)
	id := lin.get(c.path + "/help").list()[0].text("id")
	facilitator(t, c.addr, "Grace").post(c.path+"/help", record{"attendee_id": lin.id}).want(200)
	if q := c.admin.get(c.path + "/help").list(); len(q) != 1 || q[0].text("id") != id || q[0].text("status") != "in_progress" ||
		q[0].text("claimed_by") != "Grace" || q[0].number("step_number") != 3 || q[0].text("message") != "no idea" {
		t.Errorf("the queue is %v", q)
	}
}

func TestOnlyFacilitatorsOfferHelp(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	c.admin.post(c.path+"/help", record{"step_number": 1}).refused(400, "attendee_id")
	c.admin.post(c.path+"/help", record{"attendee_id": unknownID}).refused(404)
	c.admin.post(c.path+"/help", record{"attendee_id": lin.id, "step_number": 4}).refused(400, "step_number")
	c.admin.post(c.path+"/help", record{"attendee_id": lin.id, "message": strings.Repeat("ä", 501)}).refused(400, "message")
	max.post(c.path+"/help", record{"attendee_id": lin.id, "step_number": 1}).refused(403)
	lin.post(c.path+"/help", record{"message": "where?"}).refused(400, "step_number")
	// The browser has both roles. A request without an attendee_id acts as the attendee.
	both := c.join(facilitator(t, c.addr, "Grace"), record{"name": "Both"})
	both.post(c.path+"/help", record{"step_number": 2}).want(200)
	if q := c.admin.get(c.path + "/help").list(); len(q) != 1 || q[0].text("attendee_id") != both.id {
		t.Errorf("the queue is %v", q)
	}
}

func TestARequestHasItsMessageAndItsPositionInTheQueue(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	boss := c.admin.connect(c.id, "")
	// An offer does not wait in the queue.
	c.admin.post(c.path+"/help", record{"attendee_id": c.attendee("Zoe").id}).want(200)
	var people []*person
	for _, name := range []string{"Lin", "Max", "Eve"} {
		p := c.attendee(name)
		p.post(c.path+"/help", record{"step_number": 1, "message": "I am " + name}).want(200)
		if m := boss.next("help_request"); m.text("message") != "I am "+name {
			t.Errorf("received %v", m)
		}
		people = append(people, p)
	}
	lin, max, eve := people[0], people[1], people[2]
	for i, p := range people {
		if h := p.get(c.path + "/help").list()[0]; h.number("position") != i+1 || h["wait_seconds"] != nil || h.text("message") != "I am "+p.name {
			t.Errorf("%s sees %v", p.name, h)
		}
	}
	before := eve.get(c.path + "/help").header.Get("ETag")
	c.admin.post(c.path+"/help/"+max.get(c.path + "/help").list()[0].text("id")+"/claim", nil).want(200)
	if h := eve.get(c.path+"/help", header("If-None-Match", before)).list()[0]; h.number("position") != 2 || h["wait_seconds"] == nil {
		t.Errorf("with one of three requests claimed, the last attendee sees %v", h)
	}
	if h := max.get(c.path + "/help").list()[0]; h["position"] != nil || h["wait_seconds"] != nil {
		t.Errorf("the attendee of a claimed request sees %v", h)
	}
	// A repeated request keeps its place. It also keeps its message, unless the repetition
	// contains a new one.
	lin.post(c.path+"/help", record{"step_number": 2}).want(200)
	if h := lin.get(c.path + "/help").list()[0]; h.number("position") != 1 || h.text("message") != "I am Lin" || h.number("step_number") != 2 {
		t.Errorf("after asking again, the request is %v", h)
	}
	for _, h := range c.admin.get(c.path + "/help").list() {
		if _, there := h["position"]; there {
			t.Errorf("the queue of facilitators has %v", h)
		}
	}
	lin.post(c.path+"/help", record{"step_number": 1, "message": strings.Repeat("ä", 501)}).refused(400, "message")
	lin.post(c.path+"/help", record{"step_number": 1, "message": strings.Repeat("ä", 500)}).want(200)
}
