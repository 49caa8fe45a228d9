package rest

import (
	"iter"

	"atelier/actors/audit"
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/cow"
	"atelier/actors/files"
	"atelier/transport/language"
	"atelier/transport/wire"
)

// takeout exports all data about a codelab or one of its people.
type takeout struct {
	v       *codelab.View
	lab     string
	person  string // the id of an attendee, or "" for all
	reader  string // the person who receives the export, for codelab.Visible
	at      string
	uploads *files.Register
	audit   []*audit.Record // about the person
	// deletion is the time at which the codelab will be deleted, or nil for never.
	deletion *string
	// submitted maps submission ids to paths in the ZIP.
	submitted map[string]string
	written   []written
	// texts contains the page's texts, in the caller's language.
	texts *language.Texts
}

// written is a kind of record and the number of written records.
type written struct {
	*kind
	n int
}

// maxAudited bounds the number of audit records about one person.
const maxAudited = 10000

// kind is a kind of record. Its records are exported as the API returns them, and as a table.
type kind struct {
	// name is the name of the kind's files, and of its texts in language.Takeout.
	name    string
	only    scope
	of      any // an empty record, which determines the table's header
	records func(t *takeout) iter.Seq[any]
}

// scope limits a kind of record to one of the two exports. By default both exports contain the
// kind.
type scope byte

const (
	ofAll scope = 1 + iota
	ofOne
)

func (t *takeout) scope() scope {
	if t.person == "" {
		return ofAll
	}
	return ofOne
}

// of reports whether the export includes a record that is about one or more people.
func (t *takeout) of(people ...string) bool {
	for _, id := range people {
		if id == t.person {
			return true
		}
	}
	return t.person == ""
}

// shows reports whether the export includes a message. Facilitators do not get messages between two
// other people.
func (t *takeout) shows(m *pb.ChatMessage) bool {
	return t.of(m.SenderId, m.TargetId) && codelab.Visible(m, t.reader)
}

// each converts the list elements that belong to the export.
func each[T any](list func(t *takeout) cow.View[T], about func(T) string, to func(t *takeout, x T) any) func(*takeout) iter.Seq[any] {
	return func(t *takeout) iter.Seq[any] {
		return func(yield func(any) bool) {
			for _, x := range list(t).All() {
				if t.of(about(x)) && !yield(to(t, x)) {
					return
				}
			}
		}
	}
}

func attendeesOf(t *takeout) cow.View[*pb.Attendee] { return t.v.Attendees }

var kinds = []kind{
	{
		name: "people",
		of:   attendeeRecord{},
		records: each(attendeesOf, (*pb.Attendee).GetId, func(t *takeout, a *pb.Attendee) any {
			return toAttendee(t.lab, t.v.TaskCount(), a, true)
		}),
	},
	{
		name: "progress",
		of:   progressRecord{}, records: progressOf,
	},
	{
		name: "ticks", only: ofOne,
		of: tickedRecord{}, records: ticksOf,
	},
	{
		name: "chat",
		of:   chatRecord{},
		records: func(t *takeout) iter.Seq[any] {
			return func(yield func(any) bool) {
				for _, m := range t.v.Chat.All() {
					if t.shows(m) && !yield(toChat(t.lab, m)) {
						return
					}
				}
			}
		},
	},
	{
		name: "help",
		of:   helpRecord{},
		records: each(func(t *takeout) cow.View[*pb.HelpRequest] { return t.v.Help }, (*pb.HelpRequest).GetAttendeeId, func(t *takeout, h *pb.HelpRequest) any {
			return toHelp(t.lab, h)
		}),
	},
	{
		name: "comments",
		of:   targetedComment{}, records: commentsOf,
	},
	{
		name: "quizzes", only: ofAll,
		of: quizRecord{},
		records: func(t *takeout) iter.Seq[any] {
			return func(yield func(any) bool) {
				for _, q := range t.v.Quizzes {
					if !yield(toQuiz(t.lab, q, true)) {
						return
					}
				}
			}
		},
	},
	{
		name: "answers",
		of:   answeredRecord{},
		records: each(func(t *takeout) cow.View[*pb.QuizAnswer] { return t.v.Answers }, (*pb.QuizAnswer).GetAttendeeId, func(t *takeout, a *pb.QuizAnswer) any {
			out := answeredRecord{quizAnswerRecord: toQuizAnswer(t.lab, t.v, a)}
			for _, q := range t.v.Quizzes {
				if q.Id == a.QuizId {
					out.Question, out.AnswerText, out.FirstAnswerText = q.Question, chosen(q, a.Answer), chosen(q, out.FirstAnswer)
				}
			}
			return out
		}),
	},
	{
		name: "polls",
		of:   pollAnswerRecord{}, records: pollAnswersOf,
	},
	{
		name: "room_questions",
		of:   QuestionRecord{},
		records: func(t *takeout) iter.Seq[any] {
			return func(yield func(any) bool) {
				for _, q := range t.v.Questions {
					// A facilitator who exports one person must not learn which anonymous questions
					// are theirs.
					hidden := q.Anonymous && t.person != "" && t.reader != t.person
					if t.of(q.AuthorId) && !hidden && !yield(*ToQuestion(q.Question)) {
						return
					}
				}
			}
		},
	},
	{
		name: "feedback",
		of:   feedbackRecord{},
		records: each(func(t *takeout) cow.View[*pb.Feedback] { return t.v.Feedback }, (*pb.Feedback).GetAttendeeId, func(t *takeout, f *pb.Feedback) any {
			return toFeedback(t.lab, f)
		}),
	},
	{
		name: "submissions",
		of:   submissionRecord{},
		records: each(func(t *takeout) cow.View[*pb.Submission] { return t.v.Submissions }, (*pb.Submission).GetAttendeeId, func(t *takeout, s *pb.Submission) any {
			out := toSubmission(t.lab, t.v.Attendee(s.AttendeeId).GetName(), s)
			out.FilePath = wire.OrNull(t.submitted[s.Id])
			return out
		}),
	},
	{
		name: "certificates",
		of:   certificateRecord{},
		records: func(t *takeout) iter.Seq[any] {
			return func(yield func(any) bool) {
				for _, a := range t.v.Attendees.All() {
					if a.CompletedAt == 0 || !t.of(a.Id) {
						continue
					}
					out := toCertificate(t.v, a)
					out.DeletionAt = t.deletion
					if !yield(out) {
						return
					}
				}
			}
		},
	},
	{
		name: "conversations",
		of:   conversationRecord{},
		records: each(func(t *takeout) cow.View[*pb.Conversation] { return t.v.Conversations }, (*pb.Conversation).GetUserId, func(t *takeout, c *pb.Conversation) any {
			return toConversation(t.lab, c)
		}),
	},
	{
		name: "audit", only: ofOne,
		of: auditRecord{},
		records: func(t *takeout) iter.Seq[any] {
			return func(yield func(any) bool) {
				for _, a := range t.audit {
					out := toAudit(a)
					if a.ActorId != t.person { // no ids or addresses of other people
						out.ActorID, out.IP, out.UserAgent = nil, "", ""
					}
					if !yield(out) {
						return
					}
				}
			}
		},
	},
}

// pollAnswerRecord is a person's vote, or the number of people with the same vote.
type pollAnswerRecord struct {
	PollID       string  `json:"poll_id"`
	Question     string  `json:"question"`
	Anonymous    bool    `json:"anonymous"`
	AttendeeID   *string `json:"attendee_id"`
	AttendeeName *string `json:"attendee_name"`
	Answer       string  `json:"answer"`
	Votes        int     `json:"votes"`
}

// pollAnswersOf returns the votes. In an export of one person, it returns only their own votes.
func pollAnswersOf(t *takeout) iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, p := range t.v.Polls {
			for x := range pollRows(t.v, p) {
				mine := t.person == "" || x.AttendeeID == t.person
				if mine && !yield(pollAnswerRecord{p.Id, p.Question, p.Anonymous, wire.OrNull(x.AttendeeID), wire.OrNull(x.AttendeeName), x.Answer, x.Votes}) {
					return
				}
			}
		}
	}
}

// progressRecord is the time at which a person reached a step.
type progressRecord struct {
	AttendeeID   string `json:"attendee_id"`
	AttendeeName string `json:"attendee_name"`
	StepNumber   int    `json:"step_number"`
	StepTitle    string `json:"step_title"`
	ReachedAt    string `json:"reached_at"`
	// Seconds is the time spent on the step. It is null if the person is still on the step or
	// skipped it.
	Seconds *int64 `json:"seconds"`
}

func progressOf(t *takeout) iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, a := range t.v.Attendees.All() {
			if !t.of(a.Id) {
				continue
			}
			for i, at := range a.ReachedAt {
				if at == 0 || i >= len(t.v.Steps) {
					continue
				}
				out := progressRecord{a.Id, a.Name, i + 1, t.v.Steps[i].Title, wire.Stamp(at), nil}
				if ms := timeOn(a, i); ms > 0 {
					s := ms / 1000
					out.Seconds = &s
				}
				if !yield(out) {
					return
				}
			}
		}
	}
}

// targetedComment is a comment and its target.
type targetedComment struct {
	commentRecord
	TargetType   string  `json:"target_type"`
	TargetStepID *string `json:"target_step_id"`
	SelectedText string  `json:"selected_text"`
}

func commentsOf(t *takeout) iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, th := range t.v.Threads.All() {
			for _, m := range toThread(t.lab, th, false).Messages {
				if t.of(m.AuthorID) && !yield(targetedComment{m, th.TargetType, wire.OrNull(th.TargetStepId), th.SelectedText}) {
					return
				}
			}
		}
	}
}

// answeredRecord is an answer with its question, as text.
type answeredRecord struct {
	quizAnswerRecord
	Question   string `json:"question"`
	AnswerText string `json:"answer_text"`

	FirstAnswerText string `json:"first_answer_text"`
}
