package codelab

import (
	"fmt"
	"strconv"
	"time"

	"atelier/actors/catalog"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/naming"
)

// A rehearsal (transport/rest/RULES.md, "Rehearsal"): simulated attendees work through the codelab
// with the same commands as people. At the end they are removed with all their data.

// Bounds of a rehearsal.
const (
	MaxRehearsalPeople  = 60
	MaxRehearsalMinutes = 60
)

// StartRehearsal runs simulated attendees until Minutes have passed. The reply is the codelab's
// record.
type StartRehearsal struct {
	People, Minutes int32
	// Force allows the rehearsal to start while real attendees are connected, and to continue when
	// real attendees register.
	Force bool
	// Connected is the number of real attendees who are connected now.
	Connected int
}

func (b StartRehearsal) decide(c call) (decision, error) {
	switch {
	case !c.admin():
		return decision{}, durable.Reject(durable.Forbidden, "only facilitators can start and stop a rehearsal")
	case b.People < 1 || b.People > MaxRehearsalPeople:
		return decision{}, durable.Reject(durable.Invalid, "people must be 1 to %d", MaxRehearsalPeople)
	case b.Minutes < 1 || b.Minutes > MaxRehearsalMinutes:
		return decision{}, durable.Reject(durable.Invalid, "minutes must be 1 to %d", MaxRehearsalMinutes)
	case c.s.meta.EndedAt != 0:
		return decision{}, durable.Reject(durable.Conflict, "the workshop has ended")
	case c.s.meta.Rehearsal != nil:
		return decision{}, durable.Reject(durable.Conflict, "a rehearsal is already running")
	case b.Connected > 0 && !b.Force:
		return decision{}, durable.Reject(durable.Conflict, "attendees are connected: set force to rehearse nevertheless")
	}
	m := c.s.meta.Clone()
	m.Rehearsal = &pb.Rehearsal{
		StartedAt: c.now.UnixMilli(), EndsAt: c.now.Add(time.Duration(b.Minutes) * time.Minute).UnixMilli(), People: b.People, Force: b.Force,
		Player: c.s.rules.Player,
	}
	d := decided(m, &pb.Event{Body: &pb.Event_RehearsalStarted{RehearsalStarted: &pb.RehearsalStarted{Rehearsal: m.Rehearsal}}})
	d.Rows = append(c.audit("rehearsal_start", c.s.id, map[string]string{
		"people": strconv.Itoa(int(b.People)), "minutes": strconv.Itoa(int(b.Minutes)), "force": strconv.FormatBool(b.Force),
	}), catalog.ListRow(m))
	return d, nil
}

// EndRehearsal ends the rehearsal, and erases its attendees with all their contributions.
type EndRehearsal struct {
	// StartedAt identifies the rehearsal, so that no later rehearsal is ended. 0 means any
	// rehearsal.
	StartedAt int64
	// Why is the reason, for the audit trail.
	Why string
}

// Reasons for which the host ends a rehearsal, for the audit trail.
const (
	rehearsalTime    = "time"
	rehearsalRestart = "restart"
)

func (b EndRehearsal) decide(c call) (decision, error) {
	switch r := c.s.meta.Rehearsal; {
	case c.Role == RoleAttendee || c.Role == RoleAnyone:
		return decision{}, durable.Reject(durable.Forbidden, "only facilitators can start and stop a rehearsal")
	case b.StartedAt != 0 && b.StartedAt != r.GetStartedAt():
		// This rehearsal has already ended. Unlike a rejection, this answer waits until the end is
		// stored, so that the caller then reads a view without the rehearsal.
		return decision{}, nil
	case r == nil:
		return decision{}, durable.Reject(durable.Missing, "no rehearsal runs")
	}
	d := c.rehearsalEnded(b.Why)
	d.Reply = nil
	return d, nil
}

// rehearsalEnded returns the decision that ends the running rehearsal.
func (c call) rehearsalEnded(why string) decision {
	var events []*pb.Event
	for _, p := range c.s.polls {
		if p.rec.Rehearsed {
			events = append(events, c.pollReset(p, "").Events...)
		}
	}
	d := c.unplayed()
	d.Events = append(events, d.Events...)
	d.Events = append(d.Events, &pb.Event{Body: &pb.Event_RehearsalEnded{RehearsalEnded: &pb.RehearsalEnded{}}})
	m := c.s.meta.Clone()
	m.Rehearsal = nil
	who := c.Caller
	if !c.admin() {
		who = system // no person ended the rehearsal
	}
	var about map[string]string
	if why != "" {
		about = map[string]string{"why": why}
	}
	d.Rows = append(append(d.Rows, auditRows(c.s, who, c.now, "rehearsal_end", c.s.id, about)...), catalog.ListRow(m))
	return d
}

// unplayed returns the decision that removes the simulated attendees and everything they sent.
// Their anonymous questions are also removed. Because all simulated attendees are removed together,
// this does not reveal who asked a question.
func (c call) unplayed() decision {
	var all []*pb.Attendee
	for _, a := range c.s.attendees.All() {
		if a.Simulated {
			all = append(all, a)
		}
	}
	events := c.questionsDeleted(func(q *pb.Question) bool { return q.Anonymous && c.s.simulatedID(q.AuthorId) })
	d := c.removed(true, all...)
	d.Events = append(events, d.Events...)
	return d
}

func (s *State) applyRehearsal(seq uint64, r *pb.Rehearsal) {
	m := s.meta.Clone()
	m.Rehearsal = r
	s.meta, s.changed.Codelab = m, seq
}

// simulated registers an attendee simulated by the rehearsal, even if registration is closed. A
// simulated attendee never takes a used name.
func (r Register) simulated(c call) (decision, error) {
	run := c.s.meta.Rehearsal
	name, err := PersonName("name", r.Name, 1, maxName)
	_, taken := c.s.byName[naming.Key(name)]
	switch {
	case err != nil:
		return decision{}, err
	case c.Role != RoleSystem:
		return decision{}, durable.Reject(durable.Forbidden, "only a rehearsal simulates attendees")
	case run == nil || c.s.simulated >= int(run.People):
		return decision{}, durable.Reject(durable.Conflict, "the rehearsal has ended, or all its attendees are registered")
	case taken || reserved(name, r.NameReserved):
		return decision{}, ErrNameTaken
	}
	return c.registered(Register{Name: name, Place: r.Place, Simulated: true}), nil
}

// besideRehearsal extends d, the decision that admits a real attendee. name is the name of a new
// attendee, or "" for a returning one. besideRehearsal ends a rehearsal that was not forced. In a
// forced rehearsal it frees the new attendee's name. It also resets the anonymous polls in which
// simulated attendees voted, so that no result mixes simulated and real votes.
func (c call) besideRehearsal(d decision, name string, err error) (decision, error) {
	run := c.s.meta.Rehearsal
	if err != nil || run == nil {
		return d, err
	}
	if !run.Force {
		over := c.rehearsalEnded("registration")
		d.Events, d.Rows = append(over.Events, d.Events...), append(over.Rows, d.Rows...)
		return d, nil
	}
	var before []*pb.Event
	for _, p := range c.s.polls {
		if p.rec.Anonymous && p.rec.Rehearsed {
			before = append(before, c.pollReset(p, "").Events...)
		}
	}
	if name != "" {
		before = append(before, c.s.freeName(name)...)
	}
	d.Events = append(before, d.Events...)
	return d, nil
}

// freeName renames the simulated attendee with this name, if one exists.
func (s *State) freeName(name string) []*pb.Event {
	i, ok := s.byName[naming.Key(name)]
	if !ok || !s.attendees.At(i).Simulated {
		return nil
	}
	a := s.attendees.At(i)
	base := []rune(a.Name)
	base = base[:min(len(base), maxName-8)]
	for n := 2; ; n++ {
		other := fmt.Sprintf("%s %d", string(base), n)
		if _, taken := s.byName[naming.Key(other)]; !taken {
			return []*pb.Event{renamed(a.Id, other)}
		}
	}
}

func renamed(attendee, name string) *pb.Event {
	return &pb.Event{Body: &pb.Event_Renamed{Renamed: &pb.Renamed{AttendeeId: attendee, Name: name}}}
}

// mayRehearse refuses the vote of a simulated attendee in an anonymous poll in which real attendees
// can also vote, or have already voted.
func (c call) mayRehearse(p *poll) error {
	if !p.rec.Anonymous || !c.s.simulatedID(c.ID) {
		return nil
	}
	if c.s.people() > 0 || p.votes() > 0 && !p.rec.Rehearsed {
		return durable.Reject(durable.Forbidden, "simulated attendees do not vote in this poll: it is anonymous, and others can vote")
	}
	return nil
}

// people counts the attendees who are not simulated.
func (s *State) people() int { return s.attendees.Len() - s.simulated }

func (s *State) simulatedID(id string) bool { return s.simulated > 0 && s.attendee(id).GetSimulated() }

// simulatedDone counts the simulated attendees who have completed.
func (s *State) simulatedDone() (n int) {
	if s.simulated == 0 {
		return 0
	}
	for _, a := range s.attendees.All() {
		if a.Simulated && a.CompletedAt != 0 {
			n++
		}
	}
	return n
}

// Simulated reports whether an attendee is simulated by the rehearsal.
func (v *View) Simulated(id string) bool {
	return v.Meta.GetRehearsal() != nil && v.Attendee(id).GetSimulated()
}

// People yields the attendees who are not simulated, in order.
func (v *View) People(yield func(int, *pb.Attendee) bool) {
	for i, a := range v.Attendees.All() {
		if !a.Simulated && !yield(i, a) {
			return
		}
	}
}

// CountPeople counts the attendees who are not simulated.
func (v *View) CountPeople() int {
	n := v.Attendees.Len()
	if v.Meta.GetRehearsal() != nil {
		for _, a := range v.Attendees.All() {
			if a.Simulated {
				n--
			}
		}
	}
	return n
}

// Real returns the view without simulated attendees and their contributions, for data that leaves
// the server. Named polls keep only the votes of real attendees. Anonymous polls with simulated
// votes lose all votes.
func (v *View) Real() *View {
	if v.Meta.GetRehearsal() == nil {
		return v
	}
	s := New(v.Meta.Id, Rules{}, naming.NewIDs(v.Meta.Id))
	b, err := EncodeState(v)
	if err == nil {
		err = s.Restore(0, b)
	}
	if err != nil {
		panic(err) // cannot fail, because the state was just encoded
	}
	c := call{s: s, Caller: system, now: time.UnixMilli(v.Meta.Rehearsal.StartedAt)}
	var resets []*pb.Event
	for _, p := range s.polls {
		if p.rec.Rehearsed && p.rec.Anonymous {
			resets = append(resets, c.pollReset(p, "").Events...)
		}
	}
	for _, e := range append(resets, c.unplayed().Events...) {
		s.Apply(0, e)
	}
	return s.Capture()
}

// anybody reports whether there is an attendee who is not simulated.
func (v *View) anybody() bool {
	for range v.People {
		return true
	}
	return false
}
