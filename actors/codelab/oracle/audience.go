package oracle

import (
	"bytes"
	"fmt"
	"slices"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	frames "atelier/actors/room"
)

// audience contains the recipients of an event's message, according to the section "Messages" and
// the documentation of the messages.
type audience struct {
	leaders, attendees bool     // whether all facilitators, and all attendees, receive it
	people             []string // further recipients
	// secret is text that must not be in the message.
	secret string
}

// Frame compares the recipients of an event's message with those who should receive it. f is
// nil if the event has no message.
func (c *Codelab) Frame(e *pb.Event, f *frames.Frame) error {
	want := audienceOf(e)
	if f == nil {
		if want.leaders || want.attendees || len(want.people) > 0 {
			return fmt.Errorf("no message is sent, but the recipients should be %+v", want)
		}
		return nil
	}
	if err := differs("whether facilitators receive the message", f.Reaches("", true), want.leaders); err != nil {
		return err
	}
	if err := differs("whether every attendee receives the message", f.Reaches("", false), want.attendees); err != nil {
		return err
	}
	concerned := append(slices.Clone(want.people), f.People[:]...)
	for _, p := range c.room.people {
		concerned = append(concerned, p.id)
	}
	for _, id := range concerned {
		if id == "" || id == codelab.FacilitatorID {
			continue
		}
		if err := differs("whether "+id+" receives the message", f.Reaches(id, false), want.attendees || slices.Contains(want.people, id)); err != nil {
			return err
		}
	}
	if want.secret != "" && bytes.Contains(f.Payload, []byte(want.secret)) {
		return fmt.Errorf("the message contains %q", want.secret)
	}
	return nil
}

func audienceOf(e *pb.Event) audience {
	all := audience{leaders: true, attendees: true}
	about := func(id string) audience { return audience{leaders: true, people: []string{id}} }
	switch b := e.Body.(type) {
	case *pb.Event_ChatPosted:
		m := b.ChatPosted.Message
		if m.TargetId == "" {
			return all
		}
		return audience{leaders: m.TargetId == codelab.FacilitatorID || m.SenderId == codelab.FacilitatorID, people: []string{m.SenderId, m.TargetId}}
	case *pb.Event_Ticked:
		return audience{people: []string{b.Ticked.AttendeeId}}
	case *pb.Event_Progressed:
		return about(b.Progressed.AttendeeId)
	case *pb.Event_Completed:
		return about(b.Completed.AttendeeId)
	case *pb.Event_CheckReported:
		return about(b.CheckReported.AttendeeId)
	case *pb.Event_CodeTaken:
		return about(b.CodeTaken.AttendeeId)
	case *pb.Event_Pulsed:
		return about(b.Pulsed.AttendeeId)
	case *pb.Event_Placed:
		return about(b.Placed.AttendeeId)
	case *pb.Event_Renamed:
		return about(b.Renamed.AttendeeId)
	case *pb.Event_Muted:
		return about(b.Muted.AttendeeId)
	case *pb.Event_HelpAsked:
		return about(b.HelpAsked.Request.AttendeeId)
	case *pb.Event_HelpOffered:
		return about(b.HelpOffered.Request.AttendeeId)
	case *pb.Event_HelpClaimed:
		return about(b.HelpClaimed.AttendeeId)
	case *pb.Event_HelpReleased:
		return about(b.HelpReleased.AttendeeId)
	case *pb.Event_HelpResolved:
		return about(b.HelpResolved.AttendeeId)
	case *pb.Event_PollChanged: // attendees receive PollShown
		return audience{leaders: true}
	case *pb.Event_PollShown, *pb.Event_QuestionHidden:
		return audience{attendees: true}
	case *pb.Event_QuestionAsked:
		return audienceOfQuestion(b.QuestionAsked.Question)
	case *pb.Event_QuestionChanged:
		return audienceOfQuestion(b.QuestionChanged.Question)
	case *pb.Event_Created, *pb.Event_Registered, *pb.Event_Rejoined, *pb.Event_Removed, *pb.Event_PinReset,
		*pb.Event_FeedbackGiven, *pb.Event_QuizSubmitted, *pb.Event_PollVoted, *pb.Event_PollUnvoted,
		*pb.Event_QuestionVoted, *pb.Event_AskerStopped, *pb.Event_RetentionApplied, *pb.Event_Erased,
		*pb.Event_SubmissionAdded, *pb.Event_SubmissionDeleted, *pb.Event_ConversationSaved, *pb.Event_AiUsed,
		*pb.Event_WorkspaceCreated, *pb.Event_WorkspaceChanged, *pb.Event_WorkspaceDeleted, *pb.Event_WorkspacePushed,
		*pb.Event_DeletionSet:
		return audience{}
	}
	return all
}

func audienceOfQuestion(q *pb.Question) audience {
	a := audience{leaders: true}
	switch q.State {
	case pb.QuestionState_QUESTION_STATE_WAITING:
		a.people = []string{q.AuthorId}
	case pb.QuestionState_QUESTION_STATE_HIDDEN:
	default:
		a.attendees = true
	}
	if q.Anonymous {
		a.secret = q.AuthorId
	}
	return a
}
