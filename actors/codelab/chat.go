package codelab

import (
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/cow"
	"atelier/actors/durable"
	"atelier/actors/files"
)

const (
	maxMessage = 2000
	// maxGone is the maximum of individual notices to clients about a removed person's messages,
	// and also the maximum of notices about the person's threads. It is the size of one page of the
	// history, because clients show no older messages.
	maxGone = 1000
)

// PostChat sends a message to everybody, to one person, or as a broadcast.
type PostChat struct {
	Message string
	// TargetID is the recipient of a direct message; empty for everybody.
	TargetID  string
	Broadcast bool
}

func (p PostChat) decide(c call) (decision, error) {
	if err := c.speak(); err != nil {
		return decision{}, err
	}
	if err := text("message", p.Message, 1, maxMessage); err != nil {
		return decision{}, err
	}
	if p.Broadcast && !c.admin() {
		return decision{}, durable.Reject(durable.Forbidden, "only facilitators can send a broadcast")
	}
	if t := p.TargetID; t != "" && t != FacilitatorID && c.s.attendee(t) == nil {
		return decision{}, durable.Reject(durable.Invalid, "target_id is not a person in this codelab")
	}
	m := &pb.ChatMessage{
		Id: c.id(), SenderId: c.ID, SenderName: c.name(), Message: p.Message, TargetId: p.TargetID, CreatedAt: c.now.UnixMilli(),
		Broadcast: p.Broadcast, Leader: c.leader(),
	}
	d := decided(m, &pb.Event{Body: &pb.Event_ChatPosted{ChatPosted: &pb.ChatPosted{Message: m}}})
	d.Rows = c.talkRows(m.Message)
	return d, nil
}

// name returns the caller's name as others see it. For an attendee it is the name in the record,
// because a facilitator can change it. For others it is the display name.
func (c call) name() string {
	if a := c.s.attendee(c.ID); a != nil && !c.admin() {
		return a.Name
	}
	return c.Name
}

// leader returns the id of the facilitator, assistant or owner behind FacilitatorID, or "" if the
// caller is not an admin.
func (c call) leader() string {
	if !c.admin() {
		return ""
	}
	return c.AdminID
}

// Visible reports whether a person is allowed to see a message. Only its sender and recipient can
// see a direct message.
func Visible(m *pb.ChatMessage, who string) bool {
	return m.TargetId == "" || m.SenderId == who || m.TargetId == who
}

// DeleteChat removes a chat message that facilitators can see.
type DeleteChat struct {
	MessageID string
}

func (b DeleteChat) decide(c call) (decision, error) {
	i, ok := searchID(&c.s.chat, b.MessageID, (*pb.ChatMessage).GetId)
	if !ok || !Visible(c.s.chat.At(i), FacilitatorID) {
		return decision{}, durable.Reject(durable.Missing, "message not found")
	}
	dropped, rows := c.untalk(func(m *pb.ChatMessage) bool { return m.Id == b.MessageID }, noComment)
	d := decided(files.Forgotten{Uploads: dropped}, &pb.Event{Body: &pb.Event_ChatDeleted{ChatDeleted: &pb.ChatDeleted{MessageId: b.MessageID}}})
	d.Rows = c.auditOf(c.s.chat.At(i).SenderId, "chat_delete", b.MessageID, map[string]string{"author_id": c.s.chat.At(i).SenderId})
	d.Rows = append(d.Rows, rows...)
	return d, nil
}

// chatGone returns notices about the newest messages from and to a removed person, at most maxGone.
// The events contain only ids of messages, and no data of the person.
func (c call) chatGone(person string) (out []*pb.Event) {
	for i := c.s.chat.Len() - 1; i >= 0 && len(out) < maxGone; i-- {
		if m := c.s.chat.At(i); m.SenderId == person || m.TargetId == person {
			out = append(out, &pb.Event{Body: &pb.Event_ChatGone{ChatGone: &pb.ChatGone{MessageId: m.Id}}})
		}
	}
	return out
}

func (s *State) applyChat(seq uint64, m *pb.ChatMessage) {
	s.chat.Append(m)
	s.seen(m.Id)
	s.changed.Chat = seq
	// The oldest messages are removed only when the list exceeds its bound by more than a tenth, so
	// that the list is rarely filtered.
	if over := s.chat.Len() - maxChat; over > maxChat/10 {
		oldest := s.chat.At(over).Id
		s.chat.Filter(func(m *pb.ChatMessage) bool { return m.Id >= oldest })
	}
}

// named returns the element with an id from a list with ascending ids. If there is none, it returns
// a Missing rejection, whose text calls the element what.
func named[T any](v *cow.Vector[T], id string, idOf func(T) string, what string) (T, error) {
	i, ok := searchID(v, id, idOf)
	if !ok {
		var none T
		return none, durable.Reject(durable.Missing, "%s not found", what)
	}
	return v.At(i), nil
}

// searchID returns the index of an id in a list with ascending ids, and
// true. If the list lacks the id, searchID returns the index at which it
// would be inserted, and false.
func searchID[T any](v *cow.Vector[T], id string, idOf func(T) string) (int, bool) {
	return search(v.Len(), v.At, id, idOf)
}

func search[T any](n int, at func(int) T, id string, idOf func(T) string) (int, bool) {
	lo, hi := 0, n
	for lo < hi {
		mid := (lo + hi) / 2
		if idOf(at(mid)) < id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < n && idOf(at(lo)) == id
}
