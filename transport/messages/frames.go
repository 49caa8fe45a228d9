package messages

import (
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/room"
	"atelier/transport/rest"
	"atelier/transport/wire"
)

// Frames encodes committed events as the messages of transport/rest/RULES.md, "Messages". A frame
// depends only on its event, so a replay from the journal returns the same bytes.
type Frames struct{}

var _ codelab.Frames = Frames{}

// The message document is generated from the message types. Tags add the remaining information. The
// tag "is" contains the name of a member's schema (members.go), and the tag "doc" describes the
// member.

// stored contains the last members of every message of a stored event.
type stored struct {
	Seq uint64 `json:"seq" is:"Seq"`
	TS  string `json:"ts" is:"Timestamp"`
}

type chatMessage struct {
	Type     string `json:"type"`
	Sender   string `json:"sender" doc:"The sender's name."`
	Message  string `json:"message" is:"Text"`
	ID       string `json:"id" is:"Id"`
	SenderID string `json:"sender_id" is:"Person"`
	Person   string `json:"person,omitempty" is:"person who leads"`
	stored
}

type directMessage struct {
	Type     string `json:"type"`
	Sender   string `json:"sender"`
	Message  string `json:"message" is:"Text"`
	TargetID string `json:"target_id" is:"Person"`
	ID       string `json:"id" is:"Id"`
	SenderID string `json:"sender_id" is:"Person"`
	Person   string `json:"person,omitempty" is:"person who leads"`
	stored
}

type chatDeletedMessage struct {
	Type string `json:"type"`
	ID   string `json:"id" is:"Id"`
	stored
}

type progressMessage struct {
	Type       string `json:"type"`
	AttendeeID string `json:"attendee_id" is:"Id"`
	StepNumber int32  `json:"step_number" is:"StepNumber"`
	stored
}

type helpRequestMessage struct {
	Type         string `json:"type"`
	ID           string `json:"id" is:"Id"`
	AttendeeID   string `json:"attendee_id" is:"Id"`
	AttendeeName string `json:"attendee_name"`
	StepNumber   int32  `json:"step_number" is:"StepNumber"`
	Status       string `json:"status" is:"status while it is open"`
	ClaimedBy    string `json:"claimed_by,omitempty"`
	Message      string `json:"message,omitempty" is:"reason for help"`
	Place        string `json:"place,omitempty" is:"place"`
	stored
}

type helpClaimedMessage struct {
	Type         string `json:"type"`
	ID           string `json:"id" is:"Id"`
	AttendeeID   string `json:"attendee_id" is:"Id"`
	AttendeeName string `json:"attendee_name"`
	StepNumber   int32  `json:"step_number" is:"StepNumber"`
	Status       string `json:"status" is:"status once it is claimed"`
	ClaimedBy    string `json:"claimed_by"`
	Person       string `json:"person,omitempty" is:"person who leads"`
	Message      string `json:"message,omitempty" is:"reason for help"`
	stored
}

type helpResolvedMessage struct {
	Type         string `json:"type"`
	ID           string `json:"id" is:"Id"`
	AttendeeID   string `json:"attendee_id" is:"Id"`
	AttendeeName string `json:"attendee_name"`
	StepNumber   int32  `json:"step_number" is:"StepNumber"`
	Status       string `json:"status" is:"status once it is resolved"`
	Message      string `json:"message,omitempty" is:"Text" doc:"The written answer."`
	stored
}

type helpReleasedMessage struct {
	Type         string `json:"type"`
	ID           string `json:"id" is:"Id"`
	AttendeeID   string `json:"attendee_id" is:"Id"`
	AttendeeName string `json:"attendee_name"`
	Reason       string `json:"reason" doc:"The reason given by the person who released it; often empty."`
	stored
}

type placeMessage struct {
	Type       string  `json:"type"`
	AttendeeID string  `json:"attendee_id" is:"Id"`
	Place      *string `json:"place" is:"place"`
	stored
}

type threadMessage struct {
	Type         string  `json:"type"`
	TargetType   string  `json:"target_type" is:"target of a thread"`
	TargetStepID *string `json:"target_step_id"`
	ThreadID     string  `json:"thread_id" is:"Id"`
	Action       string  `json:"action" is:"change of a thread"`
	stored
}

// Changes of a thread.
const (
	threadCreated = "created"
	threadReplied = "replied"
	threadDeleted = "deleted"
)

type checkMessage struct {
	Type       string `json:"type"`
	AttendeeID string `json:"attendee_id" is:"Id"`
	Name       string `json:"name" is:"name of a check"`
	OK         bool   `json:"ok"`
	Note       string `json:"note" is:"note of a check"`
	Tries      uint32 `json:"tries" is:"reports of a check"`
	stored
}

type codeTakenMessage struct {
	Type       string `json:"type"`
	AttendeeID string `json:"attendee_id" is:"Id"`
	Name       string `json:"name"`
	stored
}

type completedMessage struct {
	Type       string `json:"type"`
	AttendeeID string `json:"attendee_id" is:"Id"`
	stored
}

type renamedMessage struct {
	Type       string `json:"type"`
	AttendeeID string `json:"attendee_id" is:"Id"`
	Name       string `json:"name"`
	stored
}

type mutedMessage struct {
	Type       string `json:"type"`
	AttendeeID string `json:"attendee_id" is:"Id"`
	Muted      bool   `json:"muted"`
	stored
}

// plainMessage is a message without members of its own: its type states what has happened.
type plainMessage struct {
	Type string `json:"type"`
	stored
}

// Encode returns the frame of an event, or false if no client receives it.
func (Frames) Encode(seq uint64, e *pb.Event) (room.Frame, bool) {
	f := room.Frame{Seq: seq}
	at := stored{seq, wire.Stamp(e.At)}
	switch b := e.Body.(type) {
	case *pb.Event_ChatPosted:
		m := b.ChatPosted.Message
		f.People, f.Item = [2]string{m.SenderId, m.TargetId}, m.Id
		switch {
		case m.Broadcast:
			return with(f, broadcastMessage{"broadcast", m.Id, m.SenderId, m.SenderName, m.Leader, m.Message, at})
		case m.TargetId != "":
			f.Audience = room.People
			return with(f, directMessage{"dm", m.SenderName, m.Message, m.TargetId, m.Id, m.SenderId, m.Leader, at})
		}
		return with(f, chatMessage{"chat", m.SenderName, m.Message, m.Id, m.SenderId, m.Leader, at})
	case *pb.Event_Progressed:
		p := b.Progressed
		f.Audience, f.People = room.FacilitatorsAndPeople, [2]string{p.AttendeeId}
		return with(f, progressMessage{"step_progress", p.AttendeeId, p.StepNumber, at})
	case *pb.Event_HelpAsked:
		h := b.HelpAsked.Request
		status := rest.HelpPending
		if h.Status == pb.HelpStatus_HELP_STATUS_IN_PROGRESS {
			status = rest.HelpInProgress
		}
		f.Audience, f.People = room.FacilitatorsAndPeople, [2]string{h.AttendeeId}
		return with(f, helpRequestMessage{"help_request", h.Id, h.AttendeeId, h.AttendeeName, h.StepNumber, status, h.ClaimedBy, h.Message, h.Place, at})
	case *pb.Event_HelpOffered:
		h := b.HelpOffered.Request
		f.Audience, f.People = room.FacilitatorsAndPeople, [2]string{h.AttendeeId}
		return with(f, helpClaimedMessage{"help_claimed", h.Id, h.AttendeeId, h.AttendeeName, h.StepNumber, rest.HelpInProgress, h.ClaimedBy, h.Leader, h.Message, at})
	case *pb.Event_Pulsed:
		p := b.Pulsed
		f.Audience, f.People = room.FacilitatorsAndPeople, [2]string{p.AttendeeId}
		return with(f, pulseMessage{"pulse", p.AttendeeId, p.AttendeeName, wire.OrNull(rest.PulseText(p.State)), p.StepNumber, at})
	case *pb.Event_Pinned:
		return with(f, pinChanged(at, b.Pinned))
	case *pb.Event_Pointed:
		return with(f, pointerMoved(at, b.Pointed.Pointer))
	case *pb.Event_HelpClaimed:
		h := b.HelpClaimed
		f.Audience, f.People = room.FacilitatorsAndPeople, [2]string{h.AttendeeId}
		return with(f, helpClaimedMessage{"help_claimed", h.HelpId, h.AttendeeId, h.AttendeeName, h.StepNumber, rest.HelpInProgress, h.By, h.Leader, "", at})
	case *pb.Event_HelpResolved:
		h := b.HelpResolved
		f.Audience, f.People = room.FacilitatorsAndPeople, [2]string{h.AttendeeId}
		return with(f, helpResolvedMessage{"help_resolved", h.HelpId, h.AttendeeId, h.AttendeeName, h.StepNumber, rest.HelpResolved, h.Message, at})
	case *pb.Event_HelpReleased:
		h := b.HelpReleased
		f.Audience, f.People = room.FacilitatorsAndPeople, [2]string{h.AttendeeId}
		return with(f, helpReleasedMessage{"help_released", h.HelpId, h.AttendeeId, h.AttendeeName, h.Reason, at})
	case *pb.Event_Placed:
		f.Audience, f.People = room.FacilitatorsAndPeople, [2]string{b.Placed.AttendeeId}
		return with(f, placeMessage{"attendee_placed", b.Placed.AttendeeId, wire.OrNull(b.Placed.Place), at})
	case *pb.Event_ThreadCreated:
		t := b.ThreadCreated.Thread
		f.People[0], f.Item = t.CreatedBy, t.Id
		if len(t.Messages) > 0 { // the event and its frame are erased together with the messages
			f.People[1], f.Item = t.Messages[0].AuthorId, t.Messages[0].Id
		}
		return with(f, threadMessage{"inline_comment_changed", t.TargetType, wire.OrNull(t.TargetStepId), t.Id, threadCreated, at})
	case *pb.Event_CommentAdded:
		c := b.CommentAdded
		f.People, f.Item = [2]string{c.Comment.AuthorId}, c.Comment.Id
		return with(f, threadMessage{"inline_comment_changed", c.TargetType, wire.OrNull(c.TargetStepId), c.ThreadId, threadReplied, at})
	case *pb.Event_CommentDeleted:
		c := b.CommentDeleted
		return with(f, threadMessage{"inline_comment_changed", c.TargetType, wire.OrNull(c.TargetStepId), c.ThreadId, threadDeleted, at})
	case *pb.Event_CommentsGone:
		c := b.CommentsGone
		return with(f, threadMessage{"inline_comment_changed", c.TargetType, wire.OrNull(c.TargetStepId), c.ThreadId, threadDeleted, at})
	case *pb.Event_Completed:
		f.Audience, f.People = room.FacilitatorsAndPeople, [2]string{b.Completed.AttendeeId}
		return with(f, completedMessage{"attendee_completed", b.Completed.AttendeeId, at})
	case *pb.Event_CheckReported:
		c := b.CheckReported
		f.Audience, f.People = room.FacilitatorsAndPeople, [2]string{c.AttendeeId}
		return with(f, checkMessage{"check", c.AttendeeId, c.Name, c.Ok, c.Note, c.Tries, at})
	case *pb.Event_Ticked:
		t := b.Ticked
		f.Audience, f.People = room.People, [2]string{t.AttendeeId}
		return with(f, tickMessage{"tick", t.StepId, t.Item, t.Done, at})
	case *pb.Event_CodeTaken:
		f.Audience, f.People = room.FacilitatorsAndPeople, [2]string{b.CodeTaken.AttendeeId}
		return with(f, codeTakenMessage{"code_taken", b.CodeTaken.AttendeeId, b.CodeTaken.Name, at})
	case *pb.Event_Renamed:
		f.Audience, f.People = room.FacilitatorsAndPeople, [2]string{b.Renamed.AttendeeId}
		return with(f, renamedMessage{"attendee_renamed", b.Renamed.AttendeeId, b.Renamed.Name, at})
	case *pb.Event_Muted:
		f.Audience, f.People = room.FacilitatorsAndPeople, [2]string{b.Muted.AttendeeId}
		return with(f, mutedMessage{"attendee_muted", b.Muted.AttendeeId, b.Muted.Muted, at})
	case *pb.Event_ChatDeleted:
		return with(f, chatDeletedMessage{"chat_deleted", b.ChatDeleted.MessageId, at})
	case *pb.Event_ChatGone:
		return with(f, chatDeletedMessage{"chat_deleted", b.ChatGone.MessageId, at})
	case *pb.Event_StepsReplaced:
		return with(f, plainMessage{"steps_changed", at})
	case *pb.Event_Updated, *pb.Event_RehearsalStarted, *pb.Event_RehearsalEnded, *pb.Event_QuizzesReplaced, *pb.Event_MaterialAdded, *pb.Event_MaterialDeleted:
		return with(f, plainMessage{"codelab_changed", at})
	case *pb.Event_Deleted:
		return with(f, plainMessage{"codelab_deleted", at})
	}
	return participation(f, at, e)
}

func with(f room.Frame, message any) (room.Frame, bool) {
	f.Payload = encode(message)
	return f, true
}

// encode encodes a message. It cannot fail, because a message consists of plain structs or of
// parsed JSON.
func encode(message any) []byte {
	b, err := wire.Codec.Marshal(message)
	if err != nil {
		panic("encode message: " + err.Error())
	}
	return b
}
