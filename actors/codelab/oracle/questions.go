package oracle

import (
	"fmt"
	"maps"
	"slices"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
)

// questions is the model of the section "Questions".
type questions struct {
	room     *room
	asking   pb.Asking
	named    bool
	all      []*question // oldest first
	stopped  map[string]bool
	wordings map[string]bool // the texts of AskQuestion; other questions are from TakeQuestion
}

type question struct {
	rec    *pb.Question
	author string
	leaves int64
	step   string
	voters map[string]bool
}

const (
	maxUnanswered = 5   // per attendee
	maxQuestions  = 500 // per codelab
	maxStay       = 24 * 60 * 60 * 1000
)

func (m *questions) find(id string) *question {
	for _, q := range m.all {
		if q.rec.Id == id {
			return q
		}
	}
	return nil
}

// visible reports whether everybody sees a question.
func visible(s pb.QuestionState) bool {
	return s == pb.QuestionState_QUESTION_STATE_OPEN || s == pb.QuestionState_QUESTION_STATE_ANSWERED
}

func (m *questions) drop(id string) {
	m.all = slices.DeleteFunc(m.all, func(q *question) bool { return q.rec.Id == id })
}

func (m *questions) event(e *pb.Event) error {
	switch b := e.Body.(type) {
	case *pb.Event_Created:
		m.asking, m.named = b.Created.Codelab.Questions, b.Created.Codelab.QuestionsNamed
	case *pb.Event_Updated:
		m.asking, m.named = b.Updated.Codelab.Questions, b.Updated.Codelab.QuestionsNamed
		if b.Updated.Codelab.EndedAt != 0 {
			m.stopped = nil // nobody stays stopped after the workshop has ended
		}
	case *pb.Event_QuestionAsked:
		return m.asked(b.QuestionAsked.Question)
	case *pb.Event_QuestionChanged:
		q := m.find(b.QuestionChanged.Question.Id)
		if q == nil || q.rec.Text != b.QuestionChanged.Question.Text || q.rec.Anonymous != b.QuestionChanged.Question.Anonymous {
			return fmt.Errorf("the text or anonymity of question %s changed", b.QuestionChanged.Question.Id)
		}
		q.rec = b.QuestionChanged.Question
		return differs("the number of votes in the message about question "+q.rec.Id, q.rec.Votes, len(q.voters))
	case *pb.Event_QuestionHidden:
		if q := m.find(b.QuestionHidden.QuestionId); q != nil && visible(q.rec.State) {
			return fmt.Errorf("question %s was hidden, but is %v", q.rec.Id, q.rec.State)
		}
	case *pb.Event_QuestionDeleted:
		m.drop(b.QuestionDeleted.QuestionId)
	case *pb.Event_QuestionVoted:
		q, who := m.find(b.QuestionVoted.QuestionId), b.QuestionVoted.AttendeeId
		if q == nil || q.rec.State != pb.QuestionState_QUESTION_STATE_OPEN || q.author == who || m.room.find(who) == nil || m.room.ended {
			return fmt.Errorf("%s voted for question %s, which is not allowed: %+v", who, b.QuestionVoted.QuestionId, q)
		}
		if b.QuestionVoted.Withdrawn {
			delete(q.voters, who)
		} else {
			q.voters[who] = true
		}
	case *pb.Event_QuestionsMerged: // the voters of both count, and the author of the merged one
		q, into := m.find(b.QuestionsMerged.QuestionId), m.find(b.QuestionsMerged.Into)
		if q == nil || into == nil || q == into {
			return fmt.Errorf("question %s was merged into %s, but one is missing or both are the same", b.QuestionsMerged.QuestionId, b.QuestionsMerged.Into)
		}
		maps.Copy(into.voters, q.voters)
		if q.author != "" && m.room.find(q.author) != nil {
			into.voters[q.author] = true
		}
		delete(into.voters, into.author)
		m.drop(q.rec.Id)
	case *pb.Event_AskerStopped:
		if who := b.AskerStopped.AttendeeId; who != "" { // a stopped person who registered under another name
			if m.room.find(who) == nil || len(m.stopped) == 0 {
				return fmt.Errorf("attendee %s was stopped from asking without a reason", who)
			}
			m.stopped[who] = true
			return nil
		}
		if q := m.find(b.AskerStopped.QuestionId); q == nil || !q.rec.Anonymous || q.author == "" {
			return fmt.Errorf("the author of question %s was stopped, but the question is not anonymous or has no author", b.AskerStopped.QuestionId)
		} else if m.stopped == nil {
			m.stopped = map[string]bool{q.author: true}
		} else {
			m.stopped[q.author] = true
		}
	case *pb.Event_Removed:
		m.left(e.At, b.Removed)
	case *pb.Event_StepsReplaced:
		for _, q := range m.all {
			if !slices.Contains(idsOf(b.StepsReplaced.Steps), q.step) {
				q.step = ""
			}
		}
	}
	return nil
}

// asked verifies that the author is allowed to ask, that the numbers of questions are within their
// bounds, and that the new question has the right state. A question that a facilitator takes from
// chat or a help request is open.
func (m *questions) asked(rec *pb.Question) error {
	unanswered := 0
	for _, q := range m.all {
		if q.author == rec.AuthorId && (q.rec.State == pb.QuestionState_QUESTION_STATE_WAITING || q.rec.State == pb.QuestionState_QUESTION_STATE_OPEN) {
			unanswered++
		}
	}
	begins := pb.QuestionState_QUESTION_STATE_OPEN
	own := m.wordings[rec.Text]
	if own && m.asking == pb.Asking_ASKING_CHECKED {
		begins = pb.QuestionState_QUESTION_STATE_WAITING
	}
	who := m.room.find(rec.AuthorId)
	switch {
	case rec.State != begins:
		return fmt.Errorf("the new question %s is %v", rec.Id, rec.State)
	case own && (unanswered >= maxUnanswered || m.stopped[rec.AuthorId]):
		return fmt.Errorf("%s asked a question, with %d unanswered questions, stopped: %t", rec.AuthorId, unanswered, m.stopped[rec.AuthorId])
	case own && (m.asking == pb.Asking_ASKING_OFF || m.named && rec.Anonymous || m.room.ended || who == nil || who.muted):
		return fmt.Errorf("%s asked a question, which is not allowed: %+v", rec.AuthorId, who)
	case len(m.all) >= maxQuestions:
		return fmt.Errorf("a question was added to %d questions, the maximum", len(m.all))
	}
	m.all = append(m.all, &question{rec: rec, author: rec.AuthorId, step: rec.StepId, voters: map[string]bool{}})
	return nil
}

// left handles the removal of a person. Their named questions are removed, and their anonymous
// questions lose the author. If the person was erased, these questions are removed later, at the
// same time as those of all other erased people.
func (m *questions) left(at int64, b *pb.Removed) {
	leaves := at + maxStay
	for _, q := range m.all {
		if q.leaves != 0 {
			leaves = q.leaves
		}
	}
	for _, q := range slices.Clone(m.all) {
		delete(q.voters, b.AttendeeId)
		switch {
		case q.author != b.AttendeeId:
		case !q.rec.Anonymous:
			m.drop(q.rec.Id)
		default:
			if q.author = ""; b.Erased {
				q.leaves = leaves
			}
		}
	}
	delete(m.stopped, b.AttendeeId)
}

func (m *questions) view(v *codelab.View) error {
	if len(v.Questions) != len(m.all) {
		return differs("the number of questions", len(v.Questions), len(m.all))
	}
	for i, q := range m.all {
		got := &v.Questions[i]
		name := q.rec.AuthorName
		if q.author == "" {
			name = ""
		}
		if err := differs("question "+q.rec.Id,
			fmt.Sprint(got.Id, got.Text, got.AuthorId, got.AuthorName, got.State, got.Answer, got.StepId, got.LeavesAt, got.Votes),
			fmt.Sprint(q.rec.Id, q.rec.Text, q.author, name, q.rec.State, q.rec.Answer, q.step, q.leaves, len(q.voters))); err != nil {
			return err
		}
		for _, p := range m.room.people {
			if v.VotedFor(got, p.id) != q.voters[p.id] {
				return differs(fmt.Sprint("whether ", p.id, " votes for question ", q.rec.Id), !q.voters[p.id], q.voters[p.id])
			}
		}
	}
	return nil
}
