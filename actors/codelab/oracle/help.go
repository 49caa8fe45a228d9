package oracle

import (
	"fmt"
	"slices"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
)

// help is the model of the queue of help requests: the section "Help and feedback".
type help struct {
	room  *room
	queue []*request // oldest first, including resolved ones
	// over contains the Caller.Person of people whose claims were released.
	over map[string]bool
}

type request struct {
	id, who, name, place string
	step                 int
	message              string
	status               string
	// by is the name of the claiming facilitator, claimant their Caller.Person, and claimed the
	// time of the claim. All are empty while the request waits.
	by, claimant string
	claimed      int64
	// resolved is the time at which the request was resolved; answer is the written answer.
	resolved int64
	answer   string
}

const (
	waiting  = "pending"
	claimed  = "in_progress"
	resolved = "resolved"
)

var helpStatus = map[pb.HelpStatus]string{
	pb.HelpStatus_HELP_STATUS_PENDING: waiting, pb.HelpStatus_HELP_STATUS_IN_PROGRESS: claimed, pb.HelpStatus_HELP_STATUS_RESOLVED: resolved,
}

func requestOf(h *pb.HelpRequest) *request {
	return &request{h.Id, h.AttendeeId, h.AttendeeName, h.Place, int(h.StepNumber), h.Message, helpStatus[h.Status], h.ClaimedBy, h.ClaimedPerson, h.ClaimedAt, h.ResolvedAt, h.Answer}
}

func (m *help) find(id string) *request {
	for _, r := range m.queue {
		if r.id == id {
			return r
		}
	}
	return nil
}

// open returns a person's open request.
func (m *help) open(who string) *request {
	for _, r := range m.queue {
		if r.who == who && r.status != resolved {
			return r
		}
	}
	return nil
}

func (m *help) event(e *pb.Event) error {
	switch b := e.Body.(type) {
	case *pb.Event_HelpAsked:
		r := requestOf(b.HelpAsked.Request)
		was := m.open(r.who)
		if was == nil {
			if r.status != waiting || r.claimant != "" || r.by != "" || m.find(r.id) != nil {
				return fmt.Errorf("a new request is %+v, not waiting and unclaimed", *r)
			}
			m.queue = append(m.queue, r)
			return m.seat(r)
		}
		if r.message == "" && was.message != "" {
			return fmt.Errorf("the repeated request %s lost its text: %s", r.id, was.message)
		}
		// A repeated request changes step and message, and keeps its place in the queue and its
		// claimant.
		want := *was
		want.step, want.message = r.step, r.message
		*was = want
		return differs("a repeated request", fmt.Sprintf("%+v", *r), fmt.Sprintf("%+v", want))
	case *pb.Event_HelpOffered:
		r := requestOf(b.HelpOffered.Request)
		if m.open(r.who) != nil || m.find(r.id) != nil || r.status != claimed || r.claimant == "" {
			return fmt.Errorf("an offer of help creates %+v, while %+v is open", *r, m.open(r.who))
		}
		m.queue = append(m.queue, r)
		return m.seat(r)
	case *pb.Event_HelpClaimed:
		r := m.find(b.HelpClaimed.HelpId)
		if r == nil || r.status != waiting {
			return fmt.Errorf("request %s was claimed, but it is %+v", b.HelpClaimed.HelpId, r)
		}
		r.status, r.by, r.claimant, r.claimed = claimed, b.HelpClaimed.By, b.HelpClaimed.Person, e.At
		return differs("the recipient of a claim", b.HelpClaimed.AttendeeId, r.who)
	case *pb.Event_HelpReleased:
		r := m.find(b.HelpReleased.HelpId)
		if r == nil || r.status != claimed {
			return fmt.Errorf("request %s was released, but it is %+v", b.HelpReleased.HelpId, r)
		}
		if claimant := r.claimant; b.HelpReleased.Reason == "" && !m.over[claimant] {
			return fmt.Errorf("request %s was taken from %s, who is still a facilitator", r.id, claimant)
		}
		r.status, r.by, r.claimant, r.claimed = waiting, "", "", 0
		return differs("the recipient of a release", b.HelpReleased.AttendeeId, r.who)
	case *pb.Event_HelpResolved:
		r := m.find(b.HelpResolved.HelpId)
		if r == nil || r.status == resolved {
			return fmt.Errorf("request %s was resolved, but it is %+v", b.HelpResolved.HelpId, r)
		}
		r.status, r.resolved, r.answer = resolved, e.At, b.HelpResolved.Message
		return differs("the recipient of an answer", b.HelpResolved.AttendeeId, r.who)
	case *pb.Event_Renamed:
		if r := m.open(b.Renamed.AttendeeId); r != nil {
			r.name = b.Renamed.Name
		}
	case *pb.Event_Placed:
		if r := m.open(b.Placed.AttendeeId); r != nil {
			r.place = b.Placed.Place
		}
	case *pb.Event_Removed:
		m.queue = slices.DeleteFunc(m.queue, func(r *request) bool { return r.who == b.Removed.AttendeeId })
	case *pb.Event_StepsReplaced:
		// Open requests move with their steps, as people do. If all steps are new, requests keep
		// their step number.
		steps := idsOf(b.StepsReplaced.Steps)
		if !slices.ContainsFunc(steps, func(id string) bool { return m.room.step(id) > 0 }) {
			return nil
		}
		for _, r := range m.queue {
			if r.status != resolved && r.step > 0 && r.step <= len(m.room.steps) {
				r.step = m.room.moved(r.step, steps)
			}
		}
	}
	return nil
}

// seat verifies that a new request has its attendee's seat.
func (m *help) seat(r *request) error {
	p := m.room.find(r.who)
	if p == nil {
		return fmt.Errorf("request %s is from %s, who is not registered", r.id, r.who)
	}
	return differs("the seat of request "+r.id, r.place, p.place)
}

func (m *help) view(v *codelab.View) error {
	if v.Help.Len() != len(m.queue) {
		return differs("the number of requests for help", v.Help.Len(), len(m.queue))
	}
	for i, r := range m.queue {
		if err := differs(fmt.Sprint("request ", i, " for help"), fmt.Sprintf("%+v", *requestOf(v.Help.At(i))), fmt.Sprintf("%+v", *r)); err != nil {
			return err
		}
	}
	return nil
}
