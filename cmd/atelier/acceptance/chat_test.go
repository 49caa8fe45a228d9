package acceptance

import (
	"fmt"
	"slices"
	"testing"
)

func TestTheHistoryHasTheNewestMessagesInOrder(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	s := c.attendee("Lin").connect(c.id, "")
	var want []string
	for i := range 12 {
		want = append(want, fmt.Sprint("m", i))
		s.acked(record{"type": "chat", "message": want[i]}, fmt.Sprint(i))
	}
	read := func(query string) []record { return c.admin.get(c.path + "/chat" + query).list() }
	if got := texts(read(""), "message"); !slices.Equal(got, want) {
		t.Errorf("the whole history is %q", got)
	}
	last := read("?limit=5")
	if got := texts(last, "message"); !slices.Equal(got, want[7:]) {
		t.Errorf("the last five messages are %q", got)
	}
	if got := texts(read("?limit=5&before="+last[0].text("id")), "message"); !slices.Equal(got, want[2:7]) {
		t.Errorf("the five messages before those are %q", got)
	}
	if got := read("?before=" + read("")[0].text("id")); len(got) != 0 {
		t.Errorf("before the first message, the history has %v", got)
	}
}

func TestDirectMessagesAreOnlyInTheHistoryOfSenderAndRecipient(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max, eve := c.attendee("Lin"), c.attendee("Max"), c.attendee("Eve")
	dm := func(from *browser, to, text string) {
		from.post(c.path+"/messages", record{"type": "dm", "target_id": to, "message": text}).want(200)
	}
	dm(lin.browser, max.id, "lin to max")
	dm(eve.browser, "facilitator", "eve to facilitator")
	dm(c.admin, lin.id, "facilitator to lin")
	for name, seen := range map[string]struct {
		by   *browser
		want []string
	}{
		"lin": {lin.browser, []string{"lin to max", "facilitator to lin"}}, "max": {max.browser, []string{"lin to max"}},
		"eve": {eve.browser, []string{"eve to facilitator"}}, "admin": {c.admin, []string{"eve to facilitator", "facilitator to lin"}},
	} {
		list := seen.by.get(c.path + "/chat").list()
		if got := texts(list, "message"); !slices.Equal(got, seen.want) {
			t.Errorf("%s sees %q, want %q", name, got, seen.want)
		}
		if list[0].text("msg_type") != "dm" || list[0].text("target_id") == "" {
			t.Errorf("a direct message is %v", list[0])
		}
	}
	// Admins cannot delete messages that they cannot see.
	id := lin.get(c.path + "/chat").list()[0].text("id")
	c.admin.delete(c.path + "/chat/" + id).refused(404)
}

func TestPostedMessagesAreAnsweredLikeOnTheSocket(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	s := c.admin.connect(c.id, "")
	ack := lin.post(c.path+"/messages", record{"type": "chat", "message": "hello", "ref": "r1"}).object()
	if m := s.untilChat("hello"); ack.text("type") != "ack" || ack.text("ref") != "r1" || ack.number("seq") != m.seq() {
		t.Errorf("the ack is %v, the message %v", ack, m)
	}
	if got := lin.post(c.path+"/messages", record{"type": "chat", "message": "no ref"}).object(); got["ref"] != nil {
		t.Errorf("without a ref, the ack is %v", got)
	}
	if got := lin.post(c.path+"/messages", record{"type": "join"}).object(); got.text("type") != "welcome" {
		t.Errorf("join returned %v", got)
	}
	lin.post(c.path+"/messages", record{"type": "step_progress", "step_number": 3}).want(200)
	if m := s.next("step_progress"); m.number("step_number") != 3 {
		t.Errorf("received %v, want step 3", m)
	}
	lin.post(c.path+"/messages", record{"type": "attendee_screen_status", "active": true}).want(200)
	s.next("attendee_screen_status")
	lin.post(c.path+"/messages", record{"type": "screen_share_status"}).refused(403)
	c.admin.post(c.path+"/messages", record{"type": "step_progress", "step_number": 1}).refused(403)
}
