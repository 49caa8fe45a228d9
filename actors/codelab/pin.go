package codelab

import (
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// SetPin pins a message above the chat for everybody, or removes the pinned message.
type SetPin struct {
	// Message is the pinned message; nil removes it.
	Message *string
}

func (p SetPin) decide(c call) (decision, error) {
	if !c.admin() {
		return decision{}, durable.Reject(durable.Forbidden, "only facilitators can pin a message")
	}
	message, action := "", "pin_set"
	if p.Message != nil {
		message = *p.Message
		if err := text("message", message, 1, maxMessage); err != nil {
			return decision{}, err
		}
	}
	if message == c.s.pin.GetMessage() {
		return decision{}, nil
	}
	if message == "" {
		action = "pin_remove"
	}
	d := decided(nil, &pb.Event{Body: &pb.Event_Pinned{Pinned: &pb.Pinned{Message: message}}})
	d.Rows = c.audit(action, c.s.id, nil)
	d.Rows = append(d.Rows, c.textRows(c.s.inText(), inText(c.s.meta, c.s.steps, c.s.quizzes, message))...)
	return d, nil
}

func (s *State) applyPinned(seq uint64, at int64, p *pb.Pinned) {
	s.pin = nil
	if p.Message != "" {
		s.pin = &pb.Pin{Message: p.Message, At: at}
	}
	s.changed.Codelab = seq
}
