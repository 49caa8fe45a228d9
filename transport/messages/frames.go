package messages

import (
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/room"
	"atelier/transport/rest"
	"atelier/transport/wire"
)

// Frames encodes committed events as the messages of decisions W9. The frame
// of an event depends on nothing but the event, so that a replay from the
// journal gives the same bytes.
type Frames struct{}

var _ codelab.Frames = Frames{}

type chatMessage struct {
	Type     string `json:"type"`
	Sender   string `json:"sender"`
	Message  string `json:"message"`
	TargetID string `json:"target_id,omitempty"`
	ID       string `json:"id"`
	SenderID string `json:"sender_id"`
	Seq      uint64 `json:"seq"`
	TS       string `json:"ts"`
}

type progressMessage struct {
	Type       string `json:"type"`
	AttendeeID string `json:"attendee_id"`
	StepNumber int32  `json:"step_number"`
	Seq        uint64 `json:"seq"`
	TS         string `json:"ts"`
}

type helpMessage struct {
	Type         string `json:"type"`
	ID           string `json:"id"`
	AttendeeID   string `json:"attendee_id"`
	AttendeeName string `json:"attendee_name"`
	StepNumber   int32  `json:"step_number"`
	Status       string `json:"status"`
	ClaimedBy    string `json:"claimed_by,omitempty"`
	Message      string `json:"message,omitempty"`
	Seq          uint64 `json:"seq"`
	TS           string `json:"ts"`
}

type threadMessage struct {
	Type         string  `json:"type"`
	TargetType   string  `json:"target_type"`
	TargetStepID *string `json:"target_step_id"`
	ThreadID     string  `json:"thread_id"`
	Action       string  `json:"action"`
	Seq          uint64  `json:"seq"`
	TS           string  `json:"ts"`
}

type completedMessage struct {
	Type       string `json:"type"`
	AttendeeID string `json:"attendee_id"`
	Seq        uint64 `json:"seq"`
	TS         string `json:"ts"`
}

type renamedMessage struct {
	Type       string `json:"type"`
	AttendeeID string `json:"attendee_id"`
	Name       string `json:"name"`
	Seq        uint64 `json:"seq"`
	TS         string `json:"ts"`
}

type mutedMessage struct {
	Type       string `json:"type"`
	AttendeeID string `json:"attendee_id"`
	Muted      bool   `json:"muted"`
	Seq        uint64 `json:"seq"`
	TS         string `json:"ts"`
}

type plainMessage struct {
	Type string `json:"type"`
	ID   string `json:"id,omitempty"`
	Seq  uint64 `json:"seq"`
	TS   string `json:"ts"`
}

// Encode gives the frame of an event; false when nobody is told.
func (Frames) Encode(seq uint64, e *pb.Event) (room.Frame, bool) {
	f := room.Frame{Seq: seq}
	ts := wire.Stamp(e.At)
	switch b := e.Body.(type) {
	case *pb.Event_ChatPosted:
		m := b.ChatPosted.Message
		out := chatMessage{"chat", m.SenderName, m.Message, m.TargetId, m.Id, m.SenderId, seq, ts}
		f.People, f.Item = [2]string{m.SenderId, m.TargetId}, m.Id
		switch {
		case m.Broadcast:
			return with(f, broadcastMessage{"broadcast", m.Id, m.SenderId, m.SenderName, m.Message, seq, ts})
		case m.TargetId != "":
			out.Type, f.Audience = "dm", room.People
		}
		return with(f, out)
	case *pb.Event_Progressed:
		p := b.Progressed
		f.Audience, f.People = room.FacilitatorsAndPeople, [2]string{p.AttendeeId}
		return with(f, progressMessage{"step_progress", p.AttendeeId, p.StepNumber, seq, ts})
	case *pb.Event_HelpAsked:
		h := b.HelpAsked.Request
		status := "pending"
		if h.Status == pb.HelpStatus_HELP_STATUS_IN_PROGRESS {
			status = "in_progress"
		}
		f.Audience, f.People = room.FacilitatorsAndPeople, [2]string{h.AttendeeId}
		return with(f, helpMessage{"help_request", h.Id, h.AttendeeId, h.AttendeeName, h.StepNumber, status, h.ClaimedBy, h.Message, seq, ts})
	case *pb.Event_HelpOffered:
		h := b.HelpOffered.Request
		f.Audience, f.People = room.FacilitatorsAndPeople, [2]string{h.AttendeeId}
		return with(f, helpMessage{"help_claimed", h.Id, h.AttendeeId, h.AttendeeName, h.StepNumber, "in_progress", h.ClaimedBy, h.Message, seq, ts})
	case *pb.Event_Pulsed:
		p := b.Pulsed
		f.Audience, f.People = room.FacilitatorsAndPeople, [2]string{p.AttendeeId}
		return with(f, pulseMessage{"pulse", p.AttendeeId, p.AttendeeName, wire.OrNull(rest.PulseText(p.State)), p.StepNumber, seq, ts})
	case *pb.Event_Pinned:
		return with(f, pinChanged(seq, ts, b.Pinned))
	case *pb.Event_Pointed:
		return with(f, pointerMoved(seq, ts, b.Pointed.Pointer))
	case *pb.Event_HelpClaimed:
		h := b.HelpClaimed
		f.Audience, f.People = room.FacilitatorsAndPeople, [2]string{h.AttendeeId}
		return with(f, helpMessage{"help_claimed", h.HelpId, h.AttendeeId, h.AttendeeName, h.StepNumber, "in_progress", h.By, "", seq, ts})
	case *pb.Event_HelpResolved:
		h := b.HelpResolved
		f.Audience, f.People = room.FacilitatorsAndPeople, [2]string{h.AttendeeId}
		return with(f, helpMessage{"help_resolved", h.HelpId, h.AttendeeId, h.AttendeeName, h.StepNumber, "resolved", "", "", seq, ts})
	case *pb.Event_ThreadCreated:
		t := b.ThreadCreated.Thread
		f.People[0], f.Item = t.CreatedBy, t.Id
		if len(t.Messages) > 0 {
			f.People[1] = t.Messages[0].AuthorId
		}
		return with(f, threadMessage{"inline_comment_changed", t.TargetType, wire.OrNull(t.TargetStepId), t.Id, "created", seq, ts})
	case *pb.Event_CommentAdded:
		c := b.CommentAdded
		f.People, f.Item = [2]string{c.Comment.AuthorId}, c.Comment.Id
		return with(f, threadMessage{"inline_comment_changed", c.TargetType, wire.OrNull(c.TargetStepId), c.ThreadId, "replied", seq, ts})
	case *pb.Event_CommentDeleted:
		c := b.CommentDeleted
		return with(f, threadMessage{"inline_comment_changed", c.TargetType, wire.OrNull(c.TargetStepId), c.ThreadId, "deleted", seq, ts})
	case *pb.Event_CommentsGone:
		c := b.CommentsGone
		return with(f, threadMessage{"inline_comment_changed", c.TargetType, wire.OrNull(c.TargetStepId), c.ThreadId, "deleted", seq, ts})
	case *pb.Event_Completed:
		f.Audience, f.People = room.FacilitatorsAndPeople, [2]string{b.Completed.AttendeeId}
		return with(f, completedMessage{"attendee_completed", b.Completed.AttendeeId, seq, ts})
	case *pb.Event_Renamed:
		f.Audience, f.People = room.FacilitatorsAndPeople, [2]string{b.Renamed.AttendeeId}
		return with(f, renamedMessage{"attendee_renamed", b.Renamed.AttendeeId, b.Renamed.Name, seq, ts})
	case *pb.Event_Muted:
		f.Audience, f.People = room.FacilitatorsAndPeople, [2]string{b.Muted.AttendeeId}
		return with(f, mutedMessage{"attendee_muted", b.Muted.AttendeeId, b.Muted.Muted, seq, ts})
	case *pb.Event_ChatDeleted:
		return with(f, plainMessage{"chat_deleted", b.ChatDeleted.MessageId, seq, ts})
	case *pb.Event_ChatGone:
		return with(f, plainMessage{"chat_deleted", b.ChatGone.MessageId, seq, ts})
	case *pb.Event_StepsReplaced:
		return with(f, plainMessage{Type: "steps_changed", Seq: seq, TS: ts})
	case *pb.Event_Updated, *pb.Event_QuizzesReplaced, *pb.Event_MaterialAdded, *pb.Event_MaterialDeleted:
		return with(f, plainMessage{Type: "codelab_changed", Seq: seq, TS: ts})
	case *pb.Event_Deleted:
		return with(f, plainMessage{Type: "codelab_deleted", Seq: seq, TS: ts})
	}
	return room.Frame{}, false
}

func with(f room.Frame, message any) (room.Frame, bool) {
	f.Payload = encode(message)
	return f, true
}

// encode writes a message of ours, which always encodes.
func encode(message any) []byte {
	b, err := wire.Codec.Marshal(message)
	if err != nil {
		panic("encode message: " + err.Error())
	}
	return b
}

// Payload makes the messages that are not stored.

func ack(ref string, seq uint64) []byte {
	return encode(struct {
		Type string  `json:"type"`
		Ref  *string `json:"ref"`
		Seq  uint64  `json:"seq"`
	}{"ack", wire.OrNull(ref), seq})
}

func failure(ref, text string) []byte {
	return encode(struct {
		Type  string `json:"type"`
		Error string `json:"error"`
		Ref   string `json:"ref,omitempty"`
	}{"error", text, ref})
}

type you struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Role string `json:"role"`
}

// welcome names the position from which the stream goes on for this session,
// and the head of the stream: what lies between is about to be replayed.
func welcome(epoch string, seq, head uint64, who you) []byte {
	return encode(struct {
		Type  string `json:"type"`
		Epoch string `json:"epoch"`
		Seq   uint64 `json:"seq"`
		Head  uint64 `json:"head"`
		You   you    `json:"you"`
	}{"welcome", epoch, seq, head, who})
}

func resync(epoch string, seq uint64, reason string) []byte {
	return encode(struct {
		Type   string `json:"type"`
		Epoch  string `json:"epoch"`
		Seq    uint64 `json:"seq"`
		Reason string `json:"reason"`
	}{"resync", epoch, seq, reason})
}

// Reconnect tells a client when to come back, before the server stops.
func Reconnect(afterMS int) []byte {
	return encode(struct {
		Type    string `json:"type"`
		AfterMS int    `json:"after_ms"`
	}{"reconnect", afterMS})
}

type presentAttendee struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	CurrentStep int32  `json:"current_step"`
}

func presence(kind string, a *pb.Attendee) []byte {
	return encode(struct {
		Type     string          `json:"type"`
		Attendee presentAttendee `json:"attendee"`
	}{kind, presentAttendee{a.Id, a.Name, a.CurrentStep}})
}
