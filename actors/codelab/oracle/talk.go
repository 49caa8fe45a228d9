package oracle

import (
	"fmt"
	"slices"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
)

// talk is the model of the chat and of retention: the sections "Attendees" and "Messages".
type talk struct {
	room   *room
	chat   []*pb.ChatMessage // oldest first
	emails map[string]email  // by attendee
}

type email struct {
	address    string
	registered int64
}

func (m *talk) event(e *pb.Event) error {
	keep := func(keep func(*pb.ChatMessage) bool) {
		m.chat = slices.DeleteFunc(m.chat, func(c *pb.ChatMessage) bool { return !keep(c) })
	}
	switch b := e.Body.(type) {
	case *pb.Event_ChatPosted:
		c := b.ChatPosted.Message
		if who := m.room.find(c.SenderId); c.SenderId != codelab.FacilitatorID && (who == nil || who.muted || m.room.ended || c.Broadcast) {
			return fmt.Errorf("%s sent a message, which is not allowed: %+v", c.SenderId, who)
		}
		m.chat = append(m.chat, c)
	case *pb.Event_ChatDeleted:
		keep(func(c *pb.ChatMessage) bool { return c.Id != b.ChatDeleted.MessageId })
	case *pb.Event_Registered:
		m.emails[b.Registered.Attendee.Id] = email{b.Registered.Attendee.Email, b.Registered.Attendee.CreatedAt}
	case *pb.Event_Rejoined:
		m.emails[b.Rejoined.AttendeeId] = email{b.Rejoined.Email, m.emails[b.Rejoined.AttendeeId].registered}
	case *pb.Event_Removed: // together with the messages to them
		delete(m.emails, b.Removed.AttendeeId)
		keep(func(c *pb.ChatMessage) bool {
			return c.SenderId != b.Removed.AttendeeId && c.TargetId != b.Removed.AttendeeId
		})
	case *pb.Event_RetentionApplied:
		keep(func(c *pb.ChatMessage) bool { return c.CreatedAt >= b.RetentionApplied.ChatBefore })
		for who, x := range m.emails {
			if x.registered < b.RetentionApplied.EmailsBefore {
				m.emails[who] = email{"", x.registered}
			}
		}
	}
	return nil
}

func (m *talk) view(v *codelab.View) error {
	if v.Chat.Len() != len(m.chat) {
		return differs("the number of messages", v.Chat.Len(), len(m.chat))
	}
	for i, c := range m.chat {
		if got := v.Chat.At(i); got.Id != c.Id || got.Message != c.Message || got.SenderId != c.SenderId || got.TargetId != c.TargetId {
			return differs(fmt.Sprint("message ", i), got, c)
		}
	}
	for _, p := range m.room.people {
		if err := differs("the address of "+p.id, v.Attendee(p.id).GetEmail(), m.emails[p.id].address); err != nil {
			return err
		}
	}
	return nil
}
