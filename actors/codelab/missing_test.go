package codelab

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// Complete is refused while View.Missing returns requirements, and its error names each of them.
func TestCompleteIsRefusedForTheMissingRequirements(t *testing.T) {
	l := newLab()
	l.create(t, "one")
	do := func(cmd Command) any {
		t.Helper()
		v, err := l.do(cmd)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	yes := proto.Bool(true)
	do(Command{Caller: admin, Body: Update{QuizEnabled: yes, RequireQuiz: yes, RequireFeedback: yes, RequireSubmission: yes, RequireChecks: yes}})
	do(Command{Caller: admin, Body: ReplaceSteps{Steps: []*pb.Step{{Title: "one", ContentMarkdown: declaring("a", "b")}}}})
	q := do(Command{Caller: admin, Body: ReplaceQuizzes{Quizzes: []*pb.Quiz{
		{Question: "choice", QuizType: MultipleChoice, Options: []string{"a", "b"}, Correct: []int32{1}},
		{Question: "text", QuizType: Descriptive},
	}}}).(Edited).Quizzes
	do(Command{Caller: &Caller{Role: RoleAnyone}, Body: Register{Name: "Ann"}})
	ann := l.attendees.At(0)
	expect := func(what string, want ...string) {
		t.Helper()
		v := l.Capture()
		if got := v.Missing(ann.Id); !slices.Equal(got, want) {
			t.Errorf("%s: missing requirements %v, want %v", what, got, want)
		}
		if v.quizPassed(ann.Id) != l.quizPassed(ann.Id) {
			t.Errorf("%s: view and state disagree on whether the quiz is passed", what)
		}
		_, err := l.Decide(Command{Caller: attendeeCaller(ann), Body: Complete{}}, durable.Env{Now: l.now, Seq: l.seq + 1})
		if got := fmt.Sprint(err); (err == nil) != (len(want) == 0) || slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(got, w) }) {
			t.Errorf("%s: requirements %v are missing, and Complete returned %v", what, want, err)
		}
	}
	answer := func(i int, text string) {
		t.Helper()
		do(Command{Caller: attendeeCaller(ann), Body: SubmitQuiz{Items: []SubmittedAnswer{{q[i].Id, text}}}})
	}
	expect("at first", "quiz", "feedback", "submission", "checks")
	answer(0, "1")
	expect("the free-text question is unanswered", "quiz", "feedback", "submission", "checks")
	answer(1, "because")
	expect("the quiz is passed", "feedback", "submission", "checks")
	answer(0, "0")
	expect("a choice is wrong", "quiz", "feedback", "submission", "checks")
	answer(0, "1")
	do(Command{Caller: attendeeCaller(ann), Body: GiveFeedback{Difficulty: "2", Satisfaction: "5"}})
	expect("feedback is given", "submission", "checks")
	do(Command{Caller: attendeeCaller(ann), Body: ReportCheck{Name: "a", OK: true}})
	do(Command{Caller: attendeeCaller(ann), Body: ReportCheck{Name: "b"}})
	expect("a check has failed", "submission", "checks")
	do(Command{Caller: attendeeCaller(ann), Body: AddSubmission{Submission: &pb.Submission{AttendeeId: ann.Id, SubmissionType: Link, LinkUrl: "https://example.org"}}})
	expect("a file is submitted", "checks")
	do(Command{Caller: attendeeCaller(ann), Body: ReportCheck{Name: "b", OK: true}})
	expect("all requirements are met")
	done := ann
	do(Command{Caller: &Caller{Role: RoleAnyone}, Body: Register{Name: "Cyd"}})
	ann = l.attendees.At(1)
	expect("another attendee has done nothing", "quiz", "feedback", "submission", "checks")
	answer(0, "1")
	expect("another attendee has answered one question", "quiz", "feedback", "submission", "checks")
	do(Command{Caller: admin, Body: Remove{AttendeeID: ann.Id}})
	ann = done
	// Answers of two attendees do not add up to one pass.
	do(Command{Caller: admin, Body: Remove{AttendeeID: ann.Id}})
	for _, name := range []string{"Dee", "Eve"} {
		do(Command{Caller: &Caller{Role: RoleAnyone}, Body: Register{Name: name}})
	}
	ann = l.attendees.At(1)
	answer(1, "because")
	ann = l.attendees.At(0)
	answer(0, "1")
	expect("two attendees have answered one question each", "quiz", "feedback", "submission", "checks")
	do(Command{Caller: admin, Body: Remove{AttendeeID: l.attendees.At(1).Id}})
	off := proto.Bool(false)
	do(Command{Caller: admin, Body: Remove{AttendeeID: ann.Id}})
	do(Command{Caller: &Caller{Role: RoleAnyone}, Body: Register{Name: "Bob"}})
	ann = l.attendees.At(0)
	do(Command{Caller: admin, Body: Update{RequireQuiz: off}})
	expect("no quiz is required", "feedback", "submission", "checks")
	do(Command{Caller: admin, Body: Update{RequireFeedback: off}})
	expect("no feedback is required", "submission", "checks")
	do(Command{Caller: admin, Body: Update{RequireSubmission: off}})
	expect("no submission is required", "checks")
	do(Command{Caller: admin, Body: Update{RequireChecks: off}})
	expect("nothing is required")
}
