package codelab

import (
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/cow"
)

// Right are the choice questions that an attendee has answered right, a bit
// for each of View.Quizzes, "" for none: what they may be shown the answer of.
type Right string

// Has says whether question i is among them.
func (r Right) Has(i int) bool { return i/8 < len(r) && r[i/8]&(1<<(i%8)) != 0 }

// Right returns those of an attendee.
func (v *View) Right(attendee string) Right {
	if i, ok := search(v.Attendees.Len(), v.Attendees.At, attendee, (*pb.Attendee).GetId); ok {
		return v.right.At(i)
	}
	return ""
}

// rightOf finds those of an attendee.
func (s *State) rightOf(attendee string) Right {
	var set []byte
	for i, q := range s.quizzes {
		if at, ok := s.answerOf[answerKey{attendee, q.Id}]; ok && len(q.Correct) > 0 && s.answers.At(at).IsCorrect {
			if set == nil {
				set = make([]byte, (len(s.quizzes)+7)/8)
			}
			set[i/8] |= 1 << (i % 8)
		}
	}
	return Right(set)
}

// indexRight finds those of all attendees, in their order.
func (s *State) indexRight() {
	s.right = cow.Vector[Right]{}
	for _, a := range s.attendees.All() {
		s.right.Append(s.rightOf(a.Id))
	}
}
