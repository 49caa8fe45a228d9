package codelab

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// The kinds of quiz question.
const (
	MultipleChoice = "multiple_choice"
	Descriptive    = "descriptive"
)

const (
	maxQuizzes      = 200
	maxQuizQuestion = 500
	maxQuizOptions  = 10
	maxQuizOption   = 500
	maxAnswer       = 10_000
)

// QuizResult is the reply to a SubmitQuiz command.
type QuizResult struct {
	// Score is the number of the attendee's right answers, and Total the number of questions.
	Score, Total int
	// Passed means that the attendee has answered every question, and all choice questions
	// correctly.
	Passed bool
	// Results lists the answers of this submission, in their order.
	Results []*pb.QuizAnswer
}

// newQuizzes checks questions and assigns ids. A question with a known id keeps the id and its
// answers.
func (c call) newQuizzes(in []*pb.Quiz) ([]*pb.Quiz, error) {
	if len(in) > maxQuizzes {
		return nil, durable.Reject(durable.Invalid, "a codelab has at most %d questions", maxQuizzes)
	}
	known := map[string]*pb.Quiz{}
	for _, q := range c.s.quizzes {
		known[q.Id] = q
	}
	out := make([]*pb.Quiz, len(in))
	for i, q := range in {
		q = q.Clone()
		if err := checkQuiz(fmt.Sprintf("[%d].", i), q); err != nil {
			return nil, err
		}
		if old := known[q.Id]; old != nil {
			delete(known, q.Id)
			q.CreatedAt = old.CreatedAt
		} else {
			q.Id, q.CreatedAt = c.id(), c.now.UnixMilli()
		}
		out[i] = q
	}
	return out, nil
}

func checkQuiz(at string, q *pb.Quiz) (err error) {
	if q.Question, err = line(at+"question", q.Question, 1, maxQuizQuestion); err != nil {
		return err
	}
	switch q.QuizType {
	case Descriptive:
		q.Options, q.Correct, q.Several = nil, nil, false
		return nil
	case MultipleChoice:
	default:
		return durable.Reject(durable.Invalid, "%squiz_type must be %s or %s", at, MultipleChoice, Descriptive)
	}
	if len(q.Options) < 2 || len(q.Options) > maxQuizOptions {
		return durable.Reject(durable.Invalid, "%soptions: 2 to %d are needed", at, maxQuizOptions)
	}
	for i := range q.Options {
		if q.Options[i], err = line(fmt.Sprintf("%soptions[%d]", at, i), q.Options[i], 1, maxQuizOption); err != nil {
			return err
		}
	}
	slices.Sort(q.Correct)
	q.Correct = slices.Compact(q.Correct)
	if len(q.Correct) == 0 {
		return durable.Reject(durable.Invalid, "%scorrect_answer is required", at)
	}
	if q.Correct[0] < 0 || int(q.Correct[len(q.Correct)-1]) >= len(q.Options) {
		return durable.Reject(durable.Invalid, "%scorrect_answer must be the index of an option", at)
	}
	return nil
}

// ReplaceQuizzes replaces the questions. Answers to remaining questions are graded again.
type ReplaceQuizzes struct {
	Quizzes []*pb.Quiz
}

func (r ReplaceQuizzes) decide(c call) (decision, error) {
	quizzes, err := c.newQuizzes(r.Quizzes)
	if err != nil {
		return decision{}, err
	}
	d := decided(Edited{Quizzes: quizzes, Revision: c.seq, Seq: c.seq}, &pb.Event{Body: &pb.Event_QuizzesReplaced{QuizzesReplaced: &pb.QuizzesReplaced{Quizzes: quizzes}}})
	d.Rows = c.audit("quiz_update", c.s.id, map[string]string{"questions": fmt.Sprint(len(quizzes))})
	d.Rows = append(d.Rows, c.textRows(c.s.inText(), inText(c.s.meta, c.s.steps, quizzes, c.s.pin.GetMessage()))...)
	return d, nil
}

// SubmittedAnswer is the answer to one question: the chosen options as in ChoiceText, or a free
// text.
type SubmittedAnswer struct{ QuizID, Answer string }

// SubmitQuiz answers questions. A later answer replaces the earlier one; the first answer is also
// stored.
type SubmitQuiz struct {
	Items []SubmittedAnswer
}

func (b SubmitQuiz) decide(c call) (decision, error) {
	if c.s.attendee(c.ID) == nil {
		return decision{}, durable.Reject(durable.Forbidden, "only attendees can answer quizzes")
	}
	if len(b.Items) == 0 || len(b.Items) > maxQuizzes {
		return decision{}, durable.Reject(durable.Invalid, "submissions: 1 to %d answers are needed", maxQuizzes)
	}
	var results []*pb.QuizAnswer
	right := map[string]bool{}
	for i, item := range b.Items {
		q := c.s.quiz(item.QuizID)
		if q == nil {
			return decision{}, durable.Reject(durable.Invalid, "submissions[%d].quiz_id is unknown", i)
		}
		if err := text(fmt.Sprintf("submissions[%d].answer", i), item.Answer, 0, maxAnswer); err != nil {
			return decision{}, err
		}
		if _, twice := right[q.Id]; twice {
			return decision{}, durable.Reject(durable.Invalid, "submissions[%d].quiz_id is answered twice", i)
		}
		ok := grade(q, item.Answer)
		right[q.Id] = ok
		results = append(results, &pb.QuizAnswer{
			Id: c.id(), AttendeeId: c.ID, QuizId: q.Id, Answer: item.Answer, IsCorrect: ok, CreatedAt: c.now.UnixMilli(),
		})
	}
	score, answered := c.s.standing(c.ID, right)
	total := len(c.s.quizzes)
	reply := QuizResult{Score: score, Total: total, Passed: answered == total && score == total, Results: results}
	return decided(reply, &pb.Event{Body: &pb.Event_QuizSubmitted{QuizSubmitted: &pb.QuizSubmitted{AttendeeId: c.ID, Answers: results}}}), nil
}

// grade reports whether an answer is right. An answer to a choice question is the index of an
// option, or a JSON array of indexes. Any free text that is not blank counts as right.
func grade(q *pb.Quiz, answer string) bool {
	answer = strings.TrimSpace(answer)
	if q.QuizType == Descriptive {
		return answer != ""
	}
	return slices.Equal(Choices(answer), q.Correct)
}

// Choices parses the answer to a choice question: indexes, ascending, without duplicates. It
// returns nil if the answer is invalid.
func Choices(answer string) []int32 {
	answer = strings.TrimSpace(answer)
	var given []int32
	if n, err := strconv.ParseInt(answer, 10, 32); err == nil {
		given = []int32{int32(n)}
	} else if json.Unmarshal([]byte(answer), &given) != nil {
		return nil
	}
	slices.Sort(given)
	return slices.Compact(given)
}

// ChoiceText returns the answer that chooses these options.
func ChoiceText(options []int32) string {
	if len(options) == 1 {
		return strconv.Itoa(int(options[0]))
	}
	b, _ := json.Marshal(options) // Marshal cannot fail for numbers
	return string(b)
}

func (s *State) quiz(id string) *pb.Quiz {
	for _, q := range s.quizzes {
		if q.Id == id {
			return q
		}
	}
	return nil
}

// standing counts an attendee's right answers, and all answers. The answers in newer replace stored
// ones; true means right.
func (s *State) standing(attendee string, newer map[string]bool) (right, answered int) {
	for _, q := range s.quizzes {
		ok, given := newer[q.Id]
		if i, stored := s.answerOf[answerKey{attendee, q.Id}]; stored && !given {
			ok, given = s.answers.At(i).IsCorrect, true
		}
		if given {
			answered++
		}
		if ok {
			right++
		}
	}
	return right, answered
}

func (s *State) quizPassed(attendee string) bool {
	right, answered := s.standing(attendee, nil)
	return right == len(s.quizzes) && answered == len(s.quizzes)
}

// applyQuizzes replaces the questions. Answers to remaining questions are graded again; other
// answers are removed.
func (s *State) applyQuizzes(seq uint64, quizzes []*pb.Quiz) {
	s.quizzes = quizzes
	s.changed.Quizzes, s.revisions.Quizzes = seq, seq
	for _, q := range quizzes {
		s.seen(q.Id)
	}
	if s.answers.Len() == 0 {
		return
	}
	s.changed.Answers = seq
	if s.answers.Filter(func(a *pb.QuizAnswer) bool { return s.quiz(a.QuizId) != nil }) > 0 {
		s.indexAnswers()
	}
	for i, a := range s.answers.All() {
		q := s.quiz(a.QuizId)
		ok, first := grade(q, a.Answer), a.Changes > 0 && grade(q, a.FirstAnswer)
		if ok != a.IsCorrect || first != a.FirstCorrect {
			a = a.Clone()
			a.IsCorrect, a.FirstCorrect = ok, first
			s.answers.Set(i, a)
		}
	}
	s.indexRight()
}

func (s *State) applyAnswers(seq uint64, answers []*pb.QuizAnswer) {
	s.changed.Answers = seq
	for _, a := range answers {
		s.seen(a.Id)
		if s.attendee(a.AttendeeId) == nil || s.quiz(a.QuizId) == nil {
			continue
		}
		k := answerKey{a.AttendeeId, a.QuizId}
		if i, ok := s.answerOf[k]; ok {
			s.answers.Set(i, after(s.answers.At(i), a))
			continue
		}
		s.answerOf[k] = s.answers.Len()
		s.answers.Append(a)
	}
	if len(answers) > 0 {
		s.setRight(answers[0].AttendeeId) // all answers of an event have the same author
	}
}

// after returns the record of answer a, which follows old, with the first answer and the number of
// changes. A repeated answer is not a change, because clients send the whole quiz each time.
func after(old, a *pb.QuizAnswer) *pb.QuizAnswer {
	a = a.Clone()
	a.Changes, a.FirstAnswer, a.FirstCorrect = old.Changes, old.FirstAnswer, old.FirstCorrect
	if a.Answer == old.Answer {
		return a
	}
	if a.Changes == 0 {
		a.FirstAnswer, a.FirstCorrect = old.Answer, old.IsCorrect
	}
	a.Changes++
	return a
}

// FirstAnswer returns an attendee's first answer, and whether it is right.
func FirstAnswer(a *pb.QuizAnswer) (answer string, right bool) {
	if a.Changes == 0 {
		return a.Answer, a.IsCorrect
	}
	return a.FirstAnswer, a.FirstCorrect
}

func (s *State) indexAnswers() {
	clear(s.answerOf)
	for i, a := range s.answers.All() {
		s.answerOf[answerKey{a.AttendeeId, a.QuizId}] = i
	}
}
