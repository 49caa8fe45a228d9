package acceptance

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The keys of tasks, as clients compute them: sha256("One") and so on.
const (
	taskOne   = "8b12507783d5beca"
	taskTwo   = "94a72c074cfe5747"
	taskThree = "926f52d1c1e19c0c"
)

// tasks creates two steps with task lists and returns their ids.
func (c *class) tasks() (ids []string) {
	c.t.Helper()
	c.admin.put(c.path+"/steps", record{"steps": []record{
		{"title": "one", "content_markdown": "- [ ] One\n- [x] **Two**\n- [ ] One\n\n```notes\n- [ ] Three\n```\n"},
		{"title": "two", "content_markdown": "- [ ] Three\n"},
	}}).want(200)
	return texts(c.readSteps(), "id")
}

func tick(step, item string, done bool) record {
	return record{"type": "tick", "step_id": step, "item": item, "done": done}
}

// ticksOf returns the attendee's own ticks.
func (c *class) ticksOf(p *person) []string {
	c.t.Helper()
	return texts(p.get(c.path+"/ticks").list(), "item")
}

func TestTicksArePrivateAndCountedForFacilitators(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	steps := c.tasks()
	lin, max, ada := c.attendee("Lin"), c.attendee("Max"), c.attendee("Ada")
	one, two, other, boss := lin.connect(c.id, ""), lin.connect(c.id, ""), max.connect(c.id, ""), c.admin.connect(c.id, "")
	one.acked(tick(steps[0], taskOne+"-2", true), "1")
	if m := two.next("tick"); m.text("step_id") != steps[0] || m.text("item") != taskOne+"-2" || m["done"] != true {
		t.Errorf("received %v", m)
	}
	one.acked(tick(steps[1], taskThree, true), "2")
	one.acked(tick(steps[0], taskTwo, true), "3")
	one.acked(tick(steps[0], taskOne, true), "4")
	one.acked(tick(steps[0], taskOne, false), "5")
	if got := c.ticksOf(lin); !slices.Equal(got, []string{taskTwo, taskOne + "-2", taskThree}) {
		t.Errorf("Lin sees %q", got)
	}
	if got := c.ticksOf(max); len(got) != 0 {
		t.Errorf("Max sees %q", got)
	}
	record1 := func(b *browser) string { return fmt.Sprint(b.get(c.path + "/attendees/" + lin.id).object()["ticks"]) }
	if a, own, others := record1(c.admin), record1(lin.browser), record1(max.browser); a != "map[done:3 of:4]" || own != a || others != "<nil>" {
		t.Errorf("facilitators see %s, Lin %s, others %s", a, own, others)
	}
	listed := func(b *browser) (out []string) {
		for _, a := range b.get(c.path + "/attendees").list() {
			out = append(out, fmt.Sprint(a.text("name"), a["ticks"]))
		}
		return out
	}
	if got := fmt.Sprint(listed(c.admin), listed(lin.browser)); got != "[Linmap[done:3 of:4] Maxmap[done:0 of:4] Adamap[done:0 of:4]] [Linmap[done:3 of:4] Max<nil> Ada<nil>]" {
		t.Errorf("the lists are %s", got)
	}

	counts := func() (out []string) {
		for _, s := range c.admin.get(c.path + "/overview").object()["steps"].([]any) {
			ticks, _ := s.(map[string]any)["ticks"].([]any)
			out = append(out, fmt.Sprint(len(ticks)))
			for _, x := range ticks {
				out = append(out, fmt.Sprint(x.(map[string]any)["text"], x.(map[string]any)["done"]))
			}
		}
		return out
	}
	max.post(c.path+"/messages", tick(steps[0], taskOne, true)).want(200)
	if got := counts(); !slices.Equal(got, []string{"0", "0"}) {
		t.Errorf("for two people, the overview has %q", got)
	}
	ada.post(c.path+"/messages", tick(steps[0], taskOne+"-2", true)).want(200)
	if got := counts(); !slices.Equal(got, []string{"3", "One1", "Two1", "One2", "0"}) {
		t.Errorf("the overview has %q", got)
	}

	// Nobody else's client receives a tick.
	one.acked(record{"type": "chat", "message": "end"}, "e")
	for name, s := range map[string]*socket{"Max": other, "a facilitator": boss} {
		want := map[string]int{"Max": 1}[name] // Max has ticked one task himself
		if s.untilChat("end"); s.count("tick") != want {
			t.Errorf("%s received %v", name, s.kinds())
		}
	}
	if one.count("tick") != 0 {
		t.Errorf("the sender received %v", one.kinds())
	}

	// A removed task loses its ticks, even in cached records.
	c.admin.put(c.path+"/steps", record{"steps": []record{
		{"id": steps[0], "title": "one", "content_markdown": "- [ ] Four\n- [ ] One\n"}, {"id": steps[1], "title": "two", "content_markdown": "- [ ] Three\n"},
	}}).want(200)
	if got := c.ticksOf(lin); !slices.Equal(got, []string{taskThree}) {
		t.Errorf("after an edit, Lin sees %q", got)
	}
	if got := fmt.Sprint(listed(c.admin)); got != "[Linmap[done:1 of:3] Maxmap[done:1 of:3] Adamap[done:0 of:3]]" {
		t.Errorf("after an edit, the list is %s", got)
	}
	for n := 1; n <= 2; n++ { // other steps, without attendees
		c.admin.put(c.path+"/steps", record{"steps": []record{{"title": "other", "content_markdown": strings.Repeat("- [ ] Five\n", n)}}}).want(200)
		all := fmt.Sprintf("map[done:0 of:%d]", n)
		if got := listed(c.admin); !slices.Equal(got, []string{"Lin" + all, "Max" + all, "Ada" + all}) {
			t.Errorf("with %d tasks in other steps, the list is %q", n, got)
		}
	}
}

func TestInvalidTicksAreRefused(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	steps := c.tasks()
	lin := c.attendee("Lin")
	first := lin.post(c.path+"/messages", tick(steps[0], taskOne, true)).object()
	if again := lin.post(c.path+"/messages", tick(steps[0], taskOne, true)).object(); again.number("seq") > first.number("seq") {
		t.Errorf("the repeated tick has a new seq: %v, %v", first, again)
	}
	live, boss := lin.connect(c.id, ""), c.admin.connect(c.id, "")
	for i, bad := range []record{
		tick(steps[0], taskThree, true), tick(steps[0], taskOne+"-3", true), tick(lin.id, taskOne, true), tick("", taskOne, true), tick(steps[0], "", true),
		{"type": "tick", "step_id": steps[0], "item": taskOne}, {"type": "tick", "step_id": steps[0], "item": 1, "done": true}, {"type": "tick", "step_id": steps[0], "item": taskOne, "done": "yes"},
	} {
		if m := live.ask(bad, fmt.Sprint("b", i)); m.kind() != "error" {
			t.Errorf("%v was answered with %v", bad, m)
		}
	}
	lin.post(c.path+"/messages", tick(steps[0], taskThree, true)).refused(404, "no task")
	if m := boss.ask(tick(steps[0], taskOne, true), "a"); m.kind() != "error" {
		t.Errorf("the tick of a facilitator was answered with %v", m)
	}
	c.admin.get(c.path + "/ticks").want(403)
	if got := c.ticksOf(lin); !slices.Equal(got, []string{taskOne}) {
		t.Errorf("the ticked tasks are %q", got)
	}
	c.admin.post(c.path+"/end", record{"ended": true}).want(200)
	lin.post(c.path+"/messages", tick(steps[0], taskOne, false)).refused(409)
}

// An export does not reveal to facilitators who ticked which task.
func TestTicksAreExportedOnlyForTheirOwner(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	steps := c.tasks()
	lin, max := c.attendee("Lin"), c.attendee("Max")
	for _, p := range []*person{lin, max} {
		p.post(c.path+"/messages", tick(steps[0], taskTwo, true)).want(200)
	}
	export := c.path + "/attendees/" + lin.id + "/export"
	own := lin.takeOut(export).records("ticks")
	if len(own) != 1 || own[0].text("item") != taskTwo || own[0].text("text") != "Two" || own[0].number("step_number") != 1 || own[0].text("step_title") != "one" {
		t.Errorf("the export for Lin has %v", own)
	}
	if of := c.admin.takeOut(export).records("ticks"); len(of) != 0 {
		t.Errorf("the export for a facilitator has %v", of)
	}
	if _, there := c.admin.takeOut(c.path + "/export/all").held["ticks.json"]; there {
		t.Error("the export of the whole workshop contains ticks")
	}
}
