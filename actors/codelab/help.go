package codelab

import (
	"cmp"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

const (
	pending    = pb.HelpStatus_HELP_STATUS_PENDING
	inProgress = pb.HelpStatus_HELP_STATUS_IN_PROGRESS
	resolved   = pb.HelpStatus_HELP_STATUS_RESOLVED
)

// maxHelpMessage bounds what a request says, in code points (transport/rest/RULES.md, "Limits").
const maxHelpMessage = 500

// AskHelp opens a request, or moves the open one to another step: an attendee
// is never twice in the queue (transport/rest/RULES.md, "Help and feedback").
type AskHelp struct {
	StepNumber int32
	Message    string
}

func (a AskHelp) decide(c call) (decision, error) {
	if err := c.live(); err != nil {
		return decision{}, err
	}
	who := c.s.attendee(c.ID)
	if who == nil {
		return decision{}, durable.Reject(durable.Forbidden, "only attendees ask for help")
	}
	if err := c.step(a.StepNumber); err != nil {
		return decision{}, err
	}
	if err := text("message", a.Message, 0, maxHelpMessage); err != nil {
		return decision{}, err
	}
	var h *pb.HelpRequest
	if i, ok := c.s.openHelp[c.ID]; ok {
		h = c.s.help.At(i).Clone()
		h.StepNumber, h.Message = a.StepNumber, cmp.Or(a.Message, h.Message)
	} else {
		h = &pb.HelpRequest{
			Id: c.id(), AttendeeId: who.Id, AttendeeName: who.Name, StepNumber: a.StepNumber,
			Status: pending, CreatedAt: c.now.UnixMilli(), Message: a.Message,
		}
	}
	d := decided(h, &pb.Event{Body: &pb.Event_HelpAsked{HelpAsked: &pb.HelpAsked{Request: h}}})
	d.Rows = c.audit("help_request", h.Id, nil)
	return d, nil
}

func (c call) findHelp(id string) (*pb.HelpRequest, error) {
	return named(&c.s.help, id, (*pb.HelpRequest).GetId, "help request")
}

// ClaimHelp makes a request the caller's to answer.
type ClaimHelp struct {
	HelpID string
}

func (b ClaimHelp) decide(c call) (decision, error) {
	h, err := c.findHelp(b.HelpID)
	if err != nil {
		return decision{}, err
	}
	return c.claim(h)
}

// claim makes a request the caller's.
func (c call) claim(h *pb.HelpRequest) (decision, error) {
	switch {
	case h.Status == resolved:
		return decision{}, durable.Reject(durable.Conflict, "this request is already resolved")
	case h.Status == inProgress && h.ClaimedPerson == c.Person:
		return decided(h), nil
	case h.Status == inProgress:
		return decision{}, durable.Reject(durable.Conflict, "already claimed by %s", h.ClaimedBy)
	}
	out := h.Clone()
	out.Status, out.ClaimedBy, out.ClaimedPerson, out.ClaimedAt = inProgress, c.Name, c.Person, c.now.UnixMilli()
	d := decided(out, &pb.Event{Body: &pb.Event_HelpClaimed{HelpClaimed: &pb.HelpClaimed{
		HelpId: h.Id, By: c.Name, Person: c.Person,
		AttendeeId: h.AttendeeId, AttendeeName: h.AttendeeName, StepNumber: h.StepNumber,
	}}})
	d.Rows = c.audit("help_claim", h.Id, nil)
	return d, nil
}

// OfferHelp opens a request for somebody who has not asked, as the caller's at
// once, or makes the one that waits theirs (transport/rest/RULES.md, "Help and feedback").
type OfferHelp struct {
	AttendeeID string
	// The attendee's own step when absent.
	StepNumber *int32
	Message    string
}

func (b OfferHelp) decide(c call) (decision, error) {
	if !c.admin() {
		return decision{}, durable.Reject(durable.Forbidden, "only facilitators offer help")
	}
	who, err := c.target(b.AttendeeID)
	if err != nil {
		return decision{}, err
	}
	step := who.CurrentStep
	if b.StepNumber != nil {
		step = *b.StepNumber
		if err := c.step(step); err != nil {
			return decision{}, err
		}
	}
	if err := text("message", b.Message, 0, maxHelpMessage); err != nil {
		return decision{}, err
	}
	if i, ok := c.s.openHelp[who.Id]; ok {
		return c.claim(c.s.help.At(i))
	}
	now := c.now.UnixMilli()
	h := &pb.HelpRequest{
		Id: c.id(), AttendeeId: who.Id, AttendeeName: who.Name, StepNumber: step, Status: inProgress,
		CreatedAt: now, ClaimedBy: c.Name, ClaimedPerson: c.Person, ClaimedAt: now, Message: b.Message, Offered: true,
	}
	d := decided(h, &pb.Event{Body: &pb.Event_HelpOffered{HelpOffered: &pb.HelpOffered{Request: h}}})
	d.Rows = c.audit("help_offer", h.Id, nil)
	return d, nil
}

// ResolveHelp closes a request: by a facilitator, or by who asked.
type ResolveHelp struct {
	HelpID string
}

func (b ResolveHelp) decide(c call) (decision, error) {
	h, err := c.findHelp(b.HelpID)
	if err != nil {
		return decision{}, err
	}
	if !c.admin() && h.AttendeeId != c.ID {
		return decision{}, durable.Reject(durable.Forbidden, "this is another attendee's request")
	}
	if h.Status == resolved {
		return decided(nil), nil
	}
	d := decided(nil, &pb.Event{Body: &pb.Event_HelpResolved{HelpResolved: &pb.HelpResolved{
		HelpId: h.Id, AttendeeId: h.AttendeeId, AttendeeName: h.AttendeeName, StepNumber: h.StepNumber,
	}}})
	d.Rows = c.audit("help_resolve", h.Id, nil)
	return d, nil
}

func (s *State) applyHelpAsked(seq uint64, h *pb.HelpRequest) {
	s.changed.Help = seq
	if i, ok := s.openHelp[h.AttendeeId]; ok {
		s.help.Set(i, h)
		return
	}
	if s.attendee(h.AttendeeId) == nil {
		return
	}
	s.openHelp[h.AttendeeId] = s.help.Len()
	s.help.Append(h)
	s.seen(h.Id)
}

func (s *State) changeHelp(seq uint64, id string, change func(*pb.HelpRequest)) {
	i, ok := searchID(&s.help, id, (*pb.HelpRequest).GetId)
	if !ok {
		return
	}
	h := s.help.At(i).Clone()
	change(h)
	s.help.Set(i, h)
	s.changed.Help = seq
}

func (s *State) applyHelpClaimed(seq uint64, at int64, b *pb.HelpClaimed) {
	s.changeHelp(seq, b.HelpId, func(h *pb.HelpRequest) {
		h.Status, h.ClaimedBy, h.ClaimedPerson, h.ClaimedAt = inProgress, b.By, b.Person, at
	})
}

func (s *State) applyHelpResolved(seq uint64, at int64, b *pb.HelpResolved) {
	s.changeHelp(seq, b.HelpId, func(h *pb.HelpRequest) {
		h.Status, h.ResolvedAt = resolved, at
		delete(s.openHelp, h.AttendeeId)
		s.settled++
	})
	// The oldest settled requests go, a tenth at a time so that the cost of
	// filtering stays small for each.
	if s.settled > maxSettledHelp+maxSettledHelp/10 {
		drop := s.settled - maxSettledHelp
		s.help.Filter(func(h *pb.HelpRequest) bool {
			if h.Status == resolved && drop > 0 {
				drop--
				return false
			}
			return true
		})
		s.indexHelp()
	}
}

func (s *State) indexHelp() {
	clear(s.openHelp)
	s.settled = 0
	for i, h := range s.help.All() {
		if h.Status == resolved {
			s.settled++
		} else {
			s.openHelp[h.AttendeeId] = i
		}
	}
}
