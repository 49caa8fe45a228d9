package acceptance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// rehearses starts a rehearsal, and waits until a simulated attendee has registered.
func (c *class) rehearses(people int, more record) (first record) {
	c.t.Helper()
	body := record{"people": people, "minutes": 10}
	for k, v := range more {
		body[k] = v
	}
	c.admin.post(c.path+"/rehearsal", body).want(201)
	for deadline := time.Now().Add(testTimeout); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if all := c.simulated(); len(all) > 0 {
			return all[0]
		}
	}
	c.t.Fatal("no simulated attendee joined")
	return nil
}

func (c *class) simulated() []record {
	c.t.Helper()
	return slices.DeleteFunc(c.admin.get(c.path+"/attendees").list(), func(a record) bool { return a["simulated"] != true })
}

// rehearsalOver verifies that a rehearsal has left no data.
func (c *class) rehearsalOver() {
	c.t.Helper()
	if m := c.meta(); m["rehearsal"] != nil {
		c.t.Errorf("the rehearsal still runs: %v", m["rehearsal"])
	}
	if all := c.simulated(); len(all) > 0 {
		c.t.Errorf("simulated attendees left: %v", all)
	}
	// Another node receives changes of connections slightly later.
	eventual(c.t, "no simulated attendee is connected", func() bool {
		return len(c.admin.get(c.path + "/presence").object()["attendee_ids"].([]any)) == 0
	})
}

func TestARehearsalAddsSimulatedAttendees(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	boss := c.admin.connect(c.id, "")
	c.admin.delete(c.path + "/rehearsal").refused(404)
	for _, bad := range []record{{}, {"people": 5}, {"minutes": 5}, {"people": 0, "minutes": 5}, {"people": 61, "minutes": 5}, {"people": 5, "minutes": 61}} {
		c.admin.post(c.path+"/rehearsal", bad).refused(400)
	}
	c.admin.post(c.path+"/registration", record{"open": false}).want(200)
	boss.next("codelab_changed")
	if m := c.meta(); m["rehearsal"] != nil {
		t.Errorf("before the start, the rehearsal is %v", m)
	}
	one := c.rehearses(1, nil)
	boss.next("codelab_changed")
	m, _ := c.meta()["rehearsal"].(map[string]any)
	if ends, err := time.Parse(time.RFC3339, fmt.Sprint(m["ends_at"])); err != nil || time.Until(ends) < 9*time.Minute || m["people"] != float64(1) {
		t.Errorf("the rehearsal is %v", m)
	}
	var seen []any
	if open(t, c.addr).get(c.path).into(&seen); strings.Contains(fmt.Sprint(seen), "rehearsal") {
		t.Errorf("others see %v", seen)
	}
	if joined := boss.next("attendee_joined"); !strings.Contains(fmt.Sprint(joined["attendee"]), one.text("id")) {
		t.Errorf("received %v", joined)
	}
	if ids := c.admin.get(c.path + "/presence").object()["attendee_ids"]; fmt.Sprint(ids) != fmt.Sprint([]any{one.text("id")}) {
		t.Errorf("the connected attendees are %v", ids)
	}
	c.admin.post(c.path+"/rehearsal", record{"people": 1, "minutes": 1}).refused(409, "already running")
	c.admin.delete(c.path + "/rehearsal").want(204)
	boss.next("codelab_changed")
	c.rehearsalOver()
	actions := c.audited()
	for _, want := range []string{"rehearsal_start", "rehearsal_end"} {
		if !slices.Contains(actions, want) {
			t.Errorf("the audit trail has %q", actions)
		}
	}
	for _, not := range []string{"attendee_register", "attendee_remove", "attendee_erase"} {
		if slices.Contains(actions, not) {
			t.Errorf("the audit trail has %q", actions)
		}
	}
}

func TestPeopleTakeTheNamesOfSimulatedAttendees(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	one := c.rehearses(1, nil)
	lin := c.attendee(one.text("name"))
	c.rehearsalOver()
	if got := c.admin.get(c.path + "/attendees/" + lin.id).object(); got.text("name") != one.text("name") || got["simulated"] != false {
		t.Errorf("the attendee who joined is %v", got)
	}

	// While people are connected, a rehearsal needs force. Real attendees can then have the names
	// of simulated ones.
	live := lin.connect(c.id, "")
	c.admin.post(c.path+"/rehearsal", record{"people": 1, "minutes": 1}).refused(409, "connected")
	one = c.rehearses(2, record{"force": true})
	max := c.attendee(one.text("name"))
	if got := c.admin.get(c.path + "/attendees/" + max.id).object().text("name"); got != one.text("name") {
		t.Errorf("the attendee who joined is %s", got)
	}
	if got := c.admin.get(c.path + "/attendees/" + one.text("id")).object().text("name"); got != one.text("name")+" 2" {
		t.Errorf("the simulated attendee is %s", got)
	}
	c.admin.post(c.path+"/attendees/"+one.text("id")+"/reset-pin", nil).refused(409, "simulated")
	live.next("codelab_changed")
	c.admin.post(c.path+"/end", nil).want(200)
	if all := c.simulated(); len(all) > 0 || c.meta()["rehearsal"] != nil {
		t.Errorf("after the end, the simulated attendees are %v", all)
	}
	if n := len(c.admin.get(c.path + "/attendees").list()); n != 2 {
		t.Errorf("%d people are left, want 2", n)
	}
	c.admin.post(c.path+"/rehearsal", record{"people": 1, "minutes": 1}).refused(409, "has ended")
}

// Data that leaves the server contains no simulated attendees. This includes tables, the summary,
// the list, certificates and webhooks.
func TestSimulatedAttendeesDoNotLeaveTheServer(t *testing.T) {
	t.Parallel()
	addr := privateServer(t).Addr()
	c := newClassOn(t, addr, record{})
	lin := c.attendee("Lin")
	r := newReceiver(t)
	c.hook(r, record{"events": []string{"attendee_registered", "workshop_ended"}})
	one := c.rehearses(1, record{"force": true})
	id := one.text("id")
	for _, path := range []string{"/export/attendance.csv", "/export/quizzes.csv", "/export/feedback.csv", "/export/polls.csv"} {
		if table := string(c.admin.get(c.path + path).want(200).body); strings.Contains(table, id) || path == "/export/attendance.csv" && !strings.Contains(table, lin.id) {
			t.Errorf("%s contains the simulated attendee %s", path, table)
		}
	}
	if n := c.admin.get(c.path + "/summary").object().number("people"); n != 1 {
		t.Errorf("the summary counts %d people, want 1", n)
	}
	labs, runs := c.admin.get("/codelabs").list(), c.admin.get(c.path+"/runs?itself=1").list()
	if len(labs) != 1 || labs[0].number("attendees") != 1 {
		t.Errorf("the list is %v, want one codelab with one attendee", labs)
	}
	if len(runs) != 1 || runs[0].number("attendees") != 1 {
		t.Errorf("the runs are %v, want one with one attendee", runs)
	}
	for name, text := range c.admin.takeOut(c.path + "/export/all").held {
		if strings.Contains(text, id) || name == "attendees.json" && !strings.Contains(text, lin.id) {
			t.Errorf("%s of the export contains simulated attendees, or lacks a real one", name)
		}
	}
	open(t, c.addr).get("/certificates/" + id).refused(404)
	if copied := c.admin.post(c.path+"/copy", nil).object(); copied["rehearsal"] != nil {
		t.Errorf("the copy has the rehearsal %v", copied["rehearsal"])
	}
	// The registration of the simulated attendee sent no event, so the next one is the end.
	c.admin.post(c.path+"/end", nil).want(200)
	if d := r.next("workshop_ended"); d.data().number("attendees") != 1 {
		t.Errorf("the event of the end is %s", d.body)
	}
}

// If real people take part, simulated attendees do not count in the number of people whom an
// anonymous poll asks.
func TestAnonymousPollsCountOnlyPeople(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	live := lin.connect(c.id, "")
	c.rehearses(1, record{"force": true})
	// A simulated attendee registers first, and then connects.
	eventual(t, "two connected attendees", func() bool {
		return len(c.admin.get(c.path + "/presence").object()["attendee_ids"].([]any)) == 2
	})
	poll := func(anonymous bool) string {
		return c.admin.post(c.path+"/polls", record{"kind": "words", "question": "One word?", "anonymous": anonymous}).object().text("id")
	}
	for anonymous, want := range map[bool]int{true: 1, false: 2} {
		id := poll(anonymous)
		c.admin.post(c.path+"/polls/"+id+"/open", nil).want(200)
		live.next("poll_changed")
		for _, p := range c.admin.get(c.path + "/polls").list() {
			if p.text("id") == id && p.number("of") != want {
				t.Errorf("anonymous %v: the poll asks %d people, want %d", anonymous, p.number("of"), want)
			}
		}
	}
}

func TestTheSampleWorkshopHasEveryPart(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	var made, again record
	for _, into := range []*record{&made, &again} {
		if err := json.Unmarshal(c.admin.post("/admin/sample", nil).want(201).body, into); err != nil {
			t.Fatal(err)
		}
	}
	if made.text("id") == again.text("id") || made["is_public"] != false {
		t.Errorf("the first sample is %v, the second %v", made, again)
	}
	path := "/codelabs/" + made.text("id")
	defer c.admin.delete("/codelabs/" + again.text("id"))
	defer c.admin.delete(path)
	var both [2]any
	c.admin.get(path).into(&both)
	steps := both[1].([]any)
	all := ""
	for _, st := range steps {
		all += fmt.Sprint(st.(map[string]any)["content_markdown"])
	}
	for _, block := range []string{"```notes", "```check ", "```mermaid", "- [ ] ", "> [!TIP]", "$$", "[^role]:", "<details>", "](/uploads/", "| Tea", ":tada:", "\n: Show"} {
		if !strings.Contains(all, block) {
			t.Errorf("no step contains %q", block)
		}
	}
	if n := len(c.admin.get(path + "/quizzes").list()); len(steps) != 5 || n != 3 {
		t.Errorf("the sample has %d steps, %d questions", len(steps), n)
	}
	kinds := map[string]bool{}
	for _, p := range c.admin.get(path + "/polls").list() {
		if kinds[p.text("kind")] = true; p.text("state") != "draft" {
			t.Errorf("a poll is %v", p)
		}
	}
	if len(kinds) != 4 {
		t.Errorf("the polls have the kinds %v", kinds)
	}
	code := c.admin.get("/codeserver/" + made.text("id")).object()
	if text := fmt.Sprint(code); !strings.Contains(text, "step-4-end") || !strings.Contains(text, "main") {
		t.Errorf("the code is %v", code)
	}
	if n := len(c.admin.get("/admin/audit-logs?action=sample_create").list()); n < 2 {
		t.Errorf("%d audit records of sample_create", n)
	}
}
