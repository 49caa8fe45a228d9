package codelab

import (
	"bytes"
	"time"

	"atelier/actors/audit"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/cow"
	"atelier/actors/durable"
	"atelier/actors/markdown"
	"atelier/actors/naming"
	"atelier/actors/usage"
	"atelier/actors/webhook"
)

// FacilitatorID is the id under which every admin acts in a codelab.
const FacilitatorID = "facilitator"

// Rules contains the server settings that affect decisions. Immutable.
type Rules struct {
	// AuthorOnlyDeletes means that only the author of a comment can delete it, as in the serverless
	// mode. Otherwise admins can delete it, too.
	AuthorOnlyDeletes bool
	// FileGrace is how long a file remains after its last mention in a text was removed.
	FileGrace time.Duration
	// AuditRows returns the rows of an audit record; if it is nil, there is no audit trail.
	AuditRows func(*audit.Record) []durable.Row
	// Player identifies this process, which runs the rehearsals that it starts.
	Player string
	// Webhooks receive the events, unless it is nil.
	Webhooks *webhook.Outbox
	// BallotKey returns the 32-byte secret of an anonymous poll, or nil if this node does not
	// have the secret (see BallotKeys). A nil function means that this node has no secrets.
	BallotKey func(id string) []byte
	// BallotLost reports whether a secret that is missing on this node is lost: no keeper and no
	// living node has it. While this is not certain, BallotLost returns false and starts asking the
	// other nodes. A nil function means that every missing secret is lost.
	BallotLost func(id string, keepers []string) bool
}

// Bounds of one codelab. A command that would exceed a bound is rejected as a Conflict. For chat
// messages and settled help requests, the oldest are removed instead.
const (
	maxAttendees      = 100_000
	maxThreads        = 20_000
	maxThreadMessages = 1_000
	maxChat           = 200_000
	maxSettledHelp    = 20_000
)

// State is the state of one codelab. The codelab's actor owns it.
type State struct {
	id    string
	rules Rules
	ids   *naming.IDs

	meta    *pb.Codelab       // nil before creation and after deletion
	steps   []*pb.Step        // replaced as a whole
	checks  []Check           // declared by the steps
	tasks   [][]markdown.Task // per step; replaced as a whole
	quizzes []*pb.Quiz        // replaced as a whole

	attendees cow.Vector[*pb.Attendee]
	grants    *Grants // see View.Grants
	chat      cow.Vector[*pb.ChatMessage]
	help      cow.Vector[*pb.HelpRequest]
	feedback  cow.Vector[*pb.Feedback]
	threads   cow.Vector[*pb.Thread]
	answers   cow.Vector[*pb.QuizAnswer]
	right     cow.Vector[Right] // per attendee, derived from answers

	conversations cow.Vector[*pb.Conversation]
	aiUsage       []*usage.AIUsage // replaced as a whole
	workspace     *pb.Workspace    // nil for none; replaced as a whole
	pin           *pb.Pin          // nil for none; replaced as a whole
	pointer       *pb.Pointer      // nil for none; replaced as a whole
	timer         *pb.Timer        // nil for none; replaced as a whole
	spotlight     *pb.Spotlight    // nil for none; replaced as a whole
	updatedAt     int64            // the time of the last edit, see isEdit

	materials   cow.Vector[*pb.Material]
	submissions cow.Vector[*pb.Submission]

	polls     []*poll         // oldest first
	questions []*question     // the slice and each question are replaced, never modified
	stopped   map[string]bool // attendees who are not allowed to ask questions; replaced as a whole

	// Indexes over the fields above.
	byName     map[string]int      // name key to attendee
	byAttendee map[string]int      // attendee id to attendee
	openHelp   map[string]int      // attendee id to open help request
	byFeedback map[string]bool     // ids of attendees who gave feedback
	byAnchor   map[string]int      // anchor key to thread
	answerOf   map[answerKey]int   // attendee and quiz to answer
	submitted  map[string]handedIn // attendee id to number and size of submissions

	saved    map[string]heap // conversations by person
	savedAll heap

	perStep   []int // people on each step, index 0 for step 1
	completed int
	simulated int // number of simulated attendees
	pulses    Pulses
	settled   int // number of resolved help requests

	refs      refs
	changed   Changed `snapshot:"a restored state counts as changed at the snapshot, which renews the ETags"`
	revisions Revisions
	deleted   bool

	encoded   Encodings `snapshot:"readers fill it"`    // see View.Encoded
	encodedAt Changed   `snapshot:"belongs to encoded"` // the last changes that encoded includes

	// pollsShown and questionsShown are the most recently captured polls and questions. pollsAt and
	// questionsAt are the seqs of their last change.
	pollsShown     []*PollView    `snapshot:"captured again"`
	pollsAt        uint64         `snapshot:"captured again"`
	questionsShown []QuestionView `snapshot:"captured again"`
	questionsAt    uint64         `snapshot:"captured again"`
}

// Changed contains the seq of the last change to each part of the state. ETags are derived from
// these seqs.
type Changed struct {
	Codelab, Attendees, Chat, Help, Feedback, Threads, Quizzes, Answers, Materials, Submissions, Polls, Questions uint64
}

type answerKey struct{ attendee, quiz string }

// New returns an empty state.
func New(id string, rules Rules, source *naming.IDs) *State {
	return &State{
		id: id, rules: rules, ids: source, grants: new(Grants),
		byName: map[string]int{}, byAttendee: map[string]int{}, openHelp: map[string]int{},
		byFeedback: map[string]bool{}, byAnchor: map[string]int{}, answerOf: map[answerKey]int{},
		saved:     map[string]heap{},
		submitted: map[string]handedIn{},
	}
}

type decision = durable.Decision[*pb.Event]

var errGone = &durable.Rejection{Reason: durable.Missing, Text: "codelab not found"}

// Decide returns the decision on a command.
func (s *State) Decide(cmd Command, env durable.Env) (decision, error) {
	if cmd.Ref != "" {
		if seq, ok := s.refs.find(cmd.Caller.Person, cmd.Ref, env.Now); ok {
			return decision{Seq: seq}, nil
		}
	}
	if err := s.admit(cmd); err != nil {
		return decision{}, err
	}
	c := call{s: s, Caller: cmd.Caller, now: env.Now, seq: env.Seq}
	d, err := cmd.Body.decide(c)
	if err != nil {
		return decision{}, err
	}
	if err := c.current(cmd); err != nil {
		return decision{}, err
	}
	for _, e := range d.Events {
		e.At = env.Now.UnixMilli()
	}
	if cmd.Ref != "" && len(d.Events) > 0 {
		if err := s.refs.admit(cmd.Caller.Person, env.Now); err != nil {
			return decision{}, err
		}
		// The last event contains the reference, because the ack has the seq of this event. A
		// repeated command therefore gets the same ack.
		last := d.Events[len(d.Events)-1]
		last.Person, last.Ref = cmd.Caller.Person, cmd.Ref
	}
	d.Rows = append(append(d.Rows, s.figureRows(d.Events, env.Now)...), s.webhookRows(d.Events)...)
	d.Origin = cmd.Caller.Session
	return d, nil
}

// admit rejects a command without a body, and a command to a codelab that does not exist. It also
// rejects the commands of attendees who were removed or whose grant has ended.
func (s *State) admit(cmd Command) error {
	switch cmd.Body.(type) {
	case nil:
		return durable.Reject(durable.Invalid, "unknown command")
	case Create:
		return nil
	}
	if s.meta == nil {
		return errGone
	}
	if who := cmd.Caller; who.Role == RoleAttendee {
		switch a := s.attendee(who.ID); {
		case a == nil:
			return durable.Reject(durable.Forbidden, "you are no longer registered for this codelab")
		case a.Generation != who.Generation:
			return durable.Reject(durable.Forbidden, "your code was reset; register again with the new one")
		}
	}
	return nil
}

// call is one command being decided.
type call struct {
	*Caller
	s   *State
	now time.Time
	seq uint64 // of the first event
}

func (c call) admin() bool { return c.Role == RoleAdmin }

// id returns a new id in this codelab.
func (c call) id() string { return c.s.ids.Next(c.now) }

// Apply applies one event to the state. An event whose subject no longer exists changes nothing.
func (s *State) Apply(seq uint64, e *pb.Event) {
	if e.Ref != "" {
		s.refs.add(e.Person, e.Ref, seq, e.At)
	}
	if isEdit(e) {
		s.updatedAt = e.At
	}
	switch b := e.Body.(type) {
	case *pb.Event_Created:
		s.applyCreated(seq, e.At, b.Created)
	case *pb.Event_Updated:
		if !bytes.Equal(s.meta.GetGuideSum(), b.Updated.Codelab.GuideSum) {
			s.changed.Threads = seq // the guide's threads became stale, or current again
		}
		if !onlySwitched(s.meta, b.Updated.Codelab) {
			s.revisions.Codelab = seq
		}
		s.meta = counted(b.Updated.Codelab, s.steps)
		s.changed.Codelab = seq
		if s.meta.EndedAt != 0 {
			s.stopped = nil
		}
	case *pb.Event_StepsReplaced:
		s.applySteps(seq, e.At, b.StepsReplaced.Steps, b.StepsReplaced.Follow)
	case *pb.Event_DeletionSet:
		s.applyDeletionSet(seq, b.DeletionSet.At)
	case *pb.Event_Deleted:
		s.applyDeleted(seq)
	case *pb.Event_Registered:
		s.applyRegistered(seq, b.Registered.Attendee)
	case *pb.Event_Rejoined:
		s.changeAttendee(seq, b.Rejoined.AttendeeId, func(a *pb.Attendee) { a.Email = b.Rejoined.Email })
	case *pb.Event_Progressed:
		s.applyProgress(seq, e.At, b.Progressed)
	case *pb.Event_Completed:
		s.applyCompleted(seq, e.At, b.Completed.AttendeeId)
	case *pb.Event_CheckReported:
		s.applyCheckReported(seq, e.At, b.CheckReported)
	case *pb.Event_Ticked:
		s.applyTicked(seq, b.Ticked)
	case *pb.Event_CodeTaken:
		s.changeAttendee(seq, b.CodeTaken.AttendeeId, func(a *pb.Attendee) {
			a.CodeTaken = &pb.TakenCode{Name: b.CodeTaken.Name, At: e.At}
		})
	case *pb.Event_RehearsalStarted:
		s.applyRehearsal(seq, b.RehearsalStarted.Rehearsal)
	case *pb.Event_RehearsalEnded:
		s.applyRehearsal(seq, nil)
	case *pb.Event_Renamed:
		s.applyRenamed(seq, b.Renamed)
	case *pb.Event_Muted:
		s.changeAttendee(seq, b.Muted.AttendeeId, func(a *pb.Attendee) { a.Muted = b.Muted.Muted })
	case *pb.Event_Removed:
		s.applyRemoved(seq, e.At, b.Removed)
	case *pb.Event_PinReset:
		s.applyPINReset(seq, b.PinReset)
	case *pb.Event_HelpAsked:
		s.applyHelpAsked(seq, b.HelpAsked.Request)
	case *pb.Event_Pulsed:
		s.applyPulsed(seq, e.At, b.Pulsed)
	case *pb.Event_Pinned:
		s.applyPinned(seq, e.At, b.Pinned)
	case *pb.Event_Pointed:
		s.applyPointed(seq, b.Pointed.Pointer)
	case *pb.Event_HelpOffered:
		s.applyHelpAsked(seq, b.HelpOffered.Request)
	case *pb.Event_HelpClaimed:
		s.applyHelpClaimed(seq, e.At, b.HelpClaimed)
	case *pb.Event_HelpResolved:
		s.applyHelpResolved(seq, e.At, b.HelpResolved)
	case *pb.Event_HelpReleased:
		s.changeHelp(seq, b.HelpReleased.HelpId, released)
	case *pb.Event_Placed:
		s.applyPlaced(seq, b.Placed)
	case *pb.Event_FeedbackGiven:
		s.feedback.Append(b.FeedbackGiven.Feedback)
		s.byFeedback[b.FeedbackGiven.Feedback.AttendeeId] = true
		s.seen(b.FeedbackGiven.Feedback.Id)
		s.changed.Feedback = seq
	case *pb.Event_QuizzesReplaced:
		s.applyQuizzes(seq, b.QuizzesReplaced.Quizzes)
	case *pb.Event_QuizSubmitted:
		s.applyAnswers(seq, b.QuizSubmitted.Answers)
	case *pb.Event_PollChanged:
		s.applyPollChanged(seq, b.PollChanged)
	case *pb.Event_PollDeleted:
		s.applyPollDeleted(seq, b.PollDeleted.PollId)
	case *pb.Event_PollVoted:
		s.applyPollVoted(seq, b.PollVoted)
	case *pb.Event_PollUnvoted:
		s.applyPollUnvoted(seq, b.PollUnvoted)
	case *pb.Event_QuestionAsked:
		s.applyQuestionAsked(seq, b.QuestionAsked.Question)
	case *pb.Event_QuestionChanged:
		s.applyQuestionChanged(seq, b.QuestionChanged.Question)
	case *pb.Event_QuestionDeleted:
		s.applyQuestionDeleted(seq, b.QuestionDeleted.QuestionId)
	case *pb.Event_QuestionVoted:
		s.applyQuestionVoted(seq, b.QuestionVoted)
	case *pb.Event_QuestionsMerged:
		s.applyQuestionsMerged(seq, b.QuestionsMerged)
	case *pb.Event_AskerStopped:
		s.applyAskerStopped(b.AskerStopped)
	case *pb.Event_TimerSet:
		s.applyTimer(seq, b.TimerSet.Timer)
	case *pb.Event_Spotlighted:
		s.applySpotlight(seq, b.Spotlighted.Spotlight)
	case *pb.Event_ChatPosted:
		s.applyChat(seq, b.ChatPosted.Message)
	case *pb.Event_ChatDeleted:
		s.chat.Filter(func(m *pb.ChatMessage) bool { return m.Id != b.ChatDeleted.MessageId })
		s.changed.Chat = seq
	case *pb.Event_ThreadCreated:
		s.applyThread(seq, b.ThreadCreated.Thread)
	case *pb.Event_CommentAdded:
		s.applyComment(seq, b.CommentAdded)
	case *pb.Event_CommentDeleted:
		s.applyCommentDeleted(seq, b.CommentDeleted)
	case *pb.Event_RetentionApplied:
		s.applyRetained(seq, b.RetentionApplied)
	case *pb.Event_ConversationSaved:
		s.applyConversation(b.ConversationSaved.Conversation)
	case *pb.Event_AiUsed:
		s.aiUsage = usage.Add(s.aiUsage, b.AiUsed.Usage)
	case *pb.Event_WorkspaceCreated:
		s.workspace = b.WorkspaceCreated.Workspace
	case *pb.Event_WorkspaceChanged:
		s.applyWorkspaceChanged(b.WorkspaceChanged.Head)
	case *pb.Event_WorkspacePushed:
		s.applyWorkspacePushed(b.WorkspacePushed)
	case *pb.Event_WorkspaceDeleted:
		s.workspace = nil
	case *pb.Event_MaterialAdded:
		s.applyMaterialAdded(seq, b.MaterialAdded.Material)
	case *pb.Event_MaterialDeleted:
		s.applyMaterialDeleted(seq, b.MaterialDeleted.MaterialId)
	case *pb.Event_SubmissionAdded:
		s.applySubmissionAdded(seq, b.SubmissionAdded.Submission)
	case *pb.Event_SubmissionDeleted:
		s.keepSubmissions(seq, func(x *pb.Submission) bool { return x.Id != b.SubmissionDeleted.SubmissionId })
	case *pb.Event_Erased, *pb.Event_ChatGone, *pb.Event_CommentsGone, *pb.Event_PollShown, *pb.Event_QuestionHidden:
	}
}

// seen reports an id from the journal to the id source, so that new ids are greater.
func (s *State) seen(id string) { s.ids.Seen(id) }

// decided returns a decision with a reply and events.
func decided(reply any, events ...*pb.Event) decision {
	return decision{Events: events, Reply: reply}
}

// audit returns the rows of an audit record about this call.
func (c call) audit(action, target string, metadata map[string]string) []durable.Row {
	return auditRows(c.s, c.Caller, c.now, action, target, metadata)
}

// auditOf is like audit, for an action that affects a person. It returns no rows for a simulated
// attendee.
func (c call) auditOf(person, action, target string, metadata map[string]string) []durable.Row {
	if c.s.simulatedID(person) {
		return nil
	}
	return c.audit(action, target, metadata)
}

func auditRows(s *State, who *Caller, now time.Time, action, target string, metadata map[string]string) []durable.Row {
	if s.rules.AuditRows == nil || s.simulatedID(target) || s.simulatedID(who.ID) {
		return nil
	}
	r := &audit.Record{
		Id: s.ids.Next(now), Action: action, TargetId: target, CodelabId: s.id,
		Ip: who.IP, UserAgent: who.UserAgent, Metadata: metadata, CreatedAt: now.UnixMilli(),
	}
	switch who.Role {
	case RoleAdmin:
		r.ActorType, r.ActorId = "admin", who.AdminID
	case RoleAttendee:
		r.ActorType, r.ActorId = "attendee", who.ID
	case RoleSystem:
		r.ActorType = "system"
	default:
		r.ActorType = "anonymous"
	}
	return s.rules.AuditRows(r)
}
