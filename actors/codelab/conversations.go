package codelab

import (
	pb "atelier/actors/codelab/codelabpb"
)

const (
	// A longer question or answer is rejected. Lengths are in code points.
	maxAIQuestion = 100_000
	maxAIAnswer   = 200_000

	// Reaching these bounds of saved conversations is not an error. At a person's bound, the oldest
	// conversations of the same person are dropped; at the codelab's bound, the oldest of all.
	maxConversations          = 20_000
	maxConversationBytes      = 32 << 20
	maxPersonConversations    = 500
	maxPersonConversationSize = 4 << 20
)

// heap contains the number of stored conversations and their total size in bytes.
type heap struct{ count, bytes int }

func (h heap) over(count, bytes int) bool { return h.count > count || h.bytes > bytes }

func conversationBytes(c *pb.Conversation) int { return len(c.Question) + len(c.Answer) }

// SaveConversation stores a question to the AI and its answer.
type SaveConversation struct {
	StepNumber int32
	Question   string
	Answer     string
	Model      string
}

func (in SaveConversation) decide(c call) (decision, error) {
	if in.StepNumber != 0 {
		if err := c.stepExists(in.StepNumber); err != nil {
			return decision{}, err
		}
	}
	if err := text("question", in.Question, 1, maxAIQuestion); err != nil {
		return decision{}, err
	}
	if err := text("answer", in.Answer, 1, maxAIAnswer); err != nil {
		return decision{}, err
	}
	model, err := line("model", in.Model, 0, 200)
	if err != nil {
		return decision{}, err
	}
	out := &pb.Conversation{
		Id: c.id(), UserType: "attendee", UserId: c.ID, UserName: c.name(), StepNumber: in.StepNumber,
		Question: in.Question, Answer: in.Answer, Model: model, CreatedAt: c.now.UnixMilli(),
	}
	if c.admin() {
		out.UserType = "admin"
	}
	return decided(out, &pb.Event{Body: &pb.Event_ConversationSaved{ConversationSaved: &pb.ConversationSaved{Conversation: out}}}), nil
}

func (s *State) applyConversation(in *pb.Conversation) {
	s.seen(in.Id)
	if in.UserType == "attendee" && s.attendee(in.UserId) == nil {
		return
	}
	s.conversations.Append(in)
	s.weighConversation(in)
	// dropOldest removes a tenth at once, because each removal filters the whole list.
	if by := s.saved[in.UserId]; by.over(maxPersonConversations, maxPersonConversationSize) {
		s.dropOldest(by, maxPersonConversations, maxPersonConversationSize, func(c *pb.Conversation) bool { return c.UserId == in.UserId })
	}
	if s.savedAll.over(maxConversations, maxConversationBytes) {
		s.dropOldest(s.savedAll, maxConversations, maxConversationBytes, func(*pb.Conversation) bool { return true })
	}
}

// dropOldest drops the oldest conversations of a heap until the heap is a tenth below its bounds.
// The newest conversation always remains.
func (s *State) dropOldest(h heap, count, bytes int, belongs func(*pb.Conversation) bool) {
	newest := s.conversations.At(s.conversations.Len() - 1)
	s.keepConversations(func(c *pb.Conversation) bool {
		if c == newest || !belongs(c) || !h.over(count*9/10, bytes*9/10) {
			return true
		}
		h.count--
		h.bytes -= conversationBytes(c)
		return false
	})
}

func (s *State) keepConversations(keep func(*pb.Conversation) bool) {
	if s.conversations.Filter(keep) > 0 {
		s.weighConversations()
	}
}

func (s *State) weighConversations() {
	clear(s.saved)
	s.savedAll = heap{}
	for _, c := range s.conversations.All() {
		s.weighConversation(c)
	}
}

func (s *State) weighConversation(c *pb.Conversation) {
	n := conversationBytes(c)
	by := s.saved[c.UserId]
	s.saved[c.UserId] = heap{by.count + 1, by.bytes + n}
	s.savedAll = heap{s.savedAll.count + 1, s.savedAll.bytes + n}
}
