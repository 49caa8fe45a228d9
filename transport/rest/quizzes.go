package rest

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/wire"
)

type quizRecord struct {
	ID             string   `json:"id" is:"Id"`
	CodelabID      string   `json:"codelab_id" is:"Id"`
	Question       string   `json:"question" length:"1..500"`
	QuizType       string   `json:"quiz_type" enum:"multiple_choice|descriptive"`
	Options        []string `json:"options" items:"..10" length:"1..500" doc:"Empty for a descriptive question."`
	Several        bool     `json:"several" doc:"Several options can be correct together. An answer is then an array of indexes."`
	CorrectAnswer  *int32   `json:"correct_answer" doc:"The index of the correct option, or of the first correct one."`
	CorrectAnswers *[]int32 `json:"correct_answers" doc:"Set if several options are correct together."`
	CreatedAt      string   `json:"created_at" is:"Timestamp"`
}

// toQuiz returns a question of the quiz, with its right answer if answered is set.
func toQuiz(lab string, q *pb.Quiz, answered bool) quizRecord {
	out := quizRecord{q.Id, lab, q.Question, q.QuizType, q.Options, q.Several, nil, nil, wire.Stamp(q.CreatedAt)}
	if answered && len(q.Correct) > 0 {
		out.CorrectAnswer = &q.Correct[0]
		if q.Several {
			out.CorrectAnswers = &q.Correct
		}
	}
	return out
}

func toQuizzes(lab string, quizzes []*pb.Quiz, answered func(i int) bool) []quizRecord {
	out := make([]quizRecord, len(quizzes))
	for i, q := range quizzes {
		out[i] = toQuiz(lab, q, answered(i))
	}
	return out
}

// Arguments of toQuizzes that show all right answers, or none.
func every(int) bool { return true }
func none(int) bool  { return false }

// getQuizzes returns the quiz. Facilitators see all right answers. Attendees see only the right
// answers to questions that they have answered correctly.
func getQuizzes(r *Request) error {
	v := r.view()
	var right codelab.Right
	variant := r.variant()
	if !r.IsAdmin() {
		right = v.Right(r.Caller.ID)
		variant += hex.EncodeToString([]byte(right))
	}
	if r.freshRevision(v.Revisions.Quizzes, v.Changed.Quizzes, variant) {
		return nil
	}
	if right != "" {
		return r.JSON(toQuizzes(r.Codelab.ID(), v.Quizzes, right.Has))
	}
	answered := none
	if r.IsAdmin() {
		answered = every
	}
	return r.cached(v.Encoded.Quizzes, r.slot(), func() any { return toQuizzes(r.Codelab.ID(), v.Quizzes, answered) })
}

// quizInput is a question in a request or an archive.
type quizInput struct {
	ID             string   `json:"id,omitempty"`
	Question       *string  `json:"question" length:"1..500" doc:"One line, trimmed."`
	QuizType       *string  `json:"quiz_type" enum:"multiple_choice|descriptive"`
	Options        []string `json:"options,omitempty" items:"..10" length:"1..500" doc:"2 to 10 for multiple_choice; ignored for descriptive."`
	CorrectAnswer  *int32   `json:"correct_answer,omitempty" null:"true" doc:"The index of the correct option. Required for multiple_choice without «correct_answers»."`
	CorrectAnswers *[]int32 `json:"correct_answers,omitempty" null:"true"`
}

func (in *quizInput) quiz(at string) (*pb.Quiz, error) {
	if in.Question == nil {
		return nil, wire.Invalid("%squestion is required", at)
	}
	if in.QuizType == nil {
		return nil, wire.Invalid("%squiz_type is required", at)
	}
	q := &pb.Quiz{Id: in.ID, Question: *in.Question, QuizType: *in.QuizType, Options: in.Options}
	switch {
	case in.CorrectAnswers != nil && len(*in.CorrectAnswers) > 0:
		q.Correct, q.Several = *in.CorrectAnswers, true
	case in.CorrectAnswer != nil:
		q.Correct = []int32{*in.CorrectAnswer}
	}
	return q, nil
}

func fromQuizzes(in []quizInput) ([]*pb.Quiz, error) {
	out := make([]*pb.Quiz, len(in))
	for i := range in {
		var err error
		if out[i], err = in[i].quiz(fmt.Sprintf("[%d].", i)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func replaceQuizzes(r *Request) error {
	var in *[]quizInput
	if err := r.decode(&in); err != nil {
		return err
	}
	if in == nil {
		return wire.Invalid("the body must be an array")
	}
	quizzes, err := fromQuizzes(*in)
	if err != nil {
		return err
	}
	made, err := r.edit(codelab.ReplaceQuizzes{Quizzes: quizzes})
	if err != nil {
		return err
	}
	return r.JSON(toQuizzes(r.Codelab.ID(), made.Quizzes, every))
}

// quizResultItem is the result of one answer of the submission.
type quizResultItem struct {
	QuizID    string `json:"quiz_id" is:"Id"`
	IsCorrect bool   `json:"is_correct"`
}

type quizResultRecord struct {
	Score   int              `json:"score" doc:"The number of correct answers, including earlier submissions."`
	Total   int              `json:"total" doc:"The number of questions in the codelab."`
	Passed  bool             `json:"passed" doc:"Every question is answered, and all choice questions correctly."`
	Results []quizResultItem `json:"results"`
}

type quizSubmitBody struct {
	Submissions *[]submittedAnswer `json:"submissions" items:"1..200" is:"QuizAnswer"`
}

type submittedAnswer struct {
	QuizID *string `json:"quiz_id"`
	Answer *string `json:"answer" length:"..10000" doc:"The index of the option as text, a JSON array of indexes as text, or free text."`
	// Correct is ignored, whatever its value.
	Correct json.RawMessage `json:"is_correct" as:"boolean" optional:"true" doc:"Ignored: the server grades."`
}

func submitQuiz(r *Request) error {
	var in quizSubmitBody
	if err := r.decode(&in); err != nil {
		return err
	}
	cmd := codelab.SubmitQuiz{}
	for _, s := range *in.Submissions {
		cmd.Items = append(cmd.Items, codelab.SubmittedAnswer{QuizID: *s.QuizID, Answer: *s.Answer})
	}
	v, err := r.do(cmd)
	if err != nil {
		return err
	}
	res := v.(codelab.QuizResult)
	items := make([]quizResultItem, len(res.Results))
	for i, a := range res.Results {
		items[i] = quizResultItem{a.QuizId, a.IsCorrect}
	}
	return r.JSON(quizResultRecord{res.Score, res.Total, res.Passed, items})
}

type quizAnswerRecord struct {
	ID           string `json:"id" is:"Id"`
	CodelabID    string `json:"codelab_id" is:"Id"`
	AttendeeID   string `json:"attendee_id" is:"Id"`
	AttendeeName string `json:"attendee_name"`
	QuizID       string `json:"quiz_id" is:"Id"`
	Answer       string `json:"answer" length:"..10000"`
	IsCorrect    bool   `json:"is_correct"`
	CreatedAt    string `json:"created_at" is:"Timestamp"`
	Attempts     int32  `json:"attempts" range:"1.." doc:"The number of the attendee's answers to the question. An identical answer sent again is not counted."`
	FirstAnswer  string `json:"first_answer" length:"..10000" doc:"The attendee's first answer."`
	FirstCorrect bool   `json:"first_correct" doc:"Whether the first answer is right."`
}

func toQuizAnswer(lab string, v *codelab.View, a *pb.QuizAnswer) quizAnswerRecord {
	first, right := codelab.FirstAnswer(a)
	return quizAnswerRecord{
		a.Id, lab, a.AttendeeId, v.Attendee(a.AttendeeId).GetName(), a.QuizId, a.Answer, a.IsCorrect, wire.Stamp(a.CreatedAt),
		a.Changes + 1, first, right,
	}
}

func getQuizSubmissions(r *Request) error {
	v := r.view()
	out := make([]quizAnswerRecord, 0, v.Answers.Len())
	for _, a := range v.Answers.All() {
		out = append(out, toQuizAnswer(r.Codelab.ID(), v, a))
	}
	return r.JSON(out)
}
