package acceptance

import (
	"slices"
	"testing"
)

// pulseOf returns the pulse in an attendee's record, as this browser reads it.
func (c *class) pulseOf(b *browser, id string) record {
	c.t.Helper()
	for _, a := range b.get(c.path + "/attendees").list() {
		if a.text("id") == id {
			p, _ := a["pulse"].(map[string]any)
			return p
		}
	}
	c.t.Fatalf("there is no attendee %s", id)
	return nil
}

func TestAPulseReachesFacilitatorsAndTheSendersOtherTabs(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	one, two, other, boss := lin.connect(c.id, ""), lin.connect(c.id, ""), max.connect(c.id, ""), c.admin.connect(c.id, "")
	one.acked(record{"type": "step_progress", "step_number": 2}, "s")
	one.acked(record{"type": "pulse", "state": "stuck"}, "p")
	for _, s := range []*socket{two, boss} {
		m := s.next("pulse")
		if m.text("attendee_id") != lin.id || m.text("attendee_name") != "Lin" || m.text("state") != "stuck" || m.number("step_number") != 2 {
			t.Errorf("received %v", m)
		}
	}
	for name, b := range map[string]*browser{"the facilitator": c.admin, "Lin": lin.browser} {
		if p := c.pulseOf(b, lin.id); p.text("state") != "stuck" || p.number("step_number") != 2 || p.text("at") == "" {
			t.Errorf("%s sees %v", name, p)
		}
	}
	o := c.admin.get(c.path + "/overview").object()
	second := record(o["steps"].([]any)[1].(map[string]any))
	for _, p := range []any{o["pulse"], second["pulse"]} {
		if p := record(p.(map[string]any)); p.number("stuck") != 1 || p.number("fine")+p.number("slow") != 0 {
			t.Errorf("the overview counts %v", p)
		}
	}
	boss.until("a summary", func(m message) bool {
		p, _ := m["pulse"].(map[string]any)
		return m.kind() == "progress_summary" && p["stuck"] == 1.0
	})
	if p := c.pulseOf(max.browser, lin.id); p != nil {
		t.Errorf("another attendee sees %v", p)
	}
	// Moving to another step ends the pulse, which the same message reports.
	one.acked(record{"type": "step_progress", "step_number": 3}, "m")
	for _, s := range []*socket{two, boss} {
		if m := s.next("pulse"); m["state"] != nil || m.number("step_number") != 3 {
			t.Errorf("received %v", m)
		}
	}
	if p := c.pulseOf(c.admin, lin.id); p != nil {
		t.Errorf("the record still has the pulse %v", p)
	}
	one.acked(record{"type": "chat", "message": "end"}, "e")
	other.untilChat("end")
	// The server sends attendees a summary every few seconds, and none without a change.
	if other.count("progress_summary") == 0 {
		other.next("progress_summary")
	}
	for _, m := range other.received {
		if m.kind() == "progress_summary" && m["pulse"] != nil {
			t.Errorf("another attendee received %v", m)
		}
	}
	if other.count("pulse")+one.count("pulse") != 0 {
		t.Errorf("another attendee received %v, the sender %v", other.kinds(), one.kinds())
	}
}

func TestARepeatedPulseCausesNoEvent(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	boss := c.admin.connect(c.id, "")
	first := lin.post(c.path+"/messages", record{"type": "pulse", "state": "slow", "ref": "r"}).object()
	lin.post(c.path+"/messages", record{"type": "pulse", "state": "slow"}).want(200)
	lin.post(c.path+"/messages", record{"type": "pulse", "state": nil}).want(200)
	lin.post(c.path+"/messages", record{"type": "pulse", "state": nil}).want(200)
	again := lin.post(c.path+"/messages", record{"type": "pulse", "state": "slow", "ref": "r"}).object()
	if first.number("seq") != again.number("seq") {
		t.Errorf("the same ref is acked with %v and %v", first, again)
	}
	lin.post(c.path+"/messages", record{"type": "chat", "message": "end"}).want(200)
	boss.untilChat("end")
	var states []any
	for _, m := range boss.received {
		if m.kind() == "pulse" {
			states = append(states, m["state"])
		}
	}
	if !slices.Equal(states, []any{"slow", nil}) {
		t.Errorf("received the states %v", states)
	}
}

func TestInvalidPulsesAreRefused(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	c.admin.post(c.path+"/messages", record{"type": "pulse", "state": "fine"}).refused(403, "attendees")
	for _, bad := range []record{{"type": "pulse"}, {"type": "pulse", "state": "bored"}, {"type": "pulse", "state": 1}, {"type": "pulse", "state": ""}} {
		lin.post(c.path+"/messages", bad).refused(400, "state")
	}
	boss := c.admin.connect(c.id, "")
	if e := boss.ask(record{"type": "pulse", "state": "fine"}, "p"); e.kind() != "error" {
		t.Errorf("the pulse of a facilitator was answered with %v", e)
	}
	c.admin.post(c.path+"/end", nil).want(200)
	lin.post(c.path+"/messages", record{"type": "pulse", "state": "fine"}).refused(409)
}

func TestAPulseIsRemovedWithItsStepOrAttendee(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	for _, p := range []*person{lin, max} {
		p.post(c.path+"/messages", record{"type": "step_progress", "step_number": 2}).want(200)
		p.post(c.path+"/messages", record{"type": "pulse", "state": "fine"}).want(200)
	}
	a, boss := lin.connect(c.id, ""), c.admin.connect(c.id, "")
	step := func(id, title string) record { return record{"id": id, "title": title, "content_markdown": ""} }
	// The attendee's step stays, and a new step is inserted before it.
	c.admin.put(c.path+"/steps", record{"steps": []record{step("", "new"), step(c.steps[0], "one"), step(c.steps[1], "two")}}).want(200)
	if p := c.pulseOf(c.admin, lin.id); p.text("state") != "fine" || p.number("step_number") != 3 {
		t.Errorf("after its step moved, the pulse is %v", p)
	}
	c.admin.delete(c.path + "/attendees/" + max.id).want(204)
	if p := record(c.admin.get(c.path + "/overview").object()["pulse"].(map[string]any)); p.number("fine") != 1 {
		t.Errorf("with one of two removed, the overview counts %v", p)
	}
	c.admin.put(c.path+"/steps", record{"steps": []record{step(c.steps[0], "one")}}).want(200)
	for _, s := range []*socket{a, boss} {
		if m := s.next("pulse"); m["state"] != nil || m.text("attendee_id") != lin.id {
			t.Errorf("received %v", m)
		}
	}
	if p := c.pulseOf(c.admin, lin.id); p != nil {
		t.Errorf("the record still has the pulse %v", p)
	}
}
