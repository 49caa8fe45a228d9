package rest

import (
	"slices"
	"time"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/naming"
	"atelier/transport/httpapi"
	"atelier/transport/wire"
)

// QuestionRecord is a question to everybody as sent to clients (RULES.md, "Questions"). Its struct
// tags describe the fields in the OpenAPI and AsyncAPI documents.
type QuestionRecord struct {
	ID         string  `json:"id" is:"Id"`
	Text       string  `json:"text" length:"1..500"`
	AuthorID   *string `json:"author_id" is:"Id" doc:"Null for everybody if the question is anonymous."`
	AuthorName *string `json:"author_name"`
	Anonymous  bool    `json:"anonymous"`
	StepID     *string `json:"step_id" is:"Id"`
	State      string  `json:"state" enum:"waiting|open|answered|hidden"`
	Answer     *string `json:"answer" length:"..2000" doc:"Null if the question was answered aloud, or not yet."`
	AnsweredBy *string `json:"answered_by"`
	Person     *string `json:"person" doc:"The facilitator or assistant who answered."`
	Votes      int     `json:"votes"`
	CreatedAt  string  `json:"created_at" is:"Timestamp"`
}

// QuestionStates lists the names of the states, in the order of their numbers.
var QuestionStates = []string{"waiting", "open", "answered", "hidden"}

// ToQuestion returns a question as it appears to everybody who can see it.
func ToQuestion(q *pb.Question) *QuestionRecord {
	out := &QuestionRecord{
		ID: q.Id, Text: q.Text, Anonymous: q.Anonymous, StepID: wire.OrNull(q.StepId), Answer: wire.OrNull(q.Answer),
		AnsweredBy: wire.OrNull(q.AnsweredBy), Person: wire.OrNull(q.Leader), Votes: int(q.Votes), CreatedAt: wire.Stamp(q.CreatedAt),
	}
	if i := int(q.State); i < len(QuestionStates) {
		out.State = QuestionStates[i]
	}
	if !q.Anonymous {
		out.AuthorID, out.AuthorName = wire.OrNull(q.AuthorId), wire.OrNull(q.AuthorName)
	}
	return out
}

// questionRecord is a question as its reader sees it.
type questionRecord struct {
	QuestionRecord
	Mine  bool `json:"mine" doc:"The caller asked it."`
	Voted bool `json:"voted" doc:"The caller has voted for it."`
}

func (r *Request) question(v *codelab.View, q *codelab.QuestionView) questionRecord {
	out := questionRecord{QuestionRecord: *ToQuestion(q.Question)}
	if !r.IsAdmin() {
		out.Mine, out.Voted = q.AuthorId == r.Caller.ID, v.VotedFor(q, r.Caller.ID)
	}
	return out
}

func getQuestions(r *Request) error {
	v := r.view()
	who := r.Caller.ID
	if r.IsAdmin() {
		who = ""
	}
	out := []questionRecord{}
	for _, q := range v.QuestionsFor(who) {
		out = append(out, r.question(v, &q))
	}
	return r.JSON(out)
}

type questionCreateBody struct {
	Text      *string `json:"text" length:"1..500"`
	Anonymous *bool   `json:"anonymous,omitempty" default:"false" doc:"Whether the name of the asker is hidden. 409 if anonymous questions are switched off."`
	StepID    string  `json:"step_id,omitempty" doc:"The step it is about."`
}

func askQuestion(r *Request) error {
	var in questionCreateBody
	if err := r.decode(&in); err != nil {
		return err
	}
	// Only one of a person's concurrent questions is accepted. Otherwise all of them would pass the
	// check of the rate limit below.
	if _, asks := r.api.asking.LoadOrStore(r.Caller.ID, true); asks {
		return httpapi.ErrTooMany(time.Second)
	}
	defer r.api.asking.Delete(r.Caller.ID)
	// The limit is only checked here, because a question that is refused for another reason must
	// not count.
	if wait := r.api.Limits.Questions.Check(r.Caller.ID); wait > 0 {
		return httpapi.ErrTooMany(wait)
	}
	made, err := r.do(codelab.AskQuestion{Text: *in.Text, Anonymous: or(in.Anonymous, false), StepID: in.StepID, Siblings: r.who.Siblings(r.Codelab.ID())})
	if err == nil {
		r.api.Limits.Questions.Allow(r.Caller.ID)
	}
	return r.answerQuestion(made, err)
}

type questionTakeBody struct {
	ChatID string `json:"chat_id,omitempty" doc:"The id of an attendee's message to all."`
	HelpID string `json:"help_id,omitempty" doc:"The id of a request for help."`
	Text   string `json:"text,omitempty" length:"..500" doc:"The text of the question, for a request for help."`
}

// takeQuestion creates a question from a message or a request for help.
func takeQuestion(r *Request) error {
	var in questionTakeBody
	if err := r.decode(&in); err != nil {
		return err
	}
	if (in.ChatID == "") == (in.HelpID == "") {
		return wire.Invalid("chat_id, or help_id with text, is required")
	}
	return r.answerQuestion(r.do(codelab.TakeQuestion{ChatID: in.ChatID, HelpID: in.HelpID, Text: in.Text}))
}

type questionUpdateBody struct {
	State  *string `json:"state,omitempty" enum:"waiting|open|answered|hidden"`
	Answer *string `json:"answer,omitempty" length:"..2000" doc:"Empty for none."`
}

func updateQuestion(r *Request) error {
	var in questionUpdateBody
	if err := r.decode(&in); err != nil {
		return err
	}
	b := codelab.ChangeQuestion{QuestionID: r.Param("question_id"), Answer: in.Answer}
	if in.State != nil {
		i := slices.Index(QuestionStates, *in.State)
		if i < 0 {
			return wire.Invalid("state must be %s", naming.Or(QuestionStates...))
		}
		b.State = pb.QuestionState(i).Enum()
	}
	if in.State == nil && in.Answer == nil {
		return wire.Invalid("state or answer is required")
	}
	return r.answerQuestion(r.do(b))
}

func deleteQuestion(r *Request) error {
	if _, err := r.do(codelab.DeleteQuestion{QuestionID: r.Param("question_id")}); err != nil {
		return err
	}
	return r.NoContent()
}

func voteQuestion(r *Request) error {
	return r.answerQuestion(r.do(codelab.VoteQuestion{QuestionID: r.Param("question_id")}))
}

func unvoteQuestion(r *Request) error {
	return r.answerQuestion(r.do(codelab.VoteQuestion{QuestionID: r.Param("question_id"), Withdrawn: true}))
}

type questionMergeBody struct {
	Into string `json:"into" doc:"The id of the question that stays."`
}

func mergeQuestion(r *Request) error {
	var in questionMergeBody
	if err := r.decode(&in); err != nil {
		return err
	}
	if in.Into == "" {
		return wire.Invalid("into is required: the id of another question")
	}
	return r.answerQuestion(r.do(codelab.MergeQuestion{QuestionID: r.Param("question_id"), Into: in.Into}))
}

func stopAsker(r *Request) error {
	if _, err := r.do(codelab.StopAsker{QuestionID: r.Param("question_id")}); err != nil {
		return err
	}
	return r.ok()
}

// answerQuestion sends the created or changed question as the caller sees it.
func (r *Request) answerQuestion(made any, err error) error {
	if err != nil {
		return err
	}
	id := r.Param("question_id")
	if q, ok := made.(*pb.Question); ok {
		id = q.Id
	}
	v := r.view()
	q := v.Question(id)
	if q == nil {
		return codelab.ErrNoQuestion // just deleted
	}
	return r.JSON(r.question(v, q))
}
