package oracle

import (
	"errors"
	"fmt"
	"slices"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
)

// room is the model of the registered people and their steps: the sections "Attendees", "Codelabs
// and steps" and "Publishing".
type room struct {
	people []*person // oldest first
	steps  []string  // ids
	ended  bool
	// extent is the number of steps and minutes, as text. deletion is the announced time of
	// deletion in Unix ms, or 0 for never.
	extent   string
	deletion int64
	// rehearses means that a rehearsal runs.
	rehearses bool
	// at is the time of the last event. back means that an event had an earlier time than its
	// predecessor, because the clock of a node was wrong.
	at   int64
	back bool
}

type person struct {
	id, name, place string
	// step and furthest are numbers of steps, from 1. furthest decreases only when the steps
	// change.
	step, furthest int
	completed      int64
	muted          bool
	simulated      bool
}

// real reports whether there is an attendee who is not simulated.
func (r *room) real() bool {
	return slices.ContainsFunc(r.people, func(p *person) bool { return !p.simulated })
}

func (r *room) find(id string) *person {
	for _, p := range r.people {
		if p.id == id {
			return p
		}
	}
	return nil
}

// step returns the number of a step, or 0 if the step does not exist.
func (r *room) step(id string) int { return slices.Index(r.steps, id) + 1 }

func idsOf(steps []*pb.Step) (ids []string) {
	for _, st := range steps {
		ids = append(ids, st.Id)
	}
	return ids
}

func (r *room) event(e *pb.Event) error {
	r.back = r.back || e.At < r.at
	r.at = e.At
	switch b := e.Body.(type) {
	case *pb.Event_Created:
		r.steps, r.extent = idsOf(b.Created.Steps), extentOf(b.Created.Steps)
	case *pb.Event_Updated:
		if r.ended = b.Updated.Codelab.EndedAt != 0; !r.ended && b.Updated.Codelab.DeletionAt != 0 {
			return fmt.Errorf("the workshop has not ended, but its deletion is set for %d", b.Updated.Codelab.DeletionAt)
		}
		return r.deletionAnnounced(e.At, b.Updated.Codelab.DeletionAt)
	case *pb.Event_DeletionSet:
		if at := b.DeletionSet.At; at == r.deletion || at != 0 && !r.ended {
			return fmt.Errorf("deletion announced for %d, ended %v, announced earlier for %d", at, r.ended, r.deletion)
		}
		return r.deletionAnnounced(e.At, b.DeletionSet.At)
	case *pb.Event_StepsReplaced:
		r.extent = extentOf(b.StepsReplaced.Steps)
		return r.replaced(idsOf(b.StepsReplaced.Steps))
	case *pb.Event_Registered:
		a := b.Registered.Attendee
		if r.find(a.Id) != nil {
			return fmt.Errorf("%s registered twice", a.Id)
		}
		r.people = append(r.people, &person{id: a.Id, name: a.Name, place: a.Place, step: 1, furthest: 1, simulated: a.Simulated})
		if a.Simulated && !r.rehearses {
			return fmt.Errorf("%s is simulated without a rehearsal", a.Id)
		}
	case *pb.Event_RehearsalStarted:
		if r.rehearses {
			return errors.New("a rehearsal started during another one")
		}
		r.rehearses = true
	case *pb.Event_RehearsalEnded: // the same commit has removed all simulated attendees
		r.rehearses = false
		for _, p := range r.people {
			if p.simulated {
				return fmt.Errorf("the rehearsal has ended, but its attendee %s remains", p.id)
			}
		}
	case *pb.Event_Removed:
		r.people = slices.DeleteFunc(r.people, func(p *person) bool { return p.id == b.Removed.AttendeeId })
	case *pb.Event_Renamed:
		return r.change(b.Renamed.AttendeeId, func(p *person) { p.name = b.Renamed.Name })
	case *pb.Event_Placed:
		return r.change(b.Placed.AttendeeId, func(p *person) { p.place = b.Placed.Place })
	case *pb.Event_Muted:
		return r.change(b.Muted.AttendeeId, func(p *person) { p.muted = b.Muted.Muted })
	case *pb.Event_Progressed:
		n := int(b.Progressed.StepNumber)
		if n < 1 || n > len(r.steps) {
			return fmt.Errorf("%s moved to step %d of %d", b.Progressed.AttendeeId, n, len(r.steps))
		}
		return r.change(b.Progressed.AttendeeId, func(p *person) { p.step, p.furthest = n, max(p.furthest, n) })
	case *pb.Event_Completed: // a repeated completion keeps the first time
		return r.change(b.Completed.AttendeeId, func(p *person) {
			if p.completed == 0 {
				p.completed = e.At
			}
		})
	}
	return nil
}

// deletionAnnounced verifies that the time of deletion is at least two weeks away, unless the
// deletion was already announced for the same or an earlier time.
func (r *room) deletionAnnounced(now, at int64) error {
	was := r.deletion
	r.deletion = at
	if soonest := now + 14*24*60*60*1000; at != 0 && at != was && at < soonest && (was == 0 || at < was) {
		return fmt.Errorf("at %d the deletion was announced for %d, less than two weeks ahead; the earlier announcement was %d", now, at, was)
	}
	return nil
}

func extentOf(steps []*pb.Step) string {
	minutes := int32(0)
	for _, st := range steps {
		minutes += st.DurationMinutes
	}
	return fmt.Sprint(len(steps), " steps, ", minutes, " minutes")
}

func (r *room) change(id string, change func(*person)) error {
	p := r.find(id)
	if p == nil {
		return fmt.Errorf("%s acted, but is not registered", id)
	}
	change(p)
	return nil
}

// replaced replaces the steps. People stay on their step, even if its number changes. If their step
// is removed, they move to the nearest earlier step that remains. If all steps are new, people keep
// their number, up to the last step.
func (r *room) replaced(steps []string) error {
	was := *r
	r.steps = steps
	for _, p := range r.people {
		p.step, p.furthest = was.moved(p.step, steps), was.reached(p.furthest, steps)
		p.furthest = max(p.furthest, p.step)
	}
	return nil
}

// moved returns the new number of a step.
func (r *room) moved(number int, steps []string) int {
	if !slices.ContainsFunc(steps, func(id string) bool { return slices.Contains(r.steps, id) }) {
		return min(number, max(len(steps), 1))
	}
	for ; number > 0; number-- {
		if number > len(r.steps) {
			continue
		}
		if now := slices.Index(steps, r.steps[number-1]); now >= 0 {
			return now + 1
		}
	}
	return 1
}

// reached returns the number of the furthest reached step after a change of the steps.
func (r *room) reached(furthest int, steps []string) (now int) {
	for n := 1; n <= furthest; n++ {
		now = max(now, r.moved(n, steps))
	}
	return now
}

func (r *room) view(v *codelab.View) error {
	if x := v.Meta.GetExtent(); v.Meta != nil {
		if err := differs("the number of steps and minutes", fmt.Sprint(x.GetSteps(), " steps, ", x.GetMinutes(), " minutes"), r.extent); err != nil {
			return err
		}
		if err := differs("the time of deletion", v.Meta.DeletionAt, r.deletion); err != nil {
			return err
		}
	}
	if err := differs("whether a rehearsal runs", v.Meta.GetRehearsal() != nil, r.rehearses); err != nil {
		return err
	}
	if v.Attendees.Len() != len(r.people) {
		return differs("the number of attendees", v.Attendees.Len(), len(r.people))
	}
	counts, completed := make([]int, max(len(v.PerStep), len(r.steps))), 0
	for i, p := range r.people {
		a := v.Attendees.At(i)
		got := person{a.Id, a.Name, a.Place, int(a.CurrentStep), int(a.FurthestStep), a.CompletedAt, a.Muted, a.Simulated}
		if err := differs("attendee "+p.id, fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", *p)); err != nil {
			return err
		}
		if len(a.ReachedAt) != p.furthest || !r.back && !slices.IsSorted(a.ReachedAt) {
			return differs("when "+p.id+" reached each step", a.ReachedAt, fmt.Sprint(p.furthest, " ascending times"))
		}
		if p.step > 0 && p.step <= len(counts) {
			counts[p.step-1]++
		}
		if p.completed != 0 {
			completed++
		}
	}
	if shown := append(slices.Clone(v.PerStep), make([]int, len(counts)-len(v.PerStep))...); !slices.Equal(shown, counts) {
		return differs("the number of people on each step", shown, counts)
	}
	return differs("the number of people who completed", v.Completed, completed)
}
