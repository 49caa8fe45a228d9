package codelab

import (
	pb "atelier/actors/codelab/codelabpb"
)

// Personal data leaves in three places: the state (applyRemoved,
// applyRetained), the journal's older records (Erase) and the older snapshot,
// which the shell replaces.

// applyRemoved takes an attendee and everything they made out of the state.
func (s *State) applyRemoved(seq uint64, id string) {
	// Not even the record may be there, when the log was cleaned since.
	if s.attendees.Filter(func(a *pb.Attendee) bool { return a.Id != id }) > 0 {
		s.indexAttendees()
		s.changed.Attendees = seq
	}
	if s.help.Filter(func(h *pb.HelpRequest) bool { return h.AttendeeId != id }) > 0 {
		s.indexHelp()
		s.changed.Help = seq
	}
	if s.feedback.Filter(func(f *pb.Feedback) bool { return f.AttendeeId != id }) > 0 {
		delete(s.byFeedback, id)
		s.changed.Feedback = seq
	}
	if s.answers.Filter(func(a *pb.QuizAnswer) bool { return a.AttendeeId != id }) > 0 {
		s.indexAnswers()
		s.changed.Answers = seq
	}
	s.keepSubmissions(seq, func(x *pb.Submission) bool { return x.AttendeeId != id })
	if s.chat.Filter(func(m *pb.ChatMessage) bool { return m.SenderId != id && m.TargetId != id }) > 0 {
		s.changed.Chat = seq
	}
	s.keepConversations(func(c *pb.Conversation) bool { return c.UserId != id })
	for i, t := range s.threads.All() {
		if t.CreatedBy == id {
			t = shallow(t)
			t.CreatedBy = ""
			s.threads.Set(i, t)
			s.changed.Threads = seq
		}
		for _, m := range t.Messages {
			if m.AuthorId == id {
				s.keepMessages(seq, i, func(m *pb.Comment) bool { return m.AuthorId != id })
				break
			}
		}
	}
	s.dropEmptyThreads()
}

// applyRetention decides whether something has outlived the codelab's
// retention.
func (c call) applyRetention() (decision, error) {
	m := c.s.meta
	b := &pb.RetentionApplied{}
	if m.EmailRetentionDays > 0 {
		limit := c.now.AddDate(0, 0, -int(m.EmailRetentionDays)).UnixMilli()
		for _, a := range c.s.attendees.All() {
			if a.CreatedAt < limit && a.Email != "" {
				b.EmailsBefore = limit
				break
			}
		}
	}
	if m.ChatRetentionDays > 0 && c.s.chat.Len() > 0 {
		limit := c.now.AddDate(0, 0, -int(m.ChatRetentionDays)).UnixMilli()
		if c.s.chat.At(0).CreatedAt < limit {
			b.ChatBefore = limit
		}
	}
	if b.EmailsBefore == 0 && b.ChatBefore == 0 {
		return decision{}, nil
	}
	d := decided(nil, &pb.Event{Body: &pb.Event_RetentionApplied{RetentionApplied: b}})
	d.Rows = c.audit("retention_apply", c.s.id, nil)
	if b.ChatBefore > 0 {
		_, rows := c.untalk(func(m *pb.ChatMessage) bool { return m.CreatedAt < b.ChatBefore }, noComment)
		d.Rows = append(d.Rows, rows...)
	}
	return d, nil
}

func (s *State) applyRetained(seq uint64, b *pb.RetentionApplied) {
	if b.EmailsBefore > 0 {
		for i, a := range s.attendees.All() {
			if a.CreatedAt < b.EmailsBefore && a.Email != "" {
				a = a.CloneVT()
				a.Email = ""
				s.attendees.Set(i, a)
			}
		}
		s.changed.Attendees = seq
	}
	if b.ChatBefore > 0 {
		s.chat.Filter(func(m *pb.ChatMessage) bool { return m.CreatedAt >= b.ChatBefore })
		s.changed.Chat = seq
	}
}

// Erases says that an event asks for older events to be erased.
func Erases(e *pb.Event) bool {
	switch e.Body.(type) {
	case *pb.Event_Removed, *pb.Event_RetentionApplied, *pb.Event_ChatDeleted, *pb.Event_CommentDeleted, *pb.Event_SubmissionDeleted:
		return true
	}
	return false
}

// Erase returns what a stored event must be replaced by, judged by a view
// that contains the removal: events of people who are gone lose their
// content, and so do deleted messages. Replaying the result gives the same
// state.
func Erase(v *View) func(*pb.Event) (*pb.Event, bool) {
	gone := func(person string) bool {
		return person != "" && person != FacilitatorID && v.Attendee(person) == nil
	}
	// An address that the record no longer has was removed.
	forgotten := func(person string) bool { return v.Attendee(person).GetEmail() == "" }
	return func(e *pb.Event) (*pb.Event, bool) {
		erased := func() (*pb.Event, bool) {
			return &pb.Event{At: e.At, Person: e.Person, Ref: e.Ref, Body: &pb.Event_Erased{Erased: &pb.Erased{}}}, true
		}
		switch b := e.Body.(type) {
		case *pb.Event_Registered:
			a := b.Registered.Attendee
			if gone(a.Id) {
				return erased()
			}
			if a.Email != "" && forgotten(a.Id) {
				a = a.CloneVT()
				a.Email = ""
				return &pb.Event{At: e.At, Body: &pb.Event_Registered{Registered: &pb.Registered{Attendee: a}}}, true
			}
		case *pb.Event_Rejoined:
			if forgotten(b.Rejoined.AttendeeId) {
				return erased()
			}
		case *pb.Event_Renamed:
			if gone(b.Renamed.AttendeeId) {
				return erased()
			}
		case *pb.Event_HelpAsked:
			if gone(b.HelpAsked.Request.AttendeeId) {
				return erased()
			}
		case *pb.Event_HelpClaimed:
			if gone(b.HelpClaimed.AttendeeId) {
				return erased()
			}
		case *pb.Event_HelpResolved:
			if gone(b.HelpResolved.AttendeeId) {
				return erased()
			}
		case *pb.Event_FeedbackGiven:
			if gone(b.FeedbackGiven.Feedback.AttendeeId) {
				return erased()
			}
		case *pb.Event_QuizSubmitted:
			if gone(b.QuizSubmitted.AttendeeId) {
				return erased()
			}
		case *pb.Event_SubmissionAdded:
			if v.Submission(b.SubmissionAdded.Submission.Id) == nil {
				return erased()
			}
		case *pb.Event_ChatPosted:
			if v.ChatMessage(b.ChatPosted.Message.Id) == nil {
				return erased()
			}
		case *pb.Event_ConversationSaved:
			if v.Conversation(b.ConversationSaved.Conversation.Id) == nil {
				return erased()
			}
		case *pb.Event_ThreadCreated:
			return eraseThread(v, e, b.ThreadCreated.Thread, gone)
		case *pb.Event_CommentAdded:
			if !v.hasComment(b.CommentAdded.ThreadId, b.CommentAdded.Comment.Id) {
				return erased()
			}
		}
		return nil, false
	}
}

// eraseThread keeps a thread whose first message, or whose maker, is gone but
// which lives on through others: the message is emptied, and removed again by
// the event that removed it.
func eraseThread(v *View, e *pb.Event, t *pb.Thread, gone func(string) bool) (*pb.Event, bool) {
	first := t.Messages[0]
	empty := !v.hasComment(t.Id, first.Id) && first.Message != ""
	unmade := gone(t.CreatedBy)
	if !empty && !unmade {
		return nil, false
	}
	out := t.CloneVT()
	if unmade {
		out.CreatedBy = ""
	}
	if empty {
		out.Messages[0].Message, out.Messages[0].AuthorName = "", ""
	}
	if v.Thread(t.Id) == nil {
		out.SelectedText = ""
	}
	return &pb.Event{At: e.At, Person: e.Person, Ref: e.Ref, Body: &pb.Event_ThreadCreated{ThreadCreated: &pb.ThreadCreated{Thread: out}}}, true
}
