package codelab

import (
	"slices"
	"strings"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/actors/naming"
)

func (s *State) attendee(id string) *pb.Attendee {
	if i, ok := s.byAttendee[id]; ok {
		return s.attendees.At(i)
	}
	return nil
}

// target returns the attendee with an id, or a Missing rejection.
func (c call) target(id string) (*pb.Attendee, error) {
	if a := c.s.attendee(id); a != nil {
		return a, nil
	}
	return nil, durable.Reject(durable.Missing, "attendee not found")
}

// Progress moves an attendee to a step.
type Progress struct {
	StepNumber int32
}

func (p Progress) decide(c call) (decision, error) {
	if err := c.live(); err != nil {
		return decision{}, err
	}
	if c.Role != RoleAttendee {
		return decision{}, durable.Reject(durable.Forbidden, "only attendees can make progress")
	}
	if err := c.step(p.StepNumber); err != nil {
		return decision{}, err
	}
	d := progressed(c.ID, p.StepNumber)
	if a := c.s.attendee(c.ID); a.Pulse != nil && a.CurrentStep != p.StepNumber {
		d.Events = append(d.Events, pulseOver(a, p.StepNumber))
	}
	return d, nil
}

// progressed returns the decision of a Progress command. It is the most frequent decision, so it
// takes one allocation instead of four.
func progressed(attendee string, step int32) decision {
	var d struct {
		event pb.Event
		body  pb.Event_Progressed
		what  pb.Progressed
		list  [1]*pb.Event
	}
	e := &d
	e.what.AttendeeId, e.what.StepNumber = attendee, step
	e.body.Progressed = &e.what
	e.event.Body = &e.body
	e.list[0] = &e.event
	return decision{Events: e.list[:]}
}

// step checks that a step number exists.
func (c call) step(n int32) error {
	if n < 1 || int(n) > len(c.s.steps) {
		return durable.Reject(durable.Invalid, "step_number must be 1 to %d", len(c.s.steps))
	}
	return nil
}

// Complete records that an attendee who has met all requirements has completed the codelab.
type Complete struct{}

func (Complete) decide(c call) (decision, error) {
	a := c.s.attendee(c.ID)
	if a == nil {
		return decision{}, durable.Reject(durable.Forbidden, "only attendees can complete a codelab")
	}
	if a.CompletedAt != 0 {
		return decided(nil), nil
	}
	if err := c.gates(a.Id); err != nil {
		return decision{}, err
	}
	d := decided(nil, &pb.Event{Body: &pb.Event_Completed{Completed: &pb.Completed{AttendeeId: a.Id}}})
	d.Rows = c.audit("codelab_complete", a.Id, nil)
	return d, nil
}

// gates returns an error that lists everything the attendee still has to do before completing. It
// lists all open requirements together, so that the attendee does not find them one after the
// other.
func (c call) gates(attendee string) error {
	m := c.s.meta
	var missing []string
	if m.QuizEnabled && m.RequireQuiz && !c.s.quizPassed(attendee) {
		missing = append(missing, "the quiz is not passed yet: answer every question, and all choice questions right")
	}
	if m.RequireFeedback && !c.s.byFeedback[attendee] {
		missing = append(missing, "feedback is missing")
	}
	if m.RequireSubmission && c.s.submitted[attendee].count == 0 {
		missing = append(missing, "a submission is missing")
	}
	if open := unchecked(c.s.attendee(attendee), c.s.checks); m.RequireChecks && len(open) > 0 {
		missing = append(missing, "checks are missing: "+strings.Join(open, ", "))
	}
	if missing != nil {
		return durable.Reject(durable.Conflict, "%s", strings.Join(missing, "; "))
	}
	return nil
}

// Mute mutes or unmutes an attendee.
type Mute struct {
	AttendeeID string
	Muted      bool
}

func (m Mute) decide(c call) (decision, error) {
	a, err := c.target(m.AttendeeID)
	if err != nil {
		return decision{}, err
	}
	if a.Muted == m.Muted {
		return decided(a), nil
	}
	out := a.Clone()
	out.Muted = m.Muted
	action := "attendee_unmute"
	if m.Muted {
		action = "attendee_mute"
	}
	d := decided(out, &pb.Event{Body: &pb.Event_Muted{Muted: &pb.Muted{AttendeeId: a.Id, Muted: m.Muted}}})
	d.Rows = c.audit(action, a.Id, nil)
	return d, nil
}

// maxPlace bounds the name of a seat, in code points.
const maxPlace = 40

// SetPlace records the caller's seat; "" removes it.
type SetPlace struct {
	Place string
}

func (p SetPlace) decide(c call) (decision, error) {
	a := c.s.attendee(c.ID)
	if a == nil {
		return decision{}, durable.Reject(durable.Forbidden, "only attendees can set a place")
	}
	if err := c.live(); err != nil {
		return decision{}, err
	}
	place, err := PersonName("place", p.Place, 0, maxPlace)
	if err != nil {
		return decision{}, err
	}
	if a.Place == place {
		return decided(a), nil
	}
	out := a.Clone()
	out.Place = place
	return decided(out, placed(a.Id, place)), nil
}

func placed(attendee, place string) *pb.Event {
	return &pb.Event{Body: &pb.Event_Placed{Placed: &pb.Placed{AttendeeId: attendee, Place: place}}}
}

// ErrMuted rejects messages from a muted attendee.
var ErrMuted error = &durable.Rejection{Reason: durable.Forbidden, Text: "a facilitator has muted you"}

// speak returns an error if the caller is not allowed to write, because the workshop has ended or
// the caller is a muted attendee. Admins are always allowed to write.
func (c call) speak() error {
	if err := c.live(); err != nil {
		return err
	}
	if a := c.s.attendee(c.ID); !c.admin() && a != nil && a.Muted {
		return ErrMuted
	}
	return nil
}

// Remove removes an attendee with all their data. Anonymous questions stay and only lose their
// author, because removing them together with the attendee would reveal the author. If attendees
// erase themselves, or Erase is set, the questions are removed later (questionsStay).
type Remove struct {
	AttendeeID string
	Erase      bool
}

func (r Remove) decide(c call) (decision, error) {
	if !c.admin() && c.ID != r.AttendeeID {
		return decision{}, durable.Reject(durable.Forbidden, "only your own record can be erased")
	}
	a, err := c.target(r.AttendeeID)
	if err != nil {
		return decision{}, err
	}
	action := "attendee_remove"
	if !c.admin() {
		action = "attendee_erase"
	}
	d := c.removed(r.Erase || !c.admin(), a)
	d.Rows = append(c.audit(action, a.Id, nil), d.Rows...)
	return d, nil
}

// removed returns the decision that removes attendees with all their data. The reply is the
// files.Forgotten.
func (c call) removed(erased bool, all ...*pb.Attendee) (d decision) {
	var gone files.Forgotten
	ids := map[string]bool{}
	for _, a := range all {
		ids[a.Id] = true
		gone.Submissions = append(gone.Submissions, c.s.submissionsOf(a.Id)...)
		d.Events = append(d.Events, &pb.Event{Body: &pb.Event_Removed{Removed: &pb.Removed{AttendeeId: a.Id, Erased: erased}}})
	}
	for _, a := range all {
		d.Events = slices.Concat(d.Events, c.chatGone(a.Id), c.commentsGone(a.Id), c.questionsGone(a.Id))
	}
	d.Rows = c.noSubmissionRows(gone.Submissions...)
	if erased {
		d.Rows = append(d.Rows, c.leavingRows(ids)...)
	}
	var textRows []durable.Row
	gone.Uploads, textRows = c.untalk(func(m *pb.ChatMessage) bool { return ids[m.SenderId] || ids[m.TargetId] },
		func(_ *pb.Thread, m *pb.Comment) bool { return ids[m.AuthorId] })
	d.Rows, d.Reply = append(d.Rows, textRows...), gone
	return d
}

// changeAttendee replaces an attendee's record with a changed copy.
func (s *State) changeAttendee(seq uint64, id string, change func(*pb.Attendee)) {
	i, ok := s.byAttendee[id]
	if !ok {
		return
	}
	old := s.attendees.At(i)
	a := &pb.Attendee{
		Id: old.Id, Name: old.Name, Email: old.Email, PinHash: old.PinHash, CurrentStep: old.CurrentStep,
		FurthestStep: old.FurthestStep, CompletedAt: old.CompletedAt, CreatedAt: old.CreatedAt,
		// Views share this array. Its capacity is limited to its length, so that an append copies
		// it.
		ReachedAt: old.ReachedAt[:len(old.ReachedAt):len(old.ReachedAt)], StepSince: old.StepSince, Muted: old.Muted,
		Generation: old.Generation, Pulse: old.Pulse, Place: old.Place, Checks: old.Checks,
		CodeTaken: old.CodeTaken, Ticks: old.Ticks, Simulated: old.Simulated,
	}
	change(a)
	s.attendees.Set(i, a)
	s.changed.Attendees = seq
}

func (s *State) applyRegistered(seq uint64, a *pb.Attendee) {
	s.byName[naming.Key(a.Name)] = s.attendees.Len()
	s.byAttendee[a.Id] = s.attendees.Len()
	s.attendees.Append(a)
	s.right.Append("")
	s.seen(a.Id)
	s.count(a.CurrentStep, +1)
	if a.CompletedAt != 0 {
		s.completed++
	}
	if a.Simulated {
		s.simulated++
	}
	s.changed.Attendees = seq
}

func (s *State) applyProgress(seq uint64, at int64, p *pb.Progressed) {
	s.changeAttendee(seq, p.AttendeeId, func(a *pb.Attendee) {
		if a.CurrentStep == p.StepNumber {
			return
		}
		s.count(a.CurrentStep, -1)
		s.count(p.StepNumber, +1)
		a.CurrentStep, a.StepSince = p.StepNumber, at
		// A jump forward also marks the steps in between as reached.
		for int(p.StepNumber) > len(a.ReachedAt) {
			a.ReachedAt = append(a.ReachedAt, at)
		}
		a.FurthestStep = max(a.FurthestStep, p.StepNumber)
	})
}

func (s *State) applyCompleted(seq uint64, at int64, id string) {
	s.changeAttendee(seq, id, func(a *pb.Attendee) {
		if a.CompletedAt == 0 {
			a.CompletedAt = at
			s.completed++
		}
	})
}

func (s *State) applyRenamed(seq uint64, r *pb.Renamed) {
	s.changeAttendee(seq, r.AttendeeId, func(a *pb.Attendee) {
		// Two attendees can have the same key, if they registered before the server removed
		// invisible characters from names.
		if key := naming.Key(a.Name); s.byName[key] == s.byAttendee[a.Id] {
			delete(s.byName, key)
		}
		a.Name = r.Name
		s.byName[naming.Key(a.Name)] = s.byAttendee[a.Id]
	})
	s.changeOpenHelp(seq, r.AttendeeId, func(h *pb.HelpRequest) { h.AttendeeName = r.Name })
}

func (s *State) applyPlaced(seq uint64, p *pb.Placed) {
	s.changeAttendee(seq, p.AttendeeId, func(a *pb.Attendee) { a.Place = p.Place })
	s.changeOpenHelp(seq, p.AttendeeId, func(h *pb.HelpRequest) { h.Place = p.Place })
}

func (s *State) changeOpenHelp(seq uint64, attendee string, change func(*pb.HelpRequest)) {
	if i, ok := s.openHelp[attendee]; ok {
		s.changeHelp(seq, s.help.At(i).Id, change)
	}
}

// count changes the number of people on a step.
func (s *State) count(step int32, by int) {
	if step < 1 {
		return
	}
	for int(step) > len(s.perStep) {
		s.perStep = append(s.perStep, 0)
	}
	s.perStep[step-1] += by
}

func (s *State) countSteps() {
	s.perStep = make([]int, len(s.steps))
	for _, a := range s.attendees.All() {
		s.count(a.CurrentStep, +1)
	}
}

func (s *State) indexAttendees() {
	clear(s.byName)
	clear(s.byAttendee)
	s.completed, s.simulated, s.pulses = 0, 0, Pulses{}
	for i, a := range s.attendees.All() {
		s.byName[naming.Key(a.Name)] = i
		s.byAttendee[a.Id] = i
		s.pulses.Count(a.Pulse.GetState(), +1)
		if a.CompletedAt != 0 {
			s.completed++
		}
		if a.Simulated {
			s.simulated++
		}
	}
	s.countSteps()
}
