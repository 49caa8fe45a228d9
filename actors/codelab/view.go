package codelab

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/cow"
	"atelier/actors/internal/pbwire"
	"atelier/actors/markdown"
	"atelier/actors/usage"
)

// View is the committed state of a codelab at one position, for readers. It is immutable and safe
// for concurrent use.
type View struct {
	// Meta is nil before creation and after deletion.
	Meta    *pb.Codelab
	Steps   []*pb.Step
	Checks  []Check           // declared by the steps
	Tasks   [][]markdown.Task // per step
	Quizzes []*pb.Quiz

	// The following lists are ordered by id, and therefore by time.
	Attendees cow.View[*pb.Attendee]
	Chat      cow.View[*pb.ChatMessage]
	Help      cow.View[*pb.HelpRequest]
	Feedback  cow.View[*pb.Feedback]
	Threads   cow.View[*pb.Thread]
	Answers   cow.View[*pb.QuizAnswer]

	Conversations cow.View[*pb.Conversation]
	AIUsage       []*usage.AIUsage
	Workspace     *pb.Workspace // nil for none
	Pin           *pb.Pin       // nil for none
	Pointer       *pb.Pointer   // nil for none
	Timer         *pb.Timer     // nil for none
	Spotlight     *pb.Spotlight // nil for none

	Materials   cow.View[*pb.Material]
	Submissions cow.View[*pb.Submission]

	// Polls and Questions are ordered by creation, oldest first.
	Polls     []*PollView
	Questions []QuestionView

	// PerStep counts the people on each step, index 0 for step 1.
	PerStep   []int
	Completed int
	Pulses    Pulses
	// UpdatedAt is the time at which settings, steps, quizzes or materials were last changed, in
	// Unix milliseconds.
	UpdatedAt int64
	Changed   Changed `snapshot:"a restored state counts as changed at the snapshot, which renews the ETags"`
	Revisions Revisions

	// Grants differs between two views if an attendee's grant ended between them.
	Grants *Grants

	// Encoded caches the encoded parts. Later views share the encoding of an unchanged part.
	Encoded Encodings `snapshot:"readers fill it"`

	right   cow.View[Right]
	refs    []*pb.Ref
	stopped map[string]bool
	deleted bool
}

// Grants identifies the grants of all attendees. While the pointer to it is unchanged, no grant has
// ended.
type Grants struct{ _ byte }

// Encodings caches the encoded parts of a view.
type Encodings struct {
	Codelab, Attendees, Chat, Help, Threads, Quizzes, Materials *cow.Encoded
}

// encodings returns the cache without parts that have changed.
func (s *State) encodings() Encodings {
	then, now := s.encodedAt, s.changed
	renew := func(e **cow.Encoded, then, now uint64) {
		if *e == nil || then != now {
			*e = new(cow.Encoded)
		}
	}
	renew(&s.encoded.Codelab, then.Codelab, now.Codelab)
	renew(&s.encoded.Attendees, then.Attendees, now.Attendees)
	renew(&s.encoded.Chat, then.Chat, now.Chat)
	renew(&s.encoded.Help, then.Help, now.Help)
	renew(&s.encoded.Threads, then.Threads, now.Threads)
	renew(&s.encoded.Quizzes, then.Quizzes, now.Quizzes)
	renew(&s.encoded.Materials, then.Materials, now.Materials)
	s.encodedAt = now
	return s.encoded
}

// Capture returns the current state as a view.
func (s *State) Capture() *View {
	return &View{
		Meta: s.meta, Steps: s.steps, Checks: s.checks, Tasks: s.tasks, Quizzes: s.quizzes,
		Attendees: s.attendees.Capture(), Chat: s.chat.Capture(), Help: s.help.Capture(),
		Feedback: s.feedback.Capture(), Threads: s.threads.Capture(), Answers: s.answers.Capture(),
		Conversations: s.conversations.Capture(), AIUsage: s.aiUsage, Workspace: s.workspace,
		Pin: s.pin, Pointer: s.pointer, Timer: s.timer, Spotlight: s.spotlight,
		Polls: s.pollViews(), Questions: s.questionViews(), stopped: s.stopped, Pulses: s.pulses, UpdatedAt: s.updatedAt,
		Materials: s.materials.Capture(), Submissions: s.submissions.Capture(),
		PerStep: append([]int(nil), s.perStep...), Completed: s.completed, Changed: s.changed, Revisions: s.revisions, Encoded: s.encodings(),
		Grants: s.grants, right: s.right.Capture(), refs: s.refs.queue[:len(s.refs.queue):len(s.refs.queue)], deleted: s.deleted,
	}
}

// Attendee returns an attendee's record, or nil.
func (v *View) Attendee(id string) *pb.Attendee {
	return find(v.Attendees, id, (*pb.Attendee).GetId)
}

// ChatMessage returns a message, or nil.
func (v *View) ChatMessage(id string) *pb.ChatMessage {
	return find(v.Chat, id, (*pb.ChatMessage).GetId)
}

// Submission returns a submission, or nil.
func (v *View) Submission(id string) *pb.Submission {
	return find(v.Submissions, id, (*pb.Submission).GetId)
}

// Submitted returns the size of an attendee's submissions in bytes.
func (v *View) Submitted(attendee string) (bytes int64) {
	for _, s := range v.Submissions.All() {
		if s.AttendeeId == attendee {
			bytes += s.FileSize
		}
	}
	return bytes
}

// Missing returns the requirements of the codelab that an attendee still has to meet before
// completing: "quiz", "feedback", "submission", "checks". Missing takes time proportional to the
// number of feedbacks and submissions. It scans the answers only if all choice questions are
// answered correctly.
func (v *View) Missing(attendee string) []string {
	out := []string{}
	if v.Meta.QuizEnabled && v.Meta.RequireQuiz && !v.quizPassed(attendee) {
		out = append(out, "quiz")
	}
	if v.Meta.RequireFeedback && !has(v.Feedback, attendee, (*pb.Feedback).GetAttendeeId) {
		out = append(out, "feedback")
	}
	if v.Meta.RequireSubmission && !has(v.Submissions, attendee, (*pb.Submission).GetAttendeeId) {
		out = append(out, "submission")
	}
	if v.Meta.RequireChecks && len(unchecked(v.Attendee(attendee), v.Checks)) > 0 {
		out = append(out, "checks")
	}
	return out
}

// quizPassed reports whether an attendee has passed the quiz, in the same way as State.quizPassed.
func (v *View) quizPassed(attendee string) bool {
	right := v.Right(attendee)
	for i, q := range v.Quizzes {
		if len(q.Correct) > 0 && !right.Has(i) {
			return false
		}
	}
	n := 0
	for _, a := range v.Answers.All() {
		if a.AttendeeId == attendee && a.IsCorrect {
			n++
		}
	}
	return n == len(v.Quizzes)
}

func has[T any](list cow.View[T], attendee string, of func(T) string) bool {
	for _, x := range list.All() {
		if of(x) == attendee {
			return true
		}
	}
	return false
}

// Thread returns a thread, or nil.
func (v *View) Thread(id string) *pb.Thread {
	return find(v.Threads, id, (*pb.Thread).GetId)
}

// Conversation returns a saved conversation, or nil.
func (v *View) Conversation(id string) *pb.Conversation {
	return find(v.Conversations, id, (*pb.Conversation).GetId)
}

// ChatBefore returns the position of the message with this id, from which clients page backwards.
// ok is false if the message does not exist.
func (v *View) ChatBefore(id string) (int, bool) {
	return search(v.Chat.Len(), v.Chat.At, id, (*pb.ChatMessage).GetId)
}

// Stale reports whether the text that a thread is about has changed since the thread was created.
func (v *View) Stale(t *pb.Thread) bool {
	if t.TargetType == TargetGuide {
		return v.Meta == nil || !bytes.Equal(t.ContentSum, v.Meta.GuideSum)
	}
	for _, st := range v.Steps {
		if st.Id == t.TargetStepId {
			return !bytes.Equal(t.ContentSum, st.ContentSum)
		}
	}
	return true
}

func find[T any](list cow.View[*T], id string, idOf func(*T) string) *T {
	if i, ok := search(list.Len(), list.At, id, idOf); ok {
		return list.At(i)
	}
	return nil
}

// EncodeState encodes a view as a snapshot.
func EncodeState(v *View) ([]byte, error) {
	return pbwire.Append(nil, &pb.Snapshot{
		Codelab: v.Meta, Steps: v.Steps, Quizzes: v.Quizzes,
		Attendees: list(v.Attendees), Chat: list(v.Chat), Help: list(v.Help),
		Feedback: list(v.Feedback), Threads: list(v.Threads), Answers: list(v.Answers),
		Conversations: list(v.Conversations), AiUsage: v.AIUsage, Workspace: v.Workspace,
		Refs: v.refs, Deleted: v.deleted, Materials: list(v.Materials), Submissions: list(v.Submissions),
		CodelabEdition: v.Revisions.Codelab, QuizzesEdition: v.Revisions.Quizzes,
		Pin: v.Pin, Pointer: v.Pointer, UpdatedAt: v.UpdatedAt, Timer: v.Timer, Spotlight: v.Spotlight,
		Polls: encodePolls(v.Polls), Questions: encodeQuestions(v.Questions), Stopped: slices.Sorted(maps.Keys(v.stopped)),
	}), nil
}

func list[T any](v cow.View[T]) []T {
	out := make([]T, 0, v.Len())
	for _, x := range v.All() {
		out = append(out, x)
	}
	return out
}

// Restore fills an empty state from an encoded snapshot that includes the events up to seq.
func (s *State) Restore(seq uint64, state []byte) error {
	var snap pb.Snapshot
	if err := snap.Decode(state); err != nil {
		return fmt.Errorf("decode snapshot: %w", err)
	}
	s.meta, s.steps, s.quizzes, s.deleted = counted(snap.Codelab, snap.Steps), snap.Steps, snap.Quizzes, snap.Deleted
	fill(&s.attendees, snap.Attendees)
	s.grants = new(Grants)
	fill(&s.chat, snap.Chat)
	fill(&s.help, snap.Help)
	fill(&s.feedback, snap.Feedback)
	fill(&s.threads, snap.Threads)
	fill(&s.answers, snap.Answers)
	fill(&s.conversations, snap.Conversations)
	s.aiUsage, s.workspace = snap.AiUsage, snap.Workspace
	s.pin, s.pointer, s.timer, s.spotlight = snap.Pin, snap.Pointer, snap.Timer, snap.Spotlight
	s.restorePolls(snap.Polls)
	s.restoreQuestions(snap.Questions, snap.Stopped)
	// An old snapshot does not contain the time of the last edit.
	s.updatedAt = cmp.Or(snap.UpdatedAt, snap.Codelab.GetCreatedAt())
	s.weighConversations()
	fill(&s.materials, snap.Materials)
	fill(&s.submissions, snap.Submissions)
	s.indexAttendees()
	s.indexHelp()
	s.indexThreads()
	s.indexAnswers()
	s.indexRight()
	s.indexSubmissions()
	for _, f := range snap.Feedback {
		s.byFeedback[f.AttendeeId] = true
	}
	s.refs.restore(snap.Refs)
	// The seq of each part's last change is unknown, but not greater than seq.
	s.changed = changedAt(seq)
	s.checks, s.tasks = checksOf(s.steps), tasksOf(s.steps, nil, nil)
	s.revisions = Revisions{snap.CodelabEdition, snap.QuizzesEdition}
	s.seeAll(&snap)
	return nil
}

// seeAll reports the ids in a snapshot to the id source, so that new ids are greater. It omits
// polls and questions, because they were reported when they were restored, and threads, because
// their comments have greater ids.
func (s *State) seeAll(snap *pb.Snapshot) {
	see(s, snap.Conversations)
	see(s, snap.Steps)
	see(s, snap.Quizzes)
	see(s, snap.Attendees)
	see(s, snap.Chat)
	see(s, snap.Help)
	see(s, snap.Feedback)
	for _, t := range snap.Threads {
		see(s, t.Messages)
	}
	see(s, snap.Answers)
	see(s, snap.Materials)
	see(s, snap.Submissions)
}

func see[T interface{ GetId() string }](s *State, list []T) {
	for _, x := range list {
		s.seen(x.GetId())
	}
}

func fill[T any](v *cow.Vector[T], items []T) {
	for _, x := range items {
		v.Append(x)
	}
}
