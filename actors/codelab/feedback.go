package codelab

import (
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// GiveFeedback records an attendee's feedback on the codelab, once.
type GiveFeedback struct {
	Difficulty   string
	Satisfaction string
	Comment      string
}

func (f GiveFeedback) decide(c call) (decision, error) {
	if c.s.attendee(c.ID) == nil {
		return decision{}, durable.Reject(durable.Forbidden, "only attendees can give feedback")
	}
	for _, field := range [][2]string{{"difficulty", f.Difficulty}, {"satisfaction", f.Satisfaction}} {
		if v := field[1]; len(v) != 1 || v[0] < '1' || v[0] > '5' {
			return decision{}, durable.Reject(durable.Invalid, `%s must be "1" to "5"`, field[0])
		}
	}
	if err := text("comment", f.Comment, 0, 2000); err != nil {
		return decision{}, err
	}
	if c.s.byFeedback[c.ID] {
		return decision{}, durable.Reject(durable.Conflict, "you have given feedback already")
	}
	out := &pb.Feedback{
		Id: c.id(), AttendeeId: c.ID, Difficulty: f.Difficulty, Satisfaction: f.Satisfaction,
		Comment: f.Comment, CreatedAt: c.now.UnixMilli(),
	}
	d := decided(out, &pb.Event{Body: &pb.Event_FeedbackGiven{FeedbackGiven: &pb.FeedbackGiven{Feedback: out}}})
	d.Rows = c.audit("feedback_submit", out.Id, nil)
	return d, nil
}
