package codelab

import (
	"fmt"
	"testing"

	pb "atelier/actors/codelab/codelabpb"
)

// The set of an attendee's right answers always follows from the stored answers, even after a
// snapshot and a replay.
func TestRightAnswersFollowFromStoredAnswers(t *testing.T) {
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
	replace := func(quizzes ...*pb.Quiz) []*pb.Quiz {
		return do(Command{Caller: admin, Body: ReplaceQuizzes{Quizzes: quizzes}}).(Edited).Quizzes
	}
	var questions []*pb.Quiz
	for i := range 10 {
		questions = append(questions, &pb.Quiz{Question: fmt.Sprint(i), QuizType: MultipleChoice, Options: []string{"a", "b"}, Correct: []int32{int32(i % 2)}})
	}
	questions = append(questions, &pb.Quiz{Question: "free", QuizType: Descriptive})
	quizzes := replace(questions...)
	var people []*pb.Attendee
	for _, name := range []string{"Ann", "Ben", "Cem"} {
		do(Command{Caller: &Caller{Role: RoleAnyone}, Body: Register{Name: name}})
		people = append(people, l.attendees.At(l.attendees.Len()-1))
	}
	answer := func(who int, text string, of ...int) {
		s := SubmitQuiz{}
		for _, i := range of {
			s.Items = append(s.Items, SubmittedAnswer{QuizID: quizzes[i].Id, Answer: text})
		}
		do(Command{Caller: attendeeCaller(people[who]), Body: s})
	}
	expect := func(what string, want ...string) {
		t.Helper()
		b, err := EncodeState(l.Capture())
		if err != nil {
			t.Fatal(err)
		}
		restored := l.empty()
		if err := restored.Restore(l.seq, b); err != nil {
			t.Fatal(err)
		}
		for name, s := range map[string]*State{"live": l.State, "restored": restored, "replayed": replay(l.empty(), 0, l.events)} {
			for i, a := range people {
				var got []int
				for j := range 20 {
					if s.Capture().Right(a.Id).Has(j) {
						got = append(got, j)
					}
				}
				if fmt.Sprint(got) != want[i] {
					t.Errorf("%s, %s: %s has the right answers %v, want %s", what, name, a.Name, got, want[i])
				}
			}
		}
	}
	expect("before any answer", "[]", "[]", "[]")
	answer(1, "1", 0, 1, 9, 10)
	answer(2, "0", 0)
	expect("after answers", "[]", "[1 9]", "[0]")
	answer(1, "0", 1, 2)
	expect("after other answers", "[]", "[2 9]", "[0]")
	do(Command{Caller: admin, Body: Remove{AttendeeID: people[0].Id}})
	expect("after an attendee was removed", "[]", "[2 9]", "[0]")
	kept := quizzes[9].Clone()
	turned := quizzes[2].Clone()
	turned.Correct = []int32{1}
	replace(kept, turned)
	expect("after other questions", "[]", "[0]", "[]")
}
