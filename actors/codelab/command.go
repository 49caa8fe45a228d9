package codelab

import (
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
)

// Role is the role in which a caller acts.
type Role uint8

// The roles.
const (
	RoleSystem Role = iota
	RoleAdmin
	RoleAttendee
	// RoleAnyone is a caller without a session, for example on registration.
	RoleAnyone
)

// Caller is the acting person and their address, for the rules and for the audit trail. Immutable
// once it is part of a command.
type Caller struct {
	Role Role
	// ID is the attendee's id, or FacilitatorID for admins.
	ID string
	// Name is the name that others see.
	Name string
	// Person distinguishes people who share an id, as all admins do. References (see Event.ref)
	// belong to a Person.
	Person string
	IP     string
	// UserAgent is the user agent of the browser, if it sent one.
	UserAgent string
	// AdminID is the account of the owner, or the id of a facilitator or assistant, for the
	// audit trail and their messages.
	AdminID string
	// Session is the live session that sent the command, or 0.
	Session uint64
	// Generation is the generation of the attendee's grant, see Attendee.
	Generation uint32
	// Silent is set for API tokens without the scope "all". Their live sessions can only request
	// the welcome.
	Silent bool
}

// PersonPrefix is the prefix of Caller.Person for facilitators and assistants other than the owner.
const PersonPrefix = "person:"

// IsAdmin reports whether the caller acts as an admin. It returns false for a nil Caller.
func (c *Caller) IsAdmin() bool { return c != nil && c.Role == RoleAdmin }

// system is the server itself as a caller.
var system = &Caller{Role: RoleSystem}

// Command is a command to a codelab. It is plain data that can be sent to another process as JSON.
// The codelab itself normalizes texts, and checks lengths and rules.
type Command struct {
	Caller *Caller
	// Ref is the client's reference. Once a person's command has caused events, further commands of
	// the person with the same reference are not executed for the time refsFor.
	Ref string
	// IfMatch lists revisions, see Revisions. If none of them is the current revision of the part
	// that the command replaces, the edit is refused. An edit without revisions replaces any
	// revision.
	IfMatch []uint64
	// Body is the command itself. Each body type is in the file for its subject, together with its
	// rules.
	Body Body
}

// Body is one kind of command.
type Body interface {
	// decide returns the command's decision without changing anything.
	decide(c call) (decision, error)
}

// Vocabulary contains all codelab commands, with their replies.
var Vocabulary = durable.NewVocabulary[Body](
	durable.Says[Create, *pb.Codelab](),
	durable.Says[Update, Edited](),
	durable.Says[ReplaceSteps, Edited](),
	durable.Says[Publish, Published](),
	durable.Says[SetRegistration, *pb.Codelab](),
	durable.Says[SetEnded, *pb.Codelab](),
	durable.Says[Delete, files.Forgotten](),
	durable.Says[NoteExport, durable.Nothing](),
	durable.Says[StartRehearsal, *pb.Codelab](),
	durable.Says[EndRehearsal, durable.Nothing](),
	durable.Says[ApplyRetention, durable.Nothing](),
	durable.Says[SetDeletion, durable.Nothing](),

	durable.Says[Register, Registration](),
	durable.Says[ResetPin, durable.Nothing](),
	durable.Says[Rename, *pb.Attendee](),
	durable.Says[Mute, *pb.Attendee](),
	durable.Says[SetPlace, *pb.Attendee](),
	durable.Says[ReportCheck, durable.Nothing](),
	durable.Says[Tick, durable.Nothing](),
	durable.Says[Remove, files.Forgotten](),
	durable.Says[Progress, durable.Nothing](),
	durable.Says[Complete, durable.Nothing](),

	durable.Says[SetPin, durable.Nothing](),
	durable.Says[Point, durable.Nothing](),
	durable.Says[SetPulse, durable.Nothing](),
	durable.Says[AskHelp, *pb.HelpRequest](),
	durable.Says[OfferHelp, *pb.HelpRequest](),
	durable.Says[ClaimHelp, *pb.HelpRequest](),
	durable.Says[ResolveHelp, durable.Nothing](),
	durable.Says[ReleaseHelp, *pb.HelpRequest](),
	durable.Says[AnswerHelp, durable.Nothing](),
	durable.Says[ReleaseClaims, durable.Nothing](),

	durable.Says[CreatePoll, *pb.Poll](),
	durable.Says[UpdatePoll, *pb.Poll](),
	durable.Says[OpenPoll, *pb.Poll](),
	durable.Says[ClosePoll, *pb.Poll](),
	durable.Says[CloseDuePoll, *pb.Poll](),
	durable.Says[ShowPoll, *pb.Poll](),
	durable.Says[ResetPoll, *pb.Poll](),
	durable.Says[DeletePoll, durable.Nothing](),
	durable.Says[Vote, durable.Nothing](),
	durable.Says[Unvote, durable.Nothing](),

	durable.Says[AskQuestion, *pb.Question](),
	durable.Says[TakeQuestion, *pb.Question](),
	durable.Says[ChangeQuestion, *pb.Question](),
	durable.Says[DeleteQuestion, durable.Nothing](),
	durable.Says[VoteQuestion, durable.Nothing](),
	durable.Says[MergeQuestion, *pb.Question](),
	durable.Says[StopAsker, durable.Nothing](),
	durable.Says[DropQuestions, durable.Nothing](),
	durable.Says[SetTimer, durable.Nothing](),
	durable.Says[SetSpotlight, durable.Nothing](),

	durable.Says[PostChat, *pb.ChatMessage](),
	durable.Says[PostDirects, DirectsPosted](),
	durable.Says[DeleteChat, files.Forgotten](),
	durable.Says[Annotate, *pb.Thread](),
	durable.Says[Reply, *pb.Thread](),
	durable.Says[DeleteComment, CommentDeletion](),

	durable.Says[ReplaceQuizzes, Edited](),
	durable.Says[SubmitQuiz, QuizResult](),
	durable.Says[GiveFeedback, *pb.Feedback](),
	durable.Says[AddMaterial, *pb.Material](),
	durable.Says[DeleteMaterial, *pb.Material](),
	durable.Says[AddSubmission, *pb.Submission](),
	durable.Says[DeleteSubmission, *pb.Submission](),

	durable.Says[AskAI, durable.Nothing](),
	durable.Says[NoteAIUse, durable.Nothing](),
	durable.Says[SaveConversation, *pb.Conversation](),

	durable.Says[CreateWorkspace, *pb.Workspace](),
	durable.Says[ChangeWorkspace, *pb.Workspace](),
	durable.Says[PushWorkspace, *pb.Workspace](),
	durable.Says[DeleteWorkspace, *pb.Workspace](),
	durable.Says[TakeCode, durable.Nothing](),
)

// frees reports whether a command frees space on a disk that is nearly full.
func frees(cmd Command) bool {
	switch cmd.Body.(type) {
	case Delete, DeleteWorkspace, DeleteMaterial, DeleteSubmission, DeleteChat, DeleteComment, Remove, DeletePoll, DeleteQuestion, DropQuestions,
		EndRehearsal, ClosePoll, CloseDuePoll: // closing a poll removes its ballots
		return true
	}
	return false
}

// Codec encodes commands for the node that owns the codelab. A command with a reference can be sent
// again safely, because it is executed only once.
var Codec = durable.JSONCodec(Vocabulary,
	func(c Command) (Body, Command) {
		body := c.Body
		c.Body = nil
		return body, c
	},
	func(body Body, c Command) Command {
		c.Body = body
		return c
	},
	func(c Command) bool { return c.Ref != "" },
)
