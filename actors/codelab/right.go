package codelab

import (
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/cow"
)

// Right is the set of choice questions that an attendee has answered correctly: one bit per entry
// of View.Quizzes, or "" for the empty set. Only to these questions can the attendee see the right
// answers.
type Right string

// Has reports whether question i is in the set.
func (r Right) Has(i int) bool { return i/8 < len(r) && r[i/8]&(1<<(i%8)) != 0 }

// Right returns the questions that an attendee has answered correctly.
func (v *View) Right(attendee string) Right {
	if i, ok := search(v.Attendees.Len(), v.Attendees.At, attendee, (*pb.Attendee).GetId); ok {
		return v.right.At(i)
	}
	return ""
}

// setRight updates the set of one attendee.
func (s *State) setRight(attendee string) {
	at, ok := s.byAttendee[attendee]
	if !ok {
		return
	}
	var set bits
	for i, q := range s.quizzes {
		if j, ok := s.answerOf[answerKey{attendee, q.Id}]; ok && len(q.Correct) > 0 && s.answers.At(j).IsCorrect {
			set.add(i, len(s.quizzes))
		}
	}
	s.right.Set(at, Right(set))
}

// indexRight computes the sets of all attendees, reading each answer once.
func (s *State) indexRight() {
	number := map[string]int{}
	for i, q := range s.quizzes {
		if len(q.Correct) > 0 {
			number[q.Id] = i
		}
	}
	sets := make([]bits, s.attendees.Len())
	for _, a := range s.answers.All() {
		i, choice := number[a.QuizId]
		if at, ok := s.byAttendee[a.AttendeeId]; ok && choice && a.IsCorrect {
			sets[at].add(i, len(s.quizzes))
		}
	}
	s.right = cow.Vector[Right]{}
	for _, set := range sets {
		s.right.Append(Right(set))
	}
}

type bits []byte

// add sets bit i of a set with the given size.
func (b *bits) add(i, of int) {
	if *b == nil {
		*b = make(bits, (of+7)/8)
	}
	(*b)[i/8] |= 1 << (i % 8)
}
