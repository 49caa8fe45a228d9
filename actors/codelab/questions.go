package codelab

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"atelier/actors/catalog"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// Attendees' questions to everybody (transport/rest/RULES.md, "Questions").

// Bounds of questions; maxQuestionText is in code points.
const (
	maxQuestions    = 500
	maxQuestionText = 500
	maxOpenAsked    = 5
)

const (
	askingOff     = pb.Asking_ASKING_OFF
	askingOpen    = pb.Asking_ASKING_OPEN
	askingChecked = pb.Asking_ASKING_CHECKED

	questionWaiting  = pb.QuestionState_QUESTION_STATE_WAITING
	questionOpen     = pb.QuestionState_QUESTION_STATE_OPEN
	questionAnswered = pb.QuestionState_QUESTION_STATE_ANSWERED
	questionHidden   = pb.QuestionState_QUESTION_STATE_HIDDEN
)

// question is a question with its votes. The codelab's actor owns it.
type question struct {
	rec *pb.Question // replaced, never modified; without the votes
	// voters has one bit per entry of State.attendees. It is replaced, never modified.
	voters bitset `snapshot:"trailing zeros: the last may be missing"`
	votes  int32
}

// QuestionView is a question with its votes. Immutable.
type QuestionView struct {
	*pb.Question
	voters bitset `snapshot:"trailing zeros: the last may be missing"`
}

// forClients returns the question as clients receive it.
func (q *question) forClients() *pb.Question {
	rec := q.rec.Clone()
	rec.Votes = q.votes
	return rec
}

// AskQuestion adds an attendee's question to everybody.
type AskQuestion struct {
	Text      string
	Anonymous bool
	StepID    string
	// Siblings are the attendees of this codelab registered in the same browser.
	Siblings []string
}

func (b AskQuestion) decide(c call) (decision, error) {
	if c.Role != RoleAttendee {
		return decision{}, durable.Reject(durable.Forbidden, "only attendees can ask questions; facilitators can make one from a chat message or a help request")
	}
	if err := c.live(); err != nil {
		return decision{}, err
	}
	who := c.s.attendee(c.ID)
	switch {
	case c.s.meta.Questions == askingOff:
		return decision{}, durable.Reject(durable.Conflict, "questions are switched off")
	case b.Anonymous && c.s.meta.QuestionsNamed:
		return decision{}, durable.Reject(durable.Conflict, "anonymous questions are switched off")
	case who.Muted:
		return decision{}, durable.Reject(durable.Forbidden, "you are muted")
	case c.s.stopped[c.ID] || c.s.anyStopped(b.Siblings):
		// This is a Conflict, not Forbidden. The audit log names the author of a forbidden request,
		// so it would reveal to facilitators who asked the anonymous question.
		return decision{}, durable.Reject(durable.Conflict, "a facilitator has stopped your questions until the workshop ends")
	}
	open := 0
	for _, q := range c.s.questions {
		if q.rec.AuthorId == c.ID && (q.rec.State == questionWaiting || q.rec.State == questionOpen) {
			open++
		}
	}
	if open >= maxOpenAsked {
		return decision{}, durable.Reject(durable.Conflict, "%d of your questions are not answered yet: wait for one of them", maxOpenAsked)
	}
	q := &pb.Question{Text: b.Text, AuthorId: who.Id, AuthorName: who.Name, Anonymous: b.Anonymous, StepId: b.StepID, State: questionOpen}
	if c.s.meta.Questions == askingChecked {
		q.State = questionWaiting
	}
	return c.asked(q)
}

// asked returns the decision that adds a question.
func (c call) asked(q *pb.Question) (decision, error) {
	if err := text("text", q.Text, 1, maxQuestionText); err != nil {
		return decision{}, err
	}
	if q.StepId != "" && !hasStep(c.s.steps, q.StepId) {
		return decision{}, durable.Reject(durable.Invalid, "step_id must be the id of a step of this codelab")
	}
	if len(c.s.questions) >= maxQuestions {
		return decision{}, durable.Reject(durable.Conflict, "a codelab has at most %d questions", maxQuestions)
	}
	q.Id, q.CreatedAt = c.id(), c.now.UnixMilli()
	return decided(q, &pb.Event{Body: &pb.Event_QuestionAsked{QuestionAsked: &pb.QuestionAsked{Question: q}}}), nil
}

// TakeQuestion creates a question from a chat message, with the author's name, or from a request
// for help, without the name.
type TakeQuestion struct {
	ChatID string
	HelpID string
	// Text is the question's text, for a request for help.
	Text string
}

func (b TakeQuestion) decide(c call) (decision, error) {
	if !c.admin() {
		return decision{}, durable.Reject(durable.Forbidden, "only facilitators can make questions from messages and help requests")
	}
	if b.HelpID != "" {
		h, err := c.findHelp(b.HelpID)
		if err != nil {
			return decision{}, err
		}
		return c.asked(&pb.Question{Text: b.Text, AuthorId: h.AttendeeId, AuthorName: h.AttendeeName, Anonymous: true, StepId: c.s.stepID(h.StepNumber), State: questionOpen})
	}
	m, err := named(&c.s.chat, b.ChatID, (*pb.ChatMessage).GetId, "message")
	switch {
	case err != nil:
		return decision{}, err
	case m.TargetId != "" || m.Broadcast || m.SenderId == FacilitatorID:
		return decision{}, durable.Reject(durable.Conflict, "only an attendee's message to all can become a question")
	}
	return c.asked(&pb.Question{Text: m.Message, AuthorId: m.SenderId, AuthorName: m.SenderName, State: questionOpen})
}

// ChangeQuestion answers a question, or changes its state.
type ChangeQuestion struct {
	QuestionID string
	State      *pb.QuestionState
	// Answer replaces the answer; "" removes it.
	Answer *string
}

func (b ChangeQuestion) decide(c call) (decision, error) {
	q, err := c.questionToLead(b.QuestionID)
	if err != nil {
		return decision{}, err
	}
	out := q.forClients()
	action := ""
	if b.Answer != nil {
		if err := text("answer", *b.Answer, 0, maxMessage); err != nil {
			return decision{}, err
		}
		if out.Answer = *b.Answer; out.Answer != "" && b.State == nil {
			out.State = questionAnswered
		}
	}
	if b.State != nil {
		out.State = *b.State
	}
	switch {
	case out.State == questionAnswered && (q.rec.State != questionAnswered || out.Answer != q.rec.Answer):
		out.AnsweredBy, out.Leader, action = c.Name, c.leader(), "question_answer"
	case out.State != questionAnswered && out.Answer == "":
		out.AnsweredBy, out.Leader = "", ""
	}
	if out.State == questionHidden && q.rec.State != questionHidden {
		action = "question_hide"
	}
	return c.questionChanged(q, out, action), nil
}

func (c call) questionChanged(q *question, out *pb.Question, action string) decision {
	d := decided(out, &pb.Event{Body: &pb.Event_QuestionChanged{QuestionChanged: &pb.QuestionChanged{Question: out}}})
	if visible := q.rec.State == questionOpen || q.rec.State == questionAnswered; visible && (out.State == questionHidden || out.State == questionWaiting) {
		d.Events = append(d.Events, &pb.Event{Body: &pb.Event_QuestionHidden{QuestionHidden: &pb.QuestionHidden{QuestionId: out.Id}}})
		d.Events = append(d.Events, c.unspotlight("question", out.Id)...)
	}
	if action != "" {
		d.Rows = c.auditOf(q.rec.AuthorId, action, out.Id, nil)
	}
	return d
}

// DeleteQuestion removes a question. A facilitator can always remove it, its author only while it
// is waiting or open.
type DeleteQuestion struct {
	QuestionID string
}

func (b DeleteQuestion) decide(c call) (decision, error) {
	q, err := c.question(b.QuestionID)
	if err != nil {
		return decision{}, err
	}
	if !c.admin() {
		switch {
		case q.rec.AuthorId != c.ID:
			return decision{}, durable.Reject(durable.Forbidden, "this is another attendee's question")
		case q.rec.State == questionAnswered:
			return decision{}, durable.Reject(durable.Conflict, "this question is answered already")
		}
	}
	d := decided(nil, &pb.Event{Body: &pb.Event_QuestionDeleted{QuestionDeleted: &pb.QuestionDeleted{QuestionId: q.rec.Id}}})
	d.Events = append(d.Events, c.unspotlight("question", q.rec.Id)...)
	if c.admin() {
		d.Rows = c.auditOf(q.rec.AuthorId, "question_delete", q.rec.Id, nil)
	}
	return d, nil
}

// questionsGone returns the events that remove the named questions of a removed person. It omits
// anonymous questions, because their removal would reveal the author.
func (c call) questionsGone(author string) (events []*pb.Event) {
	return c.questionsDeleted(func(q *pb.Question) bool { return q.AuthorId == author && !q.Anonymous })
}

// questionsStay is the maximum time for which anonymous questions of people who erased themselves
// are kept. The questions of all these people are removed together, so that nobody learns who asked
// them. This happens at the end of the workshop, or this long after the first of these people left.
const questionsStay = 24 * time.Hour

// questionsLeave returns the decision that removes the anonymous questions of people who erased
// themselves.
func (c call) questionsLeave() decision {
	d := decided(nil, c.questionsDeleted(func(q *pb.Question) bool { return q.LeavesAt != 0 })...)
	d.Rows = []durable.Row{catalog.LeavingRow(c.s.id, false)}
	return d
}

// leavingRows returns the row that makes each start of a node look after the anonymous questions of
// people who erase themselves. It returns none if none of the people has asked such a question.
func (c call) leavingRows(people map[string]bool) []durable.Row {
	if !slices.ContainsFunc(c.s.questions, func(q *question) bool { return q.rec.Anonymous && people[q.rec.AuthorId] }) {
		return nil
	}
	return []durable.Row{catalog.LeavingRow(c.s.id, true)}
}

// DropQuestions removes the anonymous questions of people who erased themselves, once they are due.
type DropQuestions struct{}

func (DropQuestions) decide(c call) (decision, error) {
	if c.now.UnixMilli() < c.s.leavesAt() {
		return decision{}, nil
	}
	return c.questionsLeave(), nil
}

// leavesAt returns the time at which the anonymous questions of people who erased themselves are
// removed, in Unix ms. It returns 0 if there are none. All these questions have the same time.
func (s *State) leavesAt() int64 {
	for _, q := range s.questions {
		if q.rec.LeavesAt != 0 {
			return q.rec.LeavesAt
		}
	}
	return 0
}

// watchQuestions schedules DropQuestions, if a new view has questions to be dropped.
func (o *observer) watchQuestions(v *View) {
	at := int64(0)
	for _, q := range v.Questions {
		at = max(at, q.LeavesAt)
	}
	o.questionsLeave.set(o.w.Durable.Clock, at, func() { o.w.dropQuestions(o.id) })
}

// dropInterval is the interval at which a failed removal of questions is tried again.
const dropInterval = time.Minute

// dropQuestions removes the questions that are due. If this fails, for example because the disk is
// full, dropQuestions tries again, unless the codelab was deleted or is quarantined, or the host is
// closed.
func (w *Codelabs) dropQuestions(id string) {
	ws, err := w.Get(id) // Get activates the codelab even if nobody is connected
	if err == nil {
		_, _, err = ws.Ask(Command{Caller: system, Body: DropQuestions{}})
	}
	var refused *durable.Rejection
	if err != nil && !errors.As(err, &refused) && !errors.Is(err, durable.ErrClosed) && !errors.Is(err, durable.ErrQuarantined) {
		w.Durable.Clock.AfterFunc(dropInterval, func() { w.dropQuestions(id) })
	}
}

func (c call) questionsDeleted(which func(*pb.Question) bool) (events []*pb.Event) {
	for _, q := range c.s.questions {
		if which(q.rec) {
			events = append(events, &pb.Event{Body: &pb.Event_QuestionDeleted{QuestionDeleted: &pb.QuestionDeleted{QuestionId: q.rec.Id}}})
			events = append(events, c.unspotlight("question", q.rec.Id)...)
		}
	}
	return events
}

// VoteQuestion adds an attendee's vote to a question, or withdraws it.
type VoteQuestion struct {
	QuestionID string
	Withdrawn  bool
}

func (b VoteQuestion) decide(c call) (decision, error) {
	if c.Role != RoleAttendee {
		return decision{}, durable.Reject(durable.Forbidden, "only attendees can vote")
	}
	if err := c.live(); err != nil {
		return decision{}, err
	}
	q, err := c.question(b.QuestionID)
	if err != nil {
		return decision{}, err
	}
	voted := q.voters.has(c.s.byAttendee[c.ID])
	switch {
	case q.rec.AuthorId == c.ID:
		return decision{}, durable.Reject(durable.Conflict, "this is your own question")
	case q.rec.State != questionOpen:
		return decision{}, durable.Reject(durable.Conflict, "this question is not open any more")
	case voted != b.Withdrawn:
		return decision{}, nil
	}
	return decided(nil, &pb.Event{Body: &pb.Event_QuestionVoted{QuestionVoted: &pb.QuestionVoted{
		QuestionId: q.rec.Id, AttendeeId: c.ID, Withdrawn: b.Withdrawn,
	}}}), nil
}

// MergeQuestion merges a question into another one that asks the same. The votes for the merged
// question, and its author, count as votes for the other one. The merged question is removed.
type MergeQuestion struct {
	QuestionID, Into string
}

func (b MergeQuestion) decide(c call) (decision, error) {
	q, err := c.questionToLead(b.QuestionID)
	if err != nil {
		return decision{}, err
	}
	into, err := c.questionToLead(b.Into)
	switch {
	case err != nil:
		return decision{}, durable.Reject(durable.Missing, "into: question not found")
	case into == q:
		return decision{}, durable.Reject(durable.Invalid, "into must be another question")
	}
	out := into.forClients()
	out.Votes = c.s.united(q, into).count()
	d := decided(out, &pb.Event{Body: &pb.Event_QuestionsMerged{QuestionsMerged: &pb.QuestionsMerged{QuestionId: q.rec.Id, Into: into.rec.Id}}})
	d.Events = append(d.Events, &pb.Event{Body: &pb.Event_QuestionChanged{QuestionChanged: &pb.QuestionChanged{Question: out}}})
	d.Events = append(d.Events, c.unspotlight("question", q.rec.Id)...)
	d.Rows = c.auditOf(q.rec.AuthorId, "question_merge", q.rec.Id, map[string]string{"into": into.rec.Id})
	return d, nil
}

// united returns the voters of two questions. The author of q counts as a voter for into. The
// author of into does not, because into is their own question.
func (s *State) united(q, into *question) bitset {
	out := into.voters.union(q.voters)
	if at, known := s.byAttendee[q.rec.AuthorId]; known {
		out = out.set(at, true)
	}
	if at, known := s.byAttendee[into.rec.AuthorId]; known {
		out = out.set(at, false)
	}
	return out
}

// StopAsker stops the author of an anonymous question from asking more until the workshop ends,
// without revealing the author.
type StopAsker struct {
	QuestionID string
}

func (b StopAsker) decide(c call) (decision, error) {
	q, err := c.questionToLead(b.QuestionID)
	switch {
	case err != nil:
		return decision{}, err
	case !q.rec.Anonymous:
		return decision{}, durable.Reject(durable.Conflict, "this question is not anonymous; mute its author")
	case c.s.stopped[q.rec.AuthorId]: // without this row, the trail would reveal that two questions have one author
		return decision{Rows: c.auditOf(q.rec.AuthorId, "question_stop", q.rec.Id, nil)}, nil
	case q.rec.AuthorId == "": // the author has left, so nobody is stopped or notified
		return decision{Rows: c.audit("question_stop", q.rec.Id, nil)}, nil
	}
	d := decided(nil, &pb.Event{Body: &pb.Event_AskerStopped{AskerStopped: &pb.AskerStopped{QuestionId: q.rec.Id}}})
	d.Rows = c.auditOf(q.rec.AuthorId, "question_stop", q.rec.Id, nil)
	return d, nil
}

func (c call) questionToLead(id string) (*question, error) {
	if !c.admin() {
		return nil, durable.Reject(durable.Forbidden, "only facilitators can change, merge or stop questions")
	}
	return c.question(id)
}

// ErrNoQuestion is the rejection of an unknown id, or of the id of a question that the caller
// cannot see.
var ErrNoQuestion error = &durable.Rejection{Reason: durable.Missing, Text: "question not found"}

// question returns a question, if the caller is allowed to see it.
func (c call) question(id string) (*question, error) {
	q := c.s.question(id)
	if q == nil || !c.admin() && !sees(c.ID, q.rec) {
		return nil, ErrNoQuestion
	}
	return q, nil
}

// sees reports whether an attendee sees a question.
func sees(attendee string, q *pb.Question) bool {
	switch q.State {
	case questionOpen, questionAnswered:
		return true
	case questionWaiting:
		return q.AuthorId == attendee
	}
	return false
}

func (s *State) question(id string) *question {
	for _, q := range s.questions {
		if q.rec.Id == id {
			return q
		}
	}
	return nil
}

func (s *State) applyQuestionAsked(seq uint64, rec *pb.Question) {
	if s.attendee(rec.AuthorId) == nil && !rec.Anonymous {
		return // the author was erased, and a question with a name is erased with its author
	}
	s.questions = append(slices.Clip(s.questions), &question{rec: rec})
	s.seen(rec.Id)
	s.changed.Questions = seq
}

func (s *State) changeQuestion(seq uint64, id string, change func(q *question)) {
	for i, q := range s.questions {
		if q.rec.Id == id {
			q := *q
			change(&q)
			s.questions = slices.Clone(s.questions)
			s.questions[i] = &q
			s.changed.Questions = seq
		}
	}
}

func (s *State) applyQuestionChanged(seq uint64, rec *pb.Question) {
	s.changeQuestion(seq, rec.Id, func(q *question) {
		// rec can come from a decision that was made before the author left. It then still contains
		// the author's name.
		author, name, leaves := q.rec.AuthorId, q.rec.AuthorName, q.rec.LeavesAt
		q.rec = rec.Clone()
		q.rec.Votes = 0
		q.rec.AuthorId, q.rec.AuthorName, q.rec.LeavesAt = author, name, leaves
	})
}

func (s *State) applyQuestionVoted(seq uint64, b *pb.QuestionVoted) {
	at, known := s.byAttendee[b.AttendeeId]
	if !known {
		return
	}
	s.changeQuestion(seq, b.QuestionId, func(q *question) {
		q.voters = q.voters.set(at, !b.Withdrawn)
		q.votes = q.voters.count()
	})
}

func (s *State) applyQuestionsMerged(seq uint64, b *pb.QuestionsMerged) {
	from := s.question(b.QuestionId)
	if from == nil {
		return
	}
	s.changeQuestion(seq, b.Into, func(q *question) {
		q.voters = s.united(from, q)
		q.votes = q.voters.count()
	})
	s.applyQuestionDeleted(seq, b.QuestionId)
}

func (s *State) applyQuestionDeleted(seq uint64, id string) {
	s.questions = slices.DeleteFunc(slices.Clone(s.questions), func(q *question) bool { return q.rec.Id == id })
	s.changed.Questions = seq
}

// anyStopped reports whether one of some attendees is stopped from asking questions.
func (s *State) anyStopped(attendees []string) bool {
	return slices.ContainsFunc(attendees, func(id string) bool { return s.stopped[id] })
}

func (s *State) applyAskerStopped(b *pb.AskerStopped) {
	who := b.AttendeeId
	if q := s.question(b.QuestionId); q != nil {
		who = q.rec.AuthorId
	}
	if who == "" {
		return
	}
	stopped := maps.Clone(s.stopped)
	if stopped == nil {
		stopped = map[string]bool{}
	}
	stopped[who] = true
	s.stopped = stopped
}

// forgetAsker removes a person's votes, and the questions under the person's name. The person's
// anonymous questions stay without an author. If the removal is an erasure, they are removed
// later (questionsStay).
func (s *State) forgetAsker(seq uint64, now int64, b *pb.Removed) {
	id := b.AttendeeId
	at, known := s.byAttendee[id]
	leaves := s.leavesAt()
	if leaves == 0 {
		leaves = now + questionsStay.Milliseconds()
	}
	kept := make([]*question, 0, len(s.questions))
	for _, q := range s.questions {
		if q.rec.AuthorId == id && !q.rec.Anonymous {
			continue
		}
		q := *q
		if known {
			q.voters = q.voters.shifted(at)
			q.votes = q.voters.count()
		}
		if q.rec.AuthorId == id {
			q.rec = q.rec.Clone()
			if q.rec.AuthorId, q.rec.AuthorName = "", ""; b.Erased {
				q.rec.LeavesAt = leaves
			}
		}
		kept = append(kept, &q)
	}
	if len(s.questions) > 0 { // even if the person asked none, because an unchanged version would reveal that
		s.questions, s.changed.Questions = kept, seq
	}
	if s.stopped[id] {
		stopped := map[string]bool{}
		for who := range s.stopped {
			if who != id {
				stopped[who] = true
			}
		}
		s.stopped = stopped
	}
}

// unstepQuestions removes deleted steps from the questions.
func (s *State) unstepQuestions(seq uint64) {
	for _, q := range s.questions {
		if q.rec.StepId != "" && !hasStep(s.steps, q.rec.StepId) {
			s.changeQuestion(seq, q.rec.Id, func(q *question) {
				q.rec = q.rec.Clone()
				q.rec.StepId = ""
			})
		}
	}
}

// questionViews returns the questions for readers, oldest first.
func (s *State) questionViews() []QuestionView {
	if s.questionsAt != s.changed.Questions || len(s.questionsShown) != len(s.questions) {
		s.questionsShown, s.questionsAt = make([]QuestionView, len(s.questions)), s.changed.Questions
		for i, q := range s.questions {
			s.questionsShown[i] = QuestionView{q.forClients(), q.voters}
		}
	}
	return s.questionsShown
}

func encodeQuestions(questions []QuestionView) (out []*pb.QuestionVotes) {
	for _, q := range questions {
		rec := q.Question.Clone()
		rec.Votes = 0
		out = append(out, &pb.QuestionVotes{Question: rec, Voters: q.voters.trimmed()})
	}
	return out
}

func (s *State) restoreQuestions(questions []*pb.QuestionVotes, stopped []string) {
	for _, v := range questions {
		s.questions = append(s.questions, &question{rec: v.Question, voters: v.Voters, votes: bitset(v.Voters).count()})
		s.seen(v.Question.Id)
	}
	for _, who := range stopped {
		if s.stopped == nil {
			s.stopped = map[string]bool{}
		}
		s.stopped[who] = true
	}
}

// Question returns a question, or nil.
func (v *View) Question(id string) *QuestionView {
	for i := range v.Questions {
		if v.Questions[i].Id == id {
			return &v.Questions[i]
		}
	}
	return nil
}

// QuestionsFor returns the questions that an attendee can see, newest first. For "" it returns all
// questions, as facilitators see them.
func (v *View) QuestionsFor(attendee string) (out []QuestionView) {
	for _, q := range v.Questions {
		if attendee == "" || sees(attendee, q.Question) {
			out = append(out, q)
		}
	}
	slices.SortStableFunc(out, func(a, b QuestionView) int { return cmp.Compare(b.CreatedAt, a.CreatedAt) })
	return out
}

// VotedFor reports whether an attendee has voted for a question.
func (v *View) VotedFor(q *QuestionView, attendee string) bool {
	at := v.place(attendee)
	return at >= 0 && q.voters.has(at)
}
