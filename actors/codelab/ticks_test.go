package codelab

import (
	"fmt"
	"testing"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// ticked returns the tasks that a person has ticked, as numbers of steps and texts of tasks.
func (l *lab) ticked(who *Caller) string {
	v := l.Capture()
	out := []string{}
	for i, st := range v.Steps {
		for _, task := range v.Tasks[i] {
			if Ticked(v.Attendee(who.ID), st.Id, task.Key) {
				out = append(out, fmt.Sprint(i+1, task.Text))
			}
		}
	}
	if n := Ticks(v.Attendee(who.ID)); n != len(out) {
		return fmt.Sprintf("%d ticks, of which %q are shown", n, out)
	}
	return fmt.Sprint(out)
}

// tick returns the command that ticks a task of a step, or removes the tick. Both numbers start at
// 0.
func (l *lab) tick(step, task int, done bool) Tick {
	v := l.Capture()
	return Tick{StepID: v.Steps[step].Id, Item: v.Tasks[step][task].Key, Done: done}
}

func TestTasksAreTicked(t *testing.T) {
	l := newLab()
	l.create(t)
	l.must(t, admin, ReplaceSteps{Steps: []*pb.Step{{Title: "A", ContentMarkdown: "- [ ] a\n- [x] b\n- [ ] a\n\n```notes\n- [ ] c\n```\n"}, {Title: "B", ContentMarkdown: "- [ ] a\n"}}})
	lin, max := register(t, l, "Lin"), register(t, l, "Max")
	l.must(t, lin, l.tick(0, 2, true))
	l.must(t, lin, l.tick(1, 0, true))
	l.must(t, lin, l.tick(0, 0, true))
	before := l.Capture()
	l.must(t, lin, l.tick(0, 0, false))
	if got := l.ticked(lin); got != "[1a 2a]" {
		t.Error("Lin's ticks are", got)
	}
	if n := Ticks(before.Attendee(lin.ID)); n != 3 {
		t.Error("an earlier view has ticks:", n)
	}
	if n := l.Capture().TaskCount(); n != 4 {
		t.Error("the number of tasks is", n)
	}
	l.must(t, lin, l.tick(1, 0, false))
	if got := l.Capture().Attendee(lin.ID).Ticks; len(got) != 1 {
		t.Error("a step without ticks is kept:", got)
	}

	// Repeating a tick changes nothing.
	for _, again := range []Tick{l.tick(0, 2, true), l.tick(0, 0, false)} {
		if kinds := l.eventKinds(t, Command{Caller: lin, Body: again}); len(kinds) != 0 {
			t.Error("repeating a tick made", kinds)
		}
	}
	if got := l.ticked(max); got != "[]" {
		t.Error("another attendee has the ticks", got)
	}

	l.refused(t, lin, Tick{StepID: l.Capture().Steps[0].Id, Item: "2e7d2c03a9507ae2", Done: true}, durable.Missing, "no task") // the key of task c, which is in the notes for facilitators
	l.refused(t, lin, Tick{StepID: l.Capture().Steps[1].Id, Item: l.tick(0, 2, true).Item, Done: true}, durable.Missing, "no task")
	l.refused(t, lin, Tick{StepID: lin.ID, Item: l.tick(0, 0, true).Item, Done: true}, durable.Missing, "no step")
	l.refused(t, admin, l.tick(0, 0, true), durable.Forbidden, "only attendees")
	l.must(t, admin, SetEnded{Ended: true})
	l.refused(t, lin, l.tick(0, 0, true), durable.Conflict, "ended")
}

func TestTicksFollowTheirTasks(t *testing.T) {
	l := newLab()
	l.create(t)
	l.must(t, admin, ReplaceSteps{Steps: []*pb.Step{{Title: "A", ContentMarkdown: "- [ ] a\n- [ ] b\n- [ ] b\n"}, {Title: "B", ContentMarkdown: "- [ ] c\n"}, {Title: "C", ContentMarkdown: "- [ ] d\n"}}})
	lin := register(t, l, "Lin")
	for step, tasks := range l.Capture().Tasks {
		for task := range tasks {
			l.must(t, lin, l.tick(step, task, true))
		}
	}
	steps := func(change func([]*pb.Step) []*pb.Step) {
		var now []*pb.Step
		for _, st := range l.Capture().Steps {
			now = append(now, st.Clone())
		}
		l.must(t, admin, ReplaceSteps{Steps: change(now)})
	}
	// The step moves, and the text around its tasks changes.
	steps(func(s []*pb.Step) []*pb.Step {
		s[0].ContentMarkdown = "Do this:\n\n* [x] **b**\n* [ ] e\n* [ ] a\n\nText\n\n* [ ] b\n"
		return []*pb.Step{s[2], s[0], s[1]}
	})
	if got := l.ticked(lin); got != "[1d 2b 2a 2b 3c]" {
		t.Error("after the steps moved, the ticks are", got)
	}
	steps(func(s []*pb.Step) []*pb.Step {
		s[1].ContentMarkdown = "- [ ] a\n- [ ] b\n"
		return s[1:]
	})
	if got := l.ticked(lin); got != "[1a 1b 2c]" {
		t.Error("after a task and a step were removed, the ticks are", got)
	}
	// A task that was removed and added again is not ticked.
	steps(func(s []*pb.Step) []*pb.Step {
		s[0].ContentMarkdown = "- [ ] a\n- [ ] b\n- [ ] b\n"
		s[1].ContentMarkdown = ""
		return s
	})
	if got := l.ticked(lin); got != "[1a 1b]" {
		t.Error("after a task was added again, the ticks are", got)
	}
	l.must(t, admin, Publish{Title: "Lab", Steps: []*pb.Step{{Title: "A", ContentMarkdown: "- [ ] b\n"}}})
	if got := l.ticked(lin); got != "[1b]" {
		t.Error("after publishing a version, the ticks are", got)
	}
}
