package codelab

import (
	"slices"

	"google.golang.org/protobuf/proto"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/cow"
	"atelier/actors/room"
)

// Personal data is erased in four places: the state (applyRemoved, applyRetained), the room's
// frames (Present), the journal's earlier events (Erase) and the earlier snapshot, which the
// runtime replaces. The declarations of records and events state which fields concern a person
// (personal.proto).

// applyRemoved removes an attendee and everything they created from the state. Anonymous questions
// (see Remove), and threads with other people's comments, stay without their author. Anonymous
// ballots also stay.
func (s *State) applyRemoved(seq uint64, now int64, b *pb.Removed) {
	id := b.AttendeeId
	// If an erasure has removed the attendee's registration from the log, the attendee is unknown
	// here.
	if at, known := s.byAttendee[id]; known {
		s.forgetVoter(seq, at)
	}
	s.forgetAsker(seq, now, b)
	if forget(&s.attendees, id) {
		s.indexAttendees()
		s.indexRight()
		s.changed.Attendees = seq
		s.grants = new(Grants)
	}
	if forget(&s.help, id) {
		s.indexHelp()
		s.changed.Help = seq
	}
	if forget(&s.feedback, id) {
		delete(s.byFeedback, id)
		s.changed.Feedback = seq
	}
	if forget(&s.answers, id) {
		s.indexAnswers()
		s.changed.Answers = seq
	}
	if forget(&s.submissions, id) {
		s.indexSubmissions()
		s.changed.Submissions = seq
	}
	if forget(&s.chat, id) {
		s.changed.Chat = seq
	}
	if forget(&s.conversations, id) {
		s.weighConversations()
	}
	s.forgetAuthor(seq, id)
	s.refs.forget(id)
}

// forget drops the records about a person, and reports whether any existed.
func forget[T proto.Message](records *cow.Vector[T], person string) bool {
	is := func(id string) bool { return id == person }
	return records.Filter(func(x T) bool { return !refersTo(x.ProtoReflect(), is, nil) }) > 0
}

// forgetAuthor removes a person's comments. A thread that the person started remains without an
// author if it contains other people's comments.
func (s *State) forgetAuthor(seq uint64, id string) {
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

// Erases reports whether an event requires older events to be erased.
func Erases(e *pb.Event) bool {
	switch b := e.Body.(type) {
	case *pb.Event_Removed, *pb.Event_RetentionApplied, *pb.Event_ChatDeleted, *pb.Event_CommentDeleted, *pb.Event_SubmissionDeleted,
		*pb.Event_QuestionDeleted, *pb.Event_QuestionsMerged:
		return true
	case *pb.Event_PollChanged:
		return b.PollChanged.BallotsGone
	case *pb.Event_PollDeleted:
		return true // erases texts of people
	}
	return false
}

// Erase returns a function that replaces a stored event, based on the view of a snapshot that
// includes the event. The function reports whether the replacement differs. An event that can be
// replayed to clients is kept while all its persons and items exist. All other events become
// Erased, because the snapshot contains their effect.
func Erase(v *View) func(*pb.Event) (*pb.Event, bool) {
	present := v.Present()
	gone := func(id string) bool { return !present.person(id) }
	deleted := func(id string) bool { return !present.item(id) }
	return func(e *pb.Event) (*pb.Event, bool) {
		cut := present.withoutAuthor(e)
		if cut != nil {
			e = cut
		}
		if body := bodyOf(e); body != nil && referencesOf(body.Descriptor()).replayed && !refersTo(body, gone, deleted) {
			// References, their persons, and the texts of anonymous polls can be removed from the
			// event. The snapshot contains them, and clients do not receive them.
			out := &pb.Event{At: e.At, Body: e.Body}
			b := e.GetPollChanged()
			texts := len(b.GetPoll().GetTexts()) > 0
			if texts {
				p := b.Poll.Clone()
				p.Texts = nil
				out.Body = &pb.Event_PollChanged{PollChanged: &pb.PollChanged{Poll: p, BallotsGone: b.BallotsGone}}
			}
			return out, texts || cut != nil || e.Person != "" || e.Ref != ""
		}
		out := &pb.Event{At: e.At, Body: &pb.Event_Erased{Erased: &pb.Erased{}}}
		return out, !proto.Equal(e, out)
	}
}

// Present contains the persons and items of one view. They determine which events and frames are
// kept. Not safe for concurrent use.
type Present struct {
	view     *View
	comments map[string]bool // built on the first use
}

// Present returns the persons and items of the view.
func (v *View) Present() *Present { return &Present{view: v} }

// all reports whether all the given persons and items exist. Empty ids are ignored.
func (p *Present) all(persons [2]string, item string) bool {
	return p.person(persons[0]) && p.person(persons[1]) && p.item(item)
}

// Frame returns the frame in the form that can still be sent, and false if one of its persons or
// its item no longer exists. If an anonymous question has lost its author, its frame no longer
// names the author. If the frame was for the facilitators and the author, it is now for the
// facilitators.
func (p *Present) Frame(f room.Frame) (room.Frame, bool) {
	if q := p.orphan(f.Item); q != nil && f.People != [2]string{} {
		f.People = [2]string{}
		if f.Audience == room.FacilitatorsAndPeople {
			f.Audience = room.Facilitators
		}
	}
	return f, p.all(f.People, f.Item)
}

// orphan returns the anonymous question with this id if it has lost its author, and nil otherwise.
func (p *Present) orphan(id string) *pb.Question {
	if q := p.view.Question(id); q != nil && q.Anonymous && q.AuthorId == "" {
		return q.Question
	}
	return nil
}

// withoutAuthor returns the event of a question without its author, if the question has lost its
// author since. For any other event it returns nil.
func (p *Present) withoutAuthor(e *pb.Event) *pb.Event {
	var q *pb.Question
	switch b := e.Body.(type) {
	case *pb.Event_QuestionAsked:
		q = b.QuestionAsked.Question
	case *pb.Event_QuestionChanged:
		q = b.QuestionChanged.Question
	}
	now := p.orphan(q.GetId())
	if now == nil || q.AuthorId == "" {
		return nil
	}
	q = q.Clone()
	q.AuthorId, q.AuthorName, q.LeavesAt = "", "", now.LeavesAt
	if e.GetQuestionAsked() != nil {
		return &pb.Event{At: e.At, Body: &pb.Event_QuestionAsked{QuestionAsked: &pb.QuestionAsked{Question: q}}}
	}
	return &pb.Event{At: e.At, Body: &pb.Event_QuestionChanged{QuestionChanged: &pb.QuestionChanged{Question: q}}}
}

func (p *Present) person(id string) bool {
	return id == "" || id == FacilitatorID || p.view.Attendee(id) != nil
}

func (p *Present) item(id string) bool {
	return id == "" || p.view.ChatMessage(id) != nil || p.view.Thread(id) != nil || p.comment(id) || p.view.Question(id) != nil ||
		p.view.Poll(id) != nil
}

func (p *Present) comment(id string) bool {
	if p.comments == nil {
		p.comments = map[string]bool{}
		for _, t := range p.view.Threads.All() {
			for _, m := range t.Messages {
				p.comments[m.Id] = true
			}
		}
	}
	return p.comments[id]
}

// ReferencesOf returns all persons and items in an event. The event's frame must contain their ids
// (see Frames). replayed reports whether the event is replayed to reconnecting clients, which is
// the option "told" of the event's kind in personal.proto.
func ReferencesOf(e *pb.Event) (persons, items []string, replayed bool) {
	body := bodyOf(e)
	if body == nil {
		return nil, nil, false
	}
	note := func(to *[]string) func(string) bool {
		return func(id string) bool {
			if id != "" && !slices.Contains(*to, id) {
				*to = append(*to, id)
			}
			return false
		}
	}
	refersTo(body, note(&persons), note(&items))
	return persons, items, referencesOf(body.Descriptor()).replayed
}
