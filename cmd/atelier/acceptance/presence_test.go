package acceptance

import "testing"

// The list of a class of thousands has megabytes of records. A browser that needs a single record
// reads it separately.
func TestASingleRecordMatchesTheList(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, ada := c.attendee("Lin"), c.attendee("Ada")
	lin.post(c.path+"/messages", record{"type": "step_progress", "step_number": 2}).want(200)
	lin.post(c.path+"/messages", record{"type": "pulse", "state": "slow"}).want(200)

	own := lin.get(c.path + "/attendees/" + lin.id).object()
	if own.number("current_step") != 2 || own["step_since"] == nil || own["pulse"] == nil {
		t.Errorf("the attendee's own record is %v", own)
	}
	if seen := c.admin.get(c.path + "/attendees/" + lin.id).object(); seen["step_since"] != own["step_since"] || seen["pulse"] == nil {
		t.Errorf("a facilitator sees %v", seen)
	}
	if others := ada.get(c.path + "/attendees/" + lin.id).object(); others.number("current_step") != 2 || others["step_since"] != nil || others["pulse"] != nil {
		t.Errorf("another attendee sees %v", others)
	}
	for _, b := range []*browser{c.admin, lin.browser, ada.browser} {
		for _, listed := range b.get(c.path + "/attendees").list() {
			if one := b.get(c.path + "/attendees/" + listed.text("id")).object(); one["step_since"] != listed["step_since"] {
				t.Errorf("the list shows %v, the record %v", listed, one)
			}
		}
	}
	lin.get(c.path+"/attendees/nobody").refused(404, "attendee")
}

// Facilitators read who is connected from /presence, because messages announce only changes.
func TestFacilitatorsSeeWhoIsConnected(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, ada := c.attendee("Lin"), c.attendee("Ada")
	boss := c.admin.connect(c.id, "")
	lin.connect(c.id, "")
	lin.connect(c.id, "")
	boss.next("attendee_joined")
	here := c.admin.get(c.path + "/presence").object()["attendee_ids"].([]any)
	if len(here) != 1 || here[0] != lin.id {
		t.Errorf("the connected attendees are %v, want only Lin", here)
	}
	ada.get(c.path+"/presence").refused(403, "")
}

// The questions for attendees contain whether several answers are accepted, but nothing else about
// the answers.
func TestAttendeesSeeWhichQuestionsAcceptSeveralAnswers(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	c.admin.put(c.path+"/quizzes", []record{
		{"question": "One?", "quiz_type": "multiple_choice", "options": []string{"a", "b"}, "correct_answer": 1},
		{"question": "Some?", "quiz_type": "multiple_choice", "options": []string{"a", "b"}, "correct_answers": []int{0, 1}},
	}).want(200)
	got := lin.get(c.path + "/quizzes").list()
	if got[0]["several"] != false || got[1]["several"] != true || got[1]["correct_answers"] != nil {
		t.Errorf("an attendee sees %v", got)
	}
}
