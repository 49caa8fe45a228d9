package messages

import (
	"reflect"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/room"
	"atelier/transport/rest"
	"atelier/transport/wire"
)

// This file contains the messages about polls, questions, the timer and the projector
// (transport/rest/RULES.md, "Polls" to "Timer").

type pollMessage struct {
	Type   string           `json:"type"`
	PollID string           `json:"poll_id" is:"Id"`
	Poll   *rest.PollRecord `json:"poll" is:"Poll"`
	stored
}

type pollCountsMessage struct {
	Type   string `json:"type"`
	PollID string `json:"poll_id" is:"Id"`
	Round  int32  `json:"round" is:"StepNumber"`
	Votes  int    `json:"votes"`
	Of     int    `json:"of" doc:"The number of attendees who have been connected since the poll was opened."`
	rest.PollResult
}

type questionMessage struct {
	Type       string               `json:"type"`
	QuestionID string               `json:"question_id" is:"Id"`
	Question   *rest.QuestionRecord `json:"question" is:"Question"`
	stored
}

type questionVotesMessage struct {
	Type  string         `json:"type"`
	Votes map[string]int `json:"votes" is:"votes of questions"`
}

type timerMessage struct {
	Type  string            `json:"type"`
	Timer *rest.TimerRecord `json:"timer" is:"Timer"`
	stored
}

type spotlightMessage struct {
	Type string  `json:"type"`
	Kind *string `json:"kind" is:"kind of a spotlight, or null"`
	ID   *string `json:"id" is:"Id"`
	stored
}

// participation returns the frame of an event about polls, questions, the timer or the projector,
// and false for any other event.
func participation(f room.Frame, at stored, e *pb.Event) (room.Frame, bool) {
	switch b := e.Body.(type) {
	case *pb.Event_PollChanged:
		f.Audience, f.Item = room.Facilitators, b.PollChanged.Poll.Id
		return with(f, pollMessage{"poll_changed", b.PollChanged.Poll.Id, rest.ToPoll(b.PollChanged.Poll, true), at})
	case *pb.Event_PollShown:
		f.Audience = room.Attendees
		m := pollMessage{"poll_changed", b.PollShown.PollId, nil, at}
		if b.PollShown.Poll != nil {
			f.Item = b.PollShown.Poll.Id
			m.Poll = rest.ToPoll(b.PollShown.Poll, true) // the event contains only data for attendees
		}
		return with(f, m)
	case *pb.Event_PollDeleted:
		return with(f, pollMessage{"poll_changed", b.PollDeleted.PollId, nil, at})
	case *pb.Event_QuestionAsked:
		return questionFrame(f, at, b.QuestionAsked.Question)
	case *pb.Event_QuestionChanged:
		return questionFrame(f, at, b.QuestionChanged.Question)
	case *pb.Event_QuestionHidden:
		f.Audience = room.Attendees
		return with(f, questionMessage{"question_changed", b.QuestionHidden.QuestionId, nil, at})
	case *pb.Event_QuestionDeleted:
		return with(f, questionMessage{"question_changed", b.QuestionDeleted.QuestionId, nil, at})
	case *pb.Event_QuestionsMerged:
		return with(f, questionMessage{"question_changed", b.QuestionsMerged.QuestionId, nil, at})
	case *pb.Event_TimerSet:
		return with(f, timerMessage{"timer_changed", rest.ToTimer(b.TimerSet.Timer), at})
	case *pb.Event_Spotlighted:
		s := b.Spotlighted.Spotlight
		return with(f, spotlightMessage{"spotlight_changed", wire.OrNull(s.GetKind()), wire.OrNull(s.GetId()), at})
	}
	return room.Frame{}, false
}

// questionFrame addresses a frame to the people who can see the question.
func questionFrame(f room.Frame, at stored, q *pb.Question) (room.Frame, bool) {
	f.People, f.Item = [2]string{q.AuthorId}, q.Id
	switch q.State {
	case pb.QuestionState_QUESTION_STATE_WAITING:
		if f.Audience = room.FacilitatorsAndPeople; q.AuthorId == "" { // the author was removed
			f.Audience = room.Facilitators
		}
	case pb.QuestionState_QUESTION_STATE_HIDDEN:
		f.Audience = room.Facilitators
	}
	return with(f, questionMessage{"question_changed", q.Id, rest.ToQuestion(q), at})
}

// attendeeCounts is the interval of counts to attendees, as a multiple of summaryEvery.
// Facilitators receive changed counts after each summaryEvery.
const attendeeCounts = 4

// counted is the state of the votes last sent to a codelab's sessions.
type counted struct {
	facilitators, attendees *pollCountsMessage
	questions               uint64 // the last processed change of the questions
	votes                   map[string]int
}

// changes returns the frames with changes of poll counts for facilitators. With attendees set, it
// also returns the counts for attendees, while they are shown, and the votes of questions for
// everybody.
func (t *counted) changes(w codelab.Codelab, v *codelab.View, attendees bool) (frames []room.Frame) {
	p := v.OpenPoll()
	if p == nil {
		t.facilitators, t.attendees = nil, nil
	} else {
		now := &pollCountsMessage{"poll_counts", p.Id, p.Round, int(p.Votes), w.PollAudience(p), rest.ToResult(p.Poll)}
		if !reflect.DeepEqual(now, t.facilitators) {
			t.facilitators = now
			frames = append(frames, room.Frame{Audience: room.Facilitators, Payload: encode(now)})
		}
		if attendees && p.Shown && !reflect.DeepEqual(now, t.attendees) {
			t.attendees = now
			frames = append(frames, room.Frame{Audience: room.Attendees, Payload: encode(now)})
		}
	}
	if attendees && t.questions != v.Changed.Questions {
		t.questions = v.Changed.Questions
		if changed := t.questionVotes(v); len(changed) > 0 {
			frames = append(frames, room.Frame{Payload: encode(questionVotesMessage{"question_votes", changed})})
		}
	}
	return frames
}

// questionVotes returns the votes that have changed since they were last sent, for questions that
// everybody can see.
func (t *counted) questionVotes(v *codelab.View) map[string]int {
	changed, now := map[string]int{}, map[string]int{}
	for _, q := range v.Questions {
		if q.State != pb.QuestionState_QUESTION_STATE_OPEN && q.State != pb.QuestionState_QUESTION_STATE_ANSWERED {
			continue
		}
		now[q.Id] = int(q.Votes)
		if was, sent := t.votes[q.Id]; was != int(q.Votes) || !sent && q.Votes != 0 {
			changed[q.Id] = int(q.Votes)
		}
	}
	t.votes = now
	return changed
}
