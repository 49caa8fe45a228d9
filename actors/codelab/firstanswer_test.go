package codelab

import (
	"bytes"
	"testing"

	pb "atelier/actors/codelab/codelabpb"
)

// The first answer to a question is kept next to the last one, even after a snapshot and a replay.
// It is graded again when the question changes, and removed with its author.
func TestTheFirstAnswerIsKeptNextToTheLast(t *testing.T) {
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
	quizzes := do(Command{Caller: admin, Body: ReplaceQuizzes{Quizzes: []*pb.Quiz{
		{Question: "choice", QuizType: MultipleChoice, Options: []string{"a", "b"}, Correct: []int32{1}},
		{Question: "text", QuizType: Descriptive},
	}}}).(Edited).Quizzes
	do(Command{Caller: &Caller{Role: RoleAnyone}, Body: Register{Name: "Ann"}})
	ann := l.attendees.At(0)
	answer := func(choice, text string) {
		t.Helper()
		do(Command{Caller: attendeeCaller(ann), Body: SubmitQuiz{Items: []SubmittedAnswer{{quizzes[0].Id, choice}, {quizzes[1].Id, text}}}})
	}
	type kept struct {
		last       string
		right      bool
		changes    int32
		first      string
		firstRight bool
	}
	states := func() map[string]*State {
		t.Helper()
		b, err := EncodeState(l.Capture())
		if err != nil {
			t.Fatal(err)
		}
		restored := l.empty()
		if err := restored.Restore(l.seq, b); err != nil {
			t.Fatal(err)
		}
		return map[string]*State{"live": l.State, "restored": restored, "replayed": replay(l.empty(), 0, l.events)}
	}
	expect := func(what string, want ...kept) {
		t.Helper()
		for name, s := range states() {
			for i, w := range want {
				a := s.answers.At(i)
				first, right := FirstAnswer(a)
				if got := (kept{a.Answer, a.IsCorrect, a.Changes, first, right}); got != w {
					t.Errorf("%s, %s, question %d: %+v, want %+v", what, name, i, got, w)
				}
			}
		}
	}
	answer("0", "secret thought")
	expect("one answer", kept{"0", false, 0, "0", false}, kept{"secret thought", true, 0, "secret thought", true})
	answer("1", "secret thought")
	expect("one changed, the other sent again", kept{"1", true, 1, "0", false}, kept{"secret thought", true, 0, "secret thought", true})
	answer("0", "open words")
	expect("changed back", kept{"0", false, 2, "0", false}, kept{"open words", true, 1, "secret thought", true})

	turned := quizzes[0].Clone()
	turned.Correct = []int32{0}
	do(Command{Caller: admin, Body: ReplaceQuizzes{Quizzes: []*pb.Quiz{turned, quizzes[1]}}})
	expect("another option is right", kept{"0", true, 2, "0", true}, kept{"open words", true, 1, "secret thought", true})
	answer("1", "open words")
	turned = turned.Clone()
	turned.Correct = []int32{1}
	do(Command{Caller: admin, Body: ReplaceQuizzes{Quizzes: []*pb.Quiz{turned, quizzes[1]}}})
	expect("the first is wrong again, the last right", kept{"1", true, 3, "0", false})

	// This edit changes only the grade of the first answer.
	for _, correct := range [][]int32{{0, 1}, {0}} {
		turned = turned.Clone()
		turned.Correct = correct
		do(Command{Caller: admin, Body: ReplaceQuizzes{Quizzes: []*pb.Quiz{turned, quizzes[1]}}})
	}
	expect("the first alone is right", kept{"1", false, 3, "0", true})

	do(Command{Caller: admin, Body: Remove{AttendeeID: ann.Id}})
	b, err := EncodeState(l.Capture())
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte("secret thought")) {
		t.Error("the snapshot has first answers of a removed attendee")
	}
}

// A snapshot that predates first answers contains only the last answer.
func TestAnAnswerFromAnOlderSnapshotIsAlsoTheFirst(t *testing.T) {
	old := &pb.QuizAnswer{Id: "1", Answer: "0", IsCorrect: true}
	if first, right := FirstAnswer(old); first != "0" || !right {
		t.Errorf("FirstAnswer = %q, right %v", first, right)
	}
	if a := after(old, &pb.QuizAnswer{Id: "2", Answer: "1"}); a.FirstAnswer != "0" || !a.FirstCorrect || a.Changes != 1 {
		t.Errorf("the changed answer is %v", a)
	}
}
