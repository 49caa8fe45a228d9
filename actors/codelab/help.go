package codelab

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"atelier/actors/catalog"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

const (
	pending    = pb.HelpStatus_HELP_STATUS_PENDING
	inProgress = pb.HelpStatus_HELP_STATUS_IN_PROGRESS
	resolved   = pb.HelpStatus_HELP_STATUS_RESOLVED
)

// Bounds of requests (transport/rest/RULES.md, "Limits"): texts in code points, and the number of
// requests that one message answers.
const (
	maxHelpMessage = 500
	maxReason      = 200
	maxAnswered    = 200
)

// AskHelp opens a request, or changes the step and message of the attendee's open request. An empty
// Message keeps the message of the open request. An attendee has at most one open request
// (transport/rest/RULES.md, "Help and feedback").
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
		return decision{}, durable.Reject(durable.Forbidden, "only attendees can ask for help")
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
			Status: pending, CreatedAt: c.now.UnixMilli(), Message: a.Message, Place: who.Place,
		}
	}
	d := decided(h, &pb.Event{Body: &pb.Event_HelpAsked{HelpAsked: &pb.HelpAsked{Request: h}}})
	d.Rows = c.audit("help_request", h.Id, nil)
	return d, nil
}

func (c call) findHelp(id string) (*pb.HelpRequest, error) {
	return named(&c.s.help, id, (*pb.HelpRequest).GetId, "help request")
}

// ClaimHelp claims a request for the caller.
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

// claim claims a request for the caller.
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
	e := &pb.HelpClaimed{
		HelpId: h.Id, By: c.Name, Person: c.Person, Leader: c.AdminID,
		AttendeeId: h.AttendeeId, AttendeeName: h.AttendeeName, StepNumber: h.StepNumber,
	}
	claimed(out, c.now.UnixMilli(), e)
	d := decided(out, &pb.Event{Body: &pb.Event_HelpClaimed{HelpClaimed: e}})
	d.Rows = append(c.auditOf(h.AttendeeId, "help_claim", h.Id, nil), c.claimantRows()...)
	return d, nil
}

// OfferHelp opens a request for an attendee who has not asked, and claims it for the caller. If the
// attendee already has an open request, OfferHelp claims this request (transport/rest/RULES.md,
// "Help and feedback").
type OfferHelp struct {
	AttendeeID string
	// StepNumber is the step of the request; nil means the attendee's current step.
	StepNumber *int32
	Message    string
}

func (b OfferHelp) decide(c call) (decision, error) {
	if !c.admin() {
		return decision{}, durable.Reject(durable.Forbidden, "only facilitators can offer help")
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
		Leader: c.AdminID, Place: who.Place,
	}
	d := decided(h, &pb.Event{Body: &pb.Event_HelpOffered{HelpOffered: &pb.HelpOffered{Request: h}}})
	d.Rows = append(c.auditOf(h.AttendeeId, "help_offer", h.Id, nil), c.claimantRows()...)
	return d, nil
}

// ResolveHelp closes a request. Facilitators can close every request, attendees only their own.
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
	d := decided(nil, helpResolved(h, ""))
	d.Rows = c.auditOf(h.AttendeeId, "help_resolve", h.Id, nil)
	return d, nil
}

func helpResolved(h *pb.HelpRequest, message string) *pb.Event {
	return &pb.Event{Body: &pb.Event_HelpResolved{HelpResolved: &pb.HelpResolved{
		HelpId: h.Id, AttendeeId: h.AttendeeId, AttendeeName: h.AttendeeName, StepNumber: h.StepNumber, Message: message,
	}}}
}

// AnswerHelp answers several requests in writing and closes them. Resolved requests stay unchanged.
type AnswerHelp struct {
	HelpIDs []string
	Message string
}

func (b AnswerHelp) decide(c call) (decision, error) {
	if !c.admin() {
		return decision{}, durable.Reject(durable.Forbidden, "only facilitators can answer requests")
	}
	if err := text("message", b.Message, 1, maxMessage); err != nil {
		return decision{}, err
	}
	if n := len(b.HelpIDs); n < 1 || n > maxAnswered {
		return decision{}, durable.Reject(durable.Invalid, "help_ids must name 1 to %d requests", maxAnswered)
	}
	d := decided(nil)
	for i, id := range b.HelpIDs {
		h, err := c.findHelp(id)
		if err != nil {
			return decision{}, err
		}
		if h.Status == resolved || slices.Contains(b.HelpIDs[:i], id) {
			continue
		}
		d.Events = append(d.Events, helpResolved(h, b.Message))
		d.Rows = append(d.Rows, c.auditOf(h.AttendeeId, "help_resolve", h.Id, nil)...)
	}
	return d, nil
}

// ReleaseHelp returns a claimed request to its old place in the queue, for example if the
// facilitator did not find the attendee.
type ReleaseHelp struct {
	HelpID string
	Reason string
}

func (b ReleaseHelp) decide(c call) (decision, error) {
	h, err := c.findHelp(b.HelpID)
	if err != nil {
		return decision{}, err
	}
	if !c.admin() {
		return decision{}, durable.Reject(durable.Forbidden, "only facilitators can release requests")
	}
	if err := text("reason", b.Reason, 0, maxReason); err != nil {
		return decision{}, err
	}
	if h.Status != inProgress {
		return decision{}, durable.Reject(durable.Conflict, "nobody has claimed this request")
	}
	out := h.Clone()
	released(out)
	d := decided(out, helpReleased(h, b.Reason))
	d.Rows = c.auditOf(h.AttendeeId, "help_release", h.Id, nil)
	return d, nil
}

func helpReleased(h *pb.HelpRequest, reason string) *pb.Event {
	return &pb.Event{Body: &pb.Event_HelpReleased{HelpReleased: &pb.HelpReleased{
		HelpId: h.Id, AttendeeId: h.AttendeeId, AttendeeName: h.AttendeeName, Reason: reason,
	}}}
}

// ReleaseClaims releases the claims of people who no longer lead this codelab. Persons contains
// their Caller.Person.
type ReleaseClaims struct {
	Persons []string
}

func (b ReleaseClaims) decide(c call) (decision, error) {
	d := decided(nil)
	for _, h := range c.s.help.All() {
		if h.Status == inProgress && slices.Contains(b.Persons, h.ClaimedPerson) {
			d.Events = append(d.Events, helpReleased(h, ""))
			d.Rows = append(d.Rows, c.auditOf(h.AttendeeId, "help_release", h.Id, nil)...)
		}
	}
	staying := slices.DeleteFunc(c.s.claimants(), func(p string) bool { return slices.Contains(b.Persons, p) })
	d.Rows = append(d.Rows, catalog.ClaimantsRow(c.s.id, staying))
	return d, nil
}

// ReleaseClaims releases, in all codelabs, the claims of people who no longer lead the codelab. The
// next call releases claims that are made during this call.
func (w *Codelabs) ReleaseClaims(leads func(person, codelab string) bool) error {
	over := map[string][]string{}
	err := catalog.Claimants(w.Journal, func(codelab string, persons []string) {
		for _, p := range persons {
			if !leads(strings.TrimPrefix(p, PersonPrefix), codelab) {
				over[codelab] = append(over[codelab], p)
			}
		}
	})
	for codelab, persons := range over {
		lab, failed := w.Get(codelab)
		if failed == nil {
			_, _, failed = lab.Ask(Command{Caller: system, Body: ReleaseClaims{persons}})
		}
		if failed != nil && !durable.IsMissing(failed) {
			err = errors.Join(err, fmt.Errorf("release the claims in codelab %s: %w", codelab, failed))
		}
	}
	return err
}

// claimants returns the people who have claimed open requests. It omits the owner, whose rights
// never end.
func (s *State) claimants() (persons []string) {
	for _, i := range s.openHelp {
		if p := s.help.At(i).ClaimedPerson; strings.HasPrefix(p, PersonPrefix) && !slices.Contains(persons, p) {
			persons = append(persons, p)
		}
	}
	slices.Sort(persons)
	return persons
}

// claimantRows returns the row that records the caller as a claimant, unless the caller is the
// owner or already recorded.
func (c call) claimantRows() []durable.Row {
	persons := c.s.claimants()
	if !strings.HasPrefix(c.Person, PersonPrefix) || slices.Contains(persons, c.Person) {
		return nil
	}
	return []durable.Row{catalog.ClaimantsRow(c.s.id, append(persons, c.Person))}
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
	s.changeHelp(seq, b.HelpId, func(h *pb.HelpRequest) { claimed(h, at, b) })
}

func claimed(h *pb.HelpRequest, at int64, b *pb.HelpClaimed) {
	h.Status, h.ClaimedBy, h.ClaimedPerson, h.Leader, h.ClaimedAt = inProgress, b.By, b.Person, b.Leader, at
}

func released(h *pb.HelpRequest) {
	h.Status, h.ClaimedBy, h.ClaimedPerson, h.Leader, h.ClaimedAt = pending, "", "", "", 0
}

func (s *State) applyHelpResolved(seq uint64, at int64, b *pb.HelpResolved) {
	s.changeHelp(seq, b.HelpId, func(h *pb.HelpRequest) {
		h.Status, h.ResolvedAt, h.Answer = resolved, at, b.Message
		delete(s.openHelp, h.AttendeeId)
		s.settled++
	})
	// Each removal filters the whole list, so settled requests are removed only once they exceed
	// the bound by a tenth.
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
