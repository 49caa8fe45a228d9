package acceptance

import (
	"fmt"
	"testing"
	"time"
)

func TestTheSummaryShowsTheResultsOfAWorkshop(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	c.admin.put(c.path+"/steps", record{"steps": []record{
		{"title": "Easy", "content_markdown": "a", "duration_minutes": 5}, {"title": "Hard", "content_markdown": "b"}, {"title": "End", "content_markdown": "c"},
	}}).want(200)
	steps := texts(c.readSteps(), "id")
	c.admin.put(c.path, record{"questions": "open", "quiz_enabled": true}).want(200)
	quizzes := c.admin.put(c.path+"/quizzes", []record{
		{"question": "Which?", "quiz_type": "multiple_choice", "options": []string{"Right", "Wrong"}, "correct_answer": 0},
	}).want(200).list()
	quiz := quizzes[0].text("id")
	var first, last *person
	for i := range 5 {
		p := c.attendee(fmt.Sprint("Person ", i))
		if first == nil {
			first = p
		}
		last = p
		if i < 4 { // the last person stays on the first step
			time.Sleep(2 * time.Millisecond) // a step without time counts as skipped
			p.post(c.path+"/messages", record{"type": "step_progress", "step_number": 2}).want(200)
		}
		answer := "1"
		if i == 0 {
			answer = "a word of Person 0's own"
		}
		p.post(c.path+"/quizzes/submit", record{"submissions": []record{{"quiz_id": quiz, "answer": answer}}}).want(200)
		p.post(c.path+"/feedback", record{"difficulty": "4", "satisfaction": fmt.Sprint(i + 1), "comment": fmt.Sprint("comment ", i)}).want(200)
	}
	last.post(c.path+"/help", record{"step_number": 2}).want(200)
	first.post(c.path+"/messages", record{"type": "pulse", "state": "stuck"}).want(200)
	asked := last.post(c.path+"/questions", record{"text": "Why?"}).want(200).object()
	c.admin.put(c.path+"/questions/"+first.post(c.path+"/questions", record{"text": "How?"}).want(200).object().text("id"), record{"answer": "So."}).want(200)
	poll := c.admin.post(c.path+"/polls", record{"kind": "choice", "question": "Coffee?", "options": []string{"Yes", "No"}}).want(200).object()
	c.admin.post(c.path+"/polls", record{"kind": "choice", "question": "A draft", "options": []string{"Yes", "No"}}).want(200)
	c.admin.post(c.path+"/polls/"+poll.text("id")+"/open", nil).want(200)
	first.put(c.path+"/polls/"+poll.text("id")+"/vote", record{"round": 1, "choice": []int{0}}).want(200)

	s := c.admin.get(c.path + "/summary").want(200).object()
	is := func(what string, got any, want string) {
		t.Helper()
		if fmt.Sprint(got) != want {
			t.Errorf("%s is %v, want %s", what, got, want)
		}
	}
	is("people", s["people"], "5")
	is("completed", s["completed"], "0")
	hard := s["steps"].([]any)[1].(map[string]any)
	is("the hard step", hard, fmt.Sprintf("map[help:1 median:<nil> planned:<nil> step_id:%s stuck:1 title:Hard]", steps[1]))
	is("the easy step", s["steps"].([]any)[0], fmt.Sprintf("map[help:0 median:<nil> planned:5 step_id:%s stuck:0 title:Easy]", steps[0]))
	is("hardest", s["hardest"], "["+steps[1]+"]")
	is("unanswered", s["questions"], fmt.Sprintf("[map[id:%s text:Why? votes:0]]", asked.text("id")))
	is("quiz", s["quiz"], fmt.Sprintf("[map[question:Which? quiz_id:%s wrong:[map[answer:Wrong count:4]]]]", quiz))
	is("feedback", s["feedback"], "map[comments:[] count:5 difficulty:[0 0 0 5 0] satisfaction:[1 1 1 1 1]]")
	polls := s["polls"].([]any)
	if len(polls) != 1 || polls[0].(map[string]any)["votes"] != float64(1) {
		t.Errorf("the polls are %v", polls)
	}
	named := c.admin.get(c.path + "/summary?names=1").want(200).object()
	is("own words", named["quiz"].([]any)[0].(map[string]any)["wrong"], "[map[answer:Wrong count:4] map[answer:a word of Person 0's own count:1]]")
	is("comments", named["feedback"].(map[string]any)["comments"], "[comment 0 comment 1 comment 2 comment 3 comment 4]")
	c.admin.get(c.path + "/summary?names=2").refused(400)

	// With the times of five people, the median no longer reveals the time of one of them.
	last.post(c.path+"/messages", record{"type": "step_progress", "step_number": 2}).want(200)
	if s := c.admin.get(c.path + "/summary").want(200).object(); s["steps"].([]any)[0].(map[string]any)["median"] == nil {
		t.Error("there is no median of five times")
	}
	first.get(c.path + "/summary").refused(403)
	c.assistant("helps").get(c.path + "/summary").refused(403)
}
