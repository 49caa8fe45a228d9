package codelab

import (
	"slices"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// maxDirects bounds the recipients of one PostDirects. For each recipient, the commit contains an
// event of up to 8 KB, which also counts among the frames kept for replay.
const maxDirects = 1000

// Audience selects the recipients of PostDirects.
type Audience string

// Audiences.
const (
	// ToStuck: attendees who have reported that they are stuck.
	ToStuck Audience = "stuck"
	// ToWaiting: attendees with a help request that nobody has claimed.
	ToWaiting Audience = "waiting"
	// ToStep: attendees who are on a step and have not completed.
	ToStep Audience = "step"
)

// Audiences lists all audiences.
var Audiences = []string{string(ToStuck), string(ToWaiting), string(ToStep)}

// PostDirects sends one text as a direct message to each attendee of an audience. The codelab
// selects the recipients when it executes the command, so that nobody gets a message about a state
// that has already ended.
type PostDirects struct {
	Message string
	To      Audience
	// StepNumber restricts the recipients to attendees who are on this step and have not completed.
	// 0 means no restriction, and is an error with ToStep.
	StepNumber int32
}

// DirectsPosted is the reply to PostDirects.
type DirectsPosted struct {
	// Sent is the number of recipients.
	Sent int
}

func (p PostDirects) decide(c call) (decision, error) {
	if !c.admin() {
		return decision{}, durable.Reject(durable.Forbidden, "only facilitators can write to many people at once")
	}
	if err := text("message", p.Message, 1, maxMessage); err != nil {
		return decision{}, err
	}
	if !slices.Contains(Audiences, string(p.To)) {
		return decision{}, durable.Reject(durable.Invalid, "to must be stuck, waiting or step")
	}
	if p.To == ToStep || p.StepNumber != 0 {
		if err := c.stepExists(p.StepNumber); err != nil {
			return decision{}, err
		}
	}
	recipients := c.audience(p)
	if n := len(recipients); n > maxDirects {
		return decision{}, durable.Reject(durable.Conflict, "this message has %d recipients, but the maximum is %d: send a broadcast, or choose a step", n, maxDirects)
	}
	events := make([]*pb.Event, len(recipients))
	for i, a := range recipients {
		events[i] = &pb.Event{Body: &pb.Event_ChatPosted{ChatPosted: &pb.ChatPosted{Message: &pb.ChatMessage{
			Id: c.id(), SenderId: c.ID, SenderName: c.name(), Message: p.Message, TargetId: a.Id, CreatedAt: c.now.UnixMilli(),
			Leader: c.leader(),
		}}}}
	}
	d := decided(DirectsPosted{Sent: len(events)}, events...)
	if len(events) > 0 {
		d.Rows = c.talkRows(p.Message)
	}
	return d, nil
}

// audience returns the recipients, in the order of their registration.
func (c call) audience(p PostDirects) (out []*pb.Attendee) {
	for _, a := range c.s.attendees.All() {
		if p.StepNumber != 0 && (a.CurrentStep != p.StepNumber || a.CompletedAt != 0) {
			continue
		}
		switch p.To {
		case ToStuck:
			if a.Pulse.GetState() != pb.PulseState_PULSE_STATE_STUCK {
				continue
			}
		case ToWaiting:
			if i, ok := c.s.openHelp[a.Id]; !ok || c.s.help.At(i).Status != pending {
				continue
			}
		}
		out = append(out, a)
	}
	return out
}
