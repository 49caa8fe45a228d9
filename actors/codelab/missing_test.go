package codelab

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "atelier/actors/codelab/codelabpb"
)

// The missing requirements are those that Complete would refuse.
func TestMissingNamesWhatCompletingIsRefusedFor(t *testing.T) {
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
	do(Command{Caller: admin, Body: Update{QuizEnabled: yes, RequireQuiz: yes, RequireFeedback: yes, RequireSubmission: yes}})
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
			t.Errorf("%s: missing are %v, want %v", what, got, want)
		}
		if v.quizPassed(ann.Id) != l.quizPassed(ann.Id) {
			t.Errorf("%s: the view and the state differ on the quiz", what)
		}
	}
	answer := func(i int, text string) {
		t.Helper()
		do(Command{Caller: attendeeCaller(ann), Body: SubmitQuiz{Items: []SubmittedAnswer{{q[i].Id, text}}}})
	}
	expect("at first", "quiz", "feedback", "submission")
	answer(0, "1")
	expect("the free text is open", "quiz", "feedback", "submission")
	answer(1, "because")
	expect("the quiz is passed", "feedback", "submission")
	answer(0, "0")
	expect("a choice is wrong", "quiz", "feedback", "submission")
	answer(0, "1")
	do(Command{Caller: attendeeCaller(ann), Body: GiveFeedback{Difficulty: "2", Satisfaction: "5"}})
	expect("feedback is given", "submission")
}
