package acceptance

import (
	"testing"
)

func TestAskingAgainUpdatesTheRequestAndKeepsItsPlace(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	lin.post(c.path+"/help", record{"step_number": 1}).want(200)
	max.post(c.path+"/help", record{"step_number": 1}).want(200)
	id := lin.get(c.path + "/help").list()[0].text("id")
	c.admin.post(c.path+"/help/"+id+"/claim", nil).want(200)
	lin.post(c.path+"/help", record{"step_number": 3}).want(200)
	queue := c.admin.get(c.path + "/help").list()
	if len(queue) != 2 || queue[0].text("id") != id || queue[0].number("step_number") != 3 || queue[0].text("status") != "in_progress" {
		t.Errorf("the queue is %v", queue)
	}
	lin.post(c.path+"/help", record{"step_number": 4}).refused(400, "step_number")
}

func TestASecondClaimReturnsWhoClaimedFirst(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	lin.post(c.path+"/help", record{"step_number": 1}).want(200)
	path := c.path + "/help/" + lin.get(c.path + "/help").list()[0].text("id")
	grace, alan := facilitator(t, c.addr, "Grace"), facilitator(t, c.addr, "Alan")
	got := grace.post(path+"/claim", nil).object()
	if got.text("status") != "in_progress" || got.text("claimed_by") != "Grace" || got.text("attendee_name") != "Lin" {
		t.Errorf("the claim returned %v", got)
	}
	alan.post(path+"/claim", nil).refused(409, "Grace")
	grace.post(path+"/claim", nil).want(200)
	alan.post(path+"/resolve", nil).want(200)
	alan.post(path+"/resolve", nil).want(200)
	grace.post(path+"/claim", nil).refused(409, "resolved")
	own := lin.get(c.path + "/help").list()
	if own[0].text("status") != "resolved" || own[0]["resolved_at"] == nil {
		t.Errorf("the attendee sees %v", own)
	}
	if n := len(c.admin.get(c.path + "/help").list()); n != 0 {
		t.Errorf("%d requests are open, want 0", n)
	}
	// A later question is a new request.
	lin.post(c.path+"/help", record{"step_number": 2}).want(200)
	if own = lin.get(c.path + "/help").list(); len(own) != 2 || own[1].text("status") != "pending" {
		t.Errorf("the attendee sees %v", own)
	}
}

func TestAttendeesSeeAndResolveOnlyTheirOwnRequests(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	lin.post(c.path+"/help", record{"step_number": 1}).want(200)
	id := lin.get(c.path + "/help").list()[0].text("id")
	if n := len(max.get(c.path + "/help").list()); n != 0 {
		t.Errorf("another attendee sees %d requests, want 0", n)
	}
	max.post(c.path+"/help/"+id+"/resolve", nil).refused(403)
	max.post(c.path+"/help/"+id+"/claim", nil).refused(403)
	lin.post(c.path+"/help/"+id+"/resolve", nil).want(200)
}

func TestTheOverviewShowsWhereTheClassIs(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	live := lin.connect(c.id, "")
	live.acked(record{"type": "step_progress", "step_number": 2}, "p")
	max.post(c.path+"/complete", nil).want(200)
	lin.post(c.path+"/help", record{"step_number": 2}).want(200)
	var o record
	// A node counts connections to other nodes a moment later.
	eventual(t, "Lin in the overview", func() bool { o = c.admin.get(c.path + "/overview").object(); return o.number("online") > 0 })
	for field, want := range map[string]int{"attendees": 2, "online": 1, "completed": 1, "open_help": 1} {
		if o.number(field) != want {
			t.Errorf("%s is %v, want %d", field, o[field], want)
		}
	}
	steps := o["steps"].([]any)
	if first := record(steps[0].(map[string]any)); first.number("people") != 0 || first["share_past"] != 1.0 || first["median_seconds"] == nil {
		t.Errorf("the first step is %v", first)
	}
	if second := record(steps[1].(map[string]any)); second.number("people") != 1 || second["share_past"] != 0.5 {
		t.Errorf("the second step is %v", second)
	}
	longest, oldest := o["longest_on_step"].(map[string]any), o["oldest_help"].(map[string]any)
	if longest["attendee_id"] != lin.id || oldest["attendee_id"] != lin.id {
		t.Errorf("the longest on the step is %v, the oldest request %v", longest, oldest)
	}
}
