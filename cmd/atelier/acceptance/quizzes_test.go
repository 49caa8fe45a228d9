package acceptance

import (
	"fmt"
	"strings"
	"testing"
)

func (c *class) quizzes(questions ...record) []record {
	c.t.Helper()
	return c.admin.put(c.path+"/quizzes", questions).list()
}

func choice(question string, correct any) record {
	q := record{"question": question, "quiz_type": "multiple_choice", "options": []string{"a", "b", "c"}}
	if _, several := correct.([]int); several {
		q["correct_answers"] = correct
	} else {
		q["correct_answer"] = correct
	}
	return q
}

func TestTheServerGradesQuizzes(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	q := c.quizzes(choice("one", 1), choice("several", []int{2, 0}), record{"question": "free", "quiz_type": "descriptive"})
	lin := c.attendee("Lin")
	for _, try := range []struct {
		answers []string
		right   string
		score   int
		passed  bool
	}{
		{[]string{"0"}, "[false]", 0, false},
		{[]string{"1", "[0]"}, "[true false]", 1, false},
		{[]string{"1", "[0,2]", ""}, "[true true false]", 2, false},
		{[]string{" 1 ", "[2, 0, 2]", "because"}, "[true true true]", 3, true},
		{[]string{"no index"}, "[false]", 2, false},
		{[]string{"1"}, "[true]", 3, true},
	} {
		var s []record
		for i, a := range try.answers {
			s = append(s, record{"quiz_id": q[i].text("id"), "answer": a, "is_correct": true})
		}
		got := lin.post(c.path+"/quizzes/submit", record{"submissions": s}).object()
		right := []any{}
		for _, r := range got["results"].([]any) {
			right = append(right, r.(map[string]any)["is_correct"])
		}
		if fmt.Sprint(right) != try.right || got.number("score") != try.score || got.number("total") != 3 || got["passed"] != try.passed {
			t.Errorf("%q returned %v", try.answers, got)
		}
	}
	// The later answer replaced the earlier one.
	stored := c.admin.get(c.path + "/quizzes/submissions").list()
	if len(stored) != 3 || stored[0].text("attendee_name") != "Lin" || stored[2].text("answer") != "because" {
		t.Errorf("the stored answers are %v", stored)
	}
}

func TestAttendeesNeverSeeTheRightAnswers(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	c.quizzes(choice("one", 1), choice("several", []int{2, 0}))
	lin := c.attendee("Lin")
	seen := lin.get(c.path + "/quizzes").list()
	if len(seen) != 2 {
		t.Errorf("an attendee sees %d quizzes, want 2", len(seen))
	}
	for _, q := range seen {
		if q["correct_answer"] != nil || q["correct_answers"] != nil {
			t.Errorf("an attendee sees %v", q)
		}
	}
	for _, q := range c.admin.get(c.path + "/quizzes").list() {
		if q["correct_answer"] == nil {
			t.Errorf("a facilitator sees %v", q)
		}
	}
	// An attendee does not get a facilitator's response, not even with the entity tag of that response.
	tag := c.admin.get(c.path + "/quizzes").header.Get("ETag")
	lin.get(c.path+"/quizzes", header("If-None-Match", tag)).want(200)
}

// shown returns the right answers that a response of the quizzes contains.
func shown(a answer) string {
	var out []string
	for _, q := range a.list() {
		out = append(out, fmt.Sprint(q["correct_answer"], q["correct_answers"]))
	}
	return strings.Join(out, "; ")
}

func TestAttendeesSeeTheAnswersThatTheyGotRight(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	q := c.quizzes(choice("one", 1), choice("several", []int{2, 0}), record{"question": "free", "quiz_type": "descriptive"})
	lin, max := c.attendee("Lin"), c.attendee("Max")
	answer := func(i int, text string) {
		lin.post(c.path+"/quizzes/submit", record{"submissions": []record{{"quiz_id": q[i].text("id"), "answer": text}}}).want(200)
	}
	const none = "<nil> <nil>; <nil> <nil>; <nil> <nil>"
	quizzes := c.path + "/quizzes"
	tag := lin.get(quizzes).header.Get("ETag")
	for _, step := range []struct {
		i          int
		text, want string
		changed    bool
	}{
		{0, "0", none, false},
		{1, "[0,2]", "<nil> <nil>; 0 [0 2]; <nil> <nil>", true},
		{2, "because", "<nil> <nil>; 0 [0 2]; <nil> <nil>", false},
		{0, "1", "1 <nil>; 0 [0 2]; <nil> <nil>", true},
		{1, "1", "1 <nil>; <nil> <nil>; <nil> <nil>", true}, // the latest stored answer counts
	} {
		answer(step.i, step.text)
		if got := shown(lin.get(quizzes)); got != step.want {
			t.Errorf("after the answer %q to question %d, the attendee sees %s", step.text, step.i, got)
		}
		again := lin.get(quizzes, header("If-None-Match", tag))
		if (again.status == 200) != step.changed {
			t.Errorf("after answer %q to question %d, a read with the old tag returned %d", step.text, step.i, again.status)
		}
		tag = again.header.Get("ETag")
		if got := shown(max.get(quizzes)); got != none {
			t.Errorf("another attendee sees %s", got)
		}
	}
	// Answers stay with their attendee when another attendee is removed. They are graded again when
	// the right answer changes.
	c.admin.delete(c.path + "/attendees/" + max.id).want(204)
	kept := choice("one", 2)
	kept["id"] = q[0].text("id")
	eve := c.attendee("Eve")
	if got := shown(lin.get(quizzes)); got != "1 <nil>; <nil> <nil>; <nil> <nil>" {
		t.Errorf("after another attendee was removed, the attendee sees %s", got)
	}
	c.quizzes(kept)
	if got := shown(lin.get(quizzes)); got != "<nil> <nil>" {
		t.Errorf("the right answer to a question answered wrongly is shown: %s", got)
	}
	if got := shown(eve.get(quizzes)); got != "<nil> <nil>" {
		t.Errorf("a new attendee sees %s", got)
	}
}

func TestAQuestionWithAKnownIDKeepsItsAnswers(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	q := c.quizzes(choice("keep", 1), choice("drop", 1))
	lin := c.attendee("Lin")
	lin.post(c.path+"/quizzes/submit", record{"submissions": []record{
		{"quiz_id": q[0].text("id"), "answer": "1"}, {"quiz_id": q[1].text("id"), "answer": "1"},
	}}).want(200)
	kept := choice("kept, with another right answer", 2)
	kept["id"] = q[0].text("id")
	foreign := choice("new", 0)
	foreign["id"] = unknownID
	now := c.quizzes(kept, foreign)
	if now[0].text("id") != q[0].text("id") || now[0].text("created_at") != q[0].text("created_at") || now[1].text("id") == unknownID {
		t.Errorf("the quiz is now %v", now)
	}
	got := c.admin.get(c.path + "/quizzes/submissions").list()
	if len(got) != 1 || got[0]["is_correct"] != false || got[0].text("answer") != "1" {
		t.Errorf("the answers are now %v", got)
	}
}

func TestAQuizIsReplacedAsAWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	c.quizzes(choice("stays", 1))
	for field, bad := range map[string]record{
		"options":                       {"question": "q", "quiz_type": "multiple_choice", "options": []string{"a"}, "correct_answer": 0},
		"[1].correct_answer":            choice("q", 3),
		"correct_answer is":             {"question": "q", "quiz_type": "multiple_choice", "options": []string{"a", "b"}},
		"quiz_type":                     {"question": "q", "quiz_type": "essay"},
		"[1].question is required":      {"question": " ", "quiz_type": "descriptive"},
		"[1].question is longer than 5": {"question": strings.Repeat("ä", 501), "quiz_type": "descriptive"},
	} {
		c.admin.put(c.path+"/quizzes", []record{choice("new", 1), bad}).refused(400, field)
	}
	if got := c.admin.get(c.path + "/quizzes").list(); len(got) != 1 || got[0].text("question") != "stays" {
		t.Errorf("the quiz is %v", got)
	}
	lin := c.attendee("Lin")
	lin.post(c.path+"/quizzes/submit", record{"submissions": []record{
		{"quiz_id": c.admin.get(c.path + "/quizzes").list()[0].text("id"), "answer": "1"}, {"quiz_id": unknownID, "answer": "1"},
	}}).refused(400, "submissions[1].quiz_id")
	if n := len(c.admin.get(c.path + "/quizzes/submissions").list()); n != 0 {
		t.Errorf("%d answers are stored, want 0", n)
	}
}

func TestFeedbackIsGivenOnce(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	feedback := lin.post(c.path+"/feedback", record{"difficulty": "1", "satisfaction": "5", "comment": " as sent "}).object()
	lin.post(c.path+"/feedback", record{"difficulty": "2", "satisfaction": "2"}).refused(409)
	got := c.admin.get(c.path + "/feedback").list()
	if len(got) != 1 || got[0].text("id") != feedback.text("id") || got[0].text("attendee_id") != lin.id || got[0].text("comment") != " as sent " {
		t.Errorf("the feedback is %v", got)
	}
	for _, bad := range []string{"0", "6", "", "10", "x"} {
		c.attendee("Eve "+bad).post(c.path+"/feedback", record{"difficulty": bad, "satisfaction": "3"}).refused(400, "difficulty")
	}
}
