package acceptance

import (
	"slices"
	"testing"
)

func TestOneMessageReachesEveryoneWhoIsStuck(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max, eve := c.attendee("Lin"), c.attendee("Max"), c.attendee("Eve")
	live, desk := lin.connect(c.id, ""), c.admin.connect(c.id, "")
	live.acked(record{"type": "pulse", "state": "stuck"}, "p1")
	max.post(c.path+"/messages", record{"type": "pulse", "state": "stuck"}).want(200)
	path := c.path + "/direct-messages"
	send := record{"message": "Reload the page.", "to": "stuck", "ref": "d-1"}
	if n := c.admin.post(path, send).want(200).object().number("sent"); n != 2 {
		t.Errorf("the message went to %d people, want 2", n)
	}
	if got := live.next("dm"); got.text("message") != "Reload the page." || got.text("target_id") != lin.id || got.text("sender_id") != "facilitator" {
		t.Errorf("the attendee received %v", got)
	}
	for range 2 { // one for each recipient
		desk.next("dm")
	}
	if again := c.admin.post(path, send).want(200).object(); again["sent"] != nil {
		t.Errorf("the repeated ref returned %v", again)
	}
	for who, want := range map[*person][]string{lin: {"Reload the page."}, max: {"Reload the page."}, eve: {}} {
		if got := texts(who.get(c.path+"/chat").list(), "message"); !slices.Equal(got, want) {
			t.Errorf("%s reads %q, want %q", who.name, got, want)
		}
	}
	// An attendee can reply to the message like to any direct message.
	live.acked(record{"type": "dm", "target_id": "facilitator", "message": "That helped."}, "p2")
	if got := desk.next("dm"); got.text("message") != "That helped." {
		t.Errorf("the facilitator received %v", got)
	}
}

func TestMessagesToManyNeedAValidTextAndTarget(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	path := c.path + "/direct-messages"
	lin.post(path, record{"message": "m", "to": "step", "step_number": 1}).refused(403)
	lin.post(path, record{"step_number": 0}).refused(403) // the role is checked before the body
	for _, bad := range []record{
		{"to": "stuck"}, {"message": "m"}, {"message": "m", "to": "all"}, {"message": "m", "to": "step"},
		{"message": "m", "to": "step", "step_number": 4}, {"message": "m", "to": "stuck", "step_number": 0}, {"message": "m", "to": "stuck", "ref": string(make([]byte, 65))},
	} {
		c.admin.post(path, bad).refused(400)
	}
	if n := c.admin.post(path, record{"message": "m", "to": "waiting"}).want(200).object().number("sent"); n != 0 {
		t.Errorf("the message went to %d people although nobody waits", n)
	}
	lin.post(c.path+"/help", record{"step_number": 1}).want(200)
	if n := c.admin.post(path, record{"message": "m", "to": "waiting", "step_number": 1}).want(200).object().number("sent"); n != 1 {
		t.Errorf("the message went to %d people, want 1", n)
	}
	c.admin.post(c.path+"/end", record{"ended": true}).want(200) // facilitators can still write
	c.admin.post(path, record{"message": "m", "to": "step", "step_number": 1}).want(200)
}

func TestTheProgressCountsTheAttendeesPerStep(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	if got := c.admin.get(c.path + "/progress").object(); len(got["times"].([]any)) != 0 || len(got["reached"].([]any)) != 3 {
		t.Errorf("the progress of an empty codelab is %v", got)
	}
	lin, max := c.attendee("Lin"), c.attendee("Max")
	lin.post(c.path+"/messages", record{"type": "step_progress", "step_number": 2}).want(200)
	max.post(c.path+"/complete", nil).want(200)
	got := c.admin.get(c.path + "/progress").object()
	last := func(counts any) any { list := counts.([]any); return list[len(list)-1] }
	reached := got["reached"].([]any)
	if last(reached[0]) != 2.0 || last(reached[1]) != 1.0 || last(reached[2]) != 0.0 || last(got["completed"]) != 1.0 {
		t.Errorf("the progress is %v", got)
	}
	lin.get(c.path + "/progress").refused(403)
}
