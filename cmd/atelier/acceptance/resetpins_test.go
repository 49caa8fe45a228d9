package acceptance

import (
	"fmt"
	"slices"
	"testing"
)

// resetPins resets the codes of all attendees and returns the new ones.
func (c *class) resetPins() (codes []record) {
	c.t.Helper()
	list, _ := c.admin.post(c.path+"/reset-pins", nil).object()["codes"].([]any)
	for _, x := range list {
		codes = append(codes, x.(map[string]any))
	}
	return codes
}

func TestAllRejoinCodesCanBeResetAtOnce(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	var people []*person
	for i := range 5 {
		people = append(people, c.join(open(t, c.addr), record{"name": fmt.Sprint("Person ", i), "code": "old"}))
	}
	gone := c.attendee("Gone")
	c.admin.delete(c.path + "/attendees/" + gone.id).want(204)
	live := people[0].connect(c.id, "")
	people[0].post(c.path+"/reset-pins", nil).refused(403)
	codes := c.resetPins()
	if names := texts(codes, "name"); !slices.Equal(names, []string{"Person 0", "Person 1", "Person 2", "Person 3", "Person 4"}) {
		t.Fatalf("the codes belong to %q", names)
	}
	if code := live.closed(); code != 1008 { // access from before the reset ends
		t.Errorf("closed with %d, want 1008", code)
	}
	for i, code := range codes {
		people[i].get(c.path + "/chat").refused(403)
		b := open(t, c.addr)
		b.post(c.path+"/register", record{"name": code.text("name"), "code": "old"}).refused(409)
		again := b.post(c.path+"/register", record{"name": code.text("name"), "code": code.text("code")}).object()
		if again.text("id") != people[i].id {
			t.Errorf("%s rejoined as %v", code.text("name"), again)
		}
		if i > 0 && code.text("code") == codes[i-1].text("code") {
			t.Error("two attendees have the same code")
		}
	}
	if audited := c.audited(); !slices.Contains(audited, "attendee_pin_reset") {
		t.Errorf("the audited actions are %q", audited)
	}
}
