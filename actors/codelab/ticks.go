package codelab

import (
	"slices"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
	"atelier/actors/markdown"
)

// Attendees tick items in the steps' task lists (transport/rest/RULES.md, "Tasks"). Facilitators
// see the number of ticks per item and per person, but never who ticked which item.

// Tick marks a task of a step as done or not done by the caller.
type Tick struct {
	StepID string
	// Item is the key of the task, see markdown.Task.
	Item string
	Done bool
}

func (t Tick) decide(c call) (decision, error) {
	a := c.s.attendee(c.ID)
	if a == nil {
		return decision{}, durable.Reject(durable.Forbidden, "only attendees can tick tasks")
	}
	if err := c.live(); err != nil {
		return decision{}, err
	}
	number := numberOf(c.s.steps, t.StepID)
	if number == 0 {
		return decision{}, durable.Reject(durable.Missing, "no step has this step_id")
	}
	if !slices.ContainsFunc(c.s.tasks[number-1], func(x markdown.Task) bool { return x.Key == t.Item }) {
		return decision{}, durable.Reject(durable.Missing, "the step has no task with this item")
	}
	if Ticked(a, t.StepID, t.Item) == t.Done {
		return decided(nil), nil
	}
	return decided(nil, &pb.Event{Body: &pb.Event_Ticked{Ticked: &pb.Ticked{
		AttendeeId: a.Id, StepId: t.StepID, Item: t.Item, Done: t.Done,
	}}}), nil
}

// Ticked reports whether a person has ticked a task.
func Ticked(a *pb.Attendee, step, item string) bool {
	return slices.ContainsFunc(a.GetTicks(), func(t *pb.StepTicks) bool { return t.StepId == step && slices.Contains(t.Items, item) })
}

func (s *State) applyTicked(seq uint64, b *pb.Ticked) {
	s.changeAttendee(seq, b.AttendeeId, func(a *pb.Attendee) {
		if Ticked(a, b.StepId, b.Item) == b.Done {
			return
		}
		at := slices.IndexFunc(a.Ticks, func(t *pb.StepTicks) bool { return t.StepId == b.StepId })
		var items []string
		if at >= 0 {
			items = a.Ticks[at].Items
		}
		if b.Done {
			i, _ := slices.BinarySearch(items, b.Item)
			items = slices.Insert(slices.Clone(items), i, b.Item)
		} else {
			items = slices.DeleteFunc(slices.Clone(items), func(item string) bool { return item == b.Item })
		}
		now := &pb.StepTicks{StepId: b.StepId, Items: items}
		a.Ticks = slices.Clone(a.Ticks) // copied, because views share the slice
		switch {
		case at < 0:
			a.Ticks = append(a.Ticks, now)
		case len(items) == 0:
			a.Ticks = slices.Delete(a.Ticks, at, at+1)
		default:
			a.Ticks[at] = now
		}
	})
}

// tasksOf returns the tasks of each step. oldTasks contains the tasks of the old steps, so that
// tasksOf does not parse unchanged texts again.
func tasksOf(steps, old []*pb.Step, oldTasks [][]markdown.Task) [][]markdown.Task {
	at := map[string]int{}
	for i, st := range old {
		at[st.Id] = i
	}
	out := make([][]markdown.Task, len(steps))
	for i, st := range steps {
		if j, ok := at[st.Id]; ok && old[j].ContentMarkdown == st.ContentMarkdown {
			out[i] = oldTasks[j]
		} else {
			out[i] = markdown.Tasks(st.ContentMarkdown)
		}
	}
	return out
}

// lostTasks returns the keys of the tasks that the new steps no longer contain, by step id.
func lostTasks(steps []*pb.Step, tasks [][]markdown.Task, newSteps []*pb.Step, newTasks [][]markdown.Task) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for i, st := range steps {
		lost := map[string]bool{}
		for _, t := range tasks[i] {
			lost[t.Key] = true
		}
		if n := numberOf(newSteps, st.Id); n > 0 {
			for _, t := range newTasks[n-1] {
				delete(lost, t.Key)
			}
		}
		if len(lost) > 0 {
			out[st.Id] = lost
		}
	}
	return out
}

// keepTicks removes a person's ticks of lost tasks. changed reports whether there were any.
func keepTicks(all []*pb.StepTicks, lost map[string]map[string]bool) (out []*pb.StepTicks, changed bool) {
	lostIn := func(t *pb.StepTicks) func(string) bool { return func(item string) bool { return lost[t.StepId][item] } }
	if !slices.ContainsFunc(all, func(t *pb.StepTicks) bool { return slices.ContainsFunc(t.Items, lostIn(t)) }) {
		return all, false
	}
	for _, t := range all {
		if items := slices.DeleteFunc(slices.Clone(t.Items), lostIn(t)); len(items) > 0 {
			out = append(out, &pb.StepTicks{StepId: t.StepId, Items: items})
		}
	}
	return out, true
}

// TaskCount returns the number of tasks in all steps.
func (v *View) TaskCount() int { return countTasks(v.Tasks) }

func countTasks(tasks [][]markdown.Task) (n int) {
	for _, ofStep := range tasks {
		n += len(ofStep)
	}
	return n
}

// Ticks returns the number of tasks that a person has ticked.
func Ticks(a *pb.Attendee) (n int) {
	for _, t := range a.Ticks {
		n += len(t.Items)
	}
	return n
}
