package oracle

import (
	"fmt"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/markdown"
)

// teaching is the model of the pin, the pointer, the timer, the spotlight, pulses and ticks: the
// sections "Live teaching", "Tasks" and "Timer".
type teaching struct {
	room      *room
	pin       string
	pinnedAt  int64
	pointed   string // id of the step
	hints     bool
	timer     string
	spotlight string
	pulses    map[string]pulse // by attendee
	// ticks contains the ticked tasks. tasks contains the existing tasks. A task is identified by
	// the id of its step, a space and its key.
	ticks map[string]map[string]bool // by attendee
	tasks map[string]bool
	// endedAt is the time at which the workshop ended. left names the parts that the same decision
	// must still remove.
	endedAt int64
	left    map[string]bool
}

type pulse struct {
	state pb.PulseState
	step  string // id
	on    int    // the number of the step at that time
}

func timerOf(t *pb.Timer) string {
	if t == nil {
		return "none"
	}
	return fmt.Sprint(t.EndsAt, " of ", t.TotalSeconds, " s, ", t.Label, ", break: ", t.Break, ", by ", t.By)
}

func spotlightOf(x *pb.Spotlight) string { return x.GetKind() + " " + x.GetId() }

// there reports whether attendees are allowed to see the content of the projector.
func there(v *codelab.View, x *pb.Spotlight) bool {
	switch x.GetKind() {
	case "poll":
		return v.Poll(x.Id) != nil
	case "question":
		q := v.Question(x.Id)
		return q != nil && visible(q.State)
	}
	return true
}

func (m *teaching) event(e *pb.Event) error {
	if len(m.left) > 0 && e.At != m.endedAt {
		return fmt.Errorf("the end of the workshop did not remove %v", m.left)
	}
	switch b := e.Body.(type) {
	case *pb.Event_Created:
		m.tasks = tasksOf(b.Created.Steps)
	case *pb.Event_Ticked:
		who, task := b.Ticked.AttendeeId, b.Ticked.StepId+" "+b.Ticked.Item
		if m.room.find(who) == nil || !m.tasks[task] || m.ticks[who][task] == b.Ticked.Done {
			return fmt.Errorf("%s set the tick of %s to %v, with the ticks %v of the tasks %v", who, task, b.Ticked.Done, m.ticks[who], m.tasks)
		}
		if m.ticks == nil {
			m.ticks = map[string]map[string]bool{}
		}
		if m.ticks[who] == nil {
			m.ticks[who] = map[string]bool{}
		}
		if m.ticks[who][task] = true; !b.Ticked.Done {
			delete(m.ticks[who], task)
		}
	case *pb.Event_Updated: // ending the workshop clears the pointer and the timer
		m.left = nil
		if b.Updated.Codelab.EndedAt != 0 && !m.room.ended {
			m.endedAt, m.left = e.At, map[string]bool{}
			if m.pointed != "" {
				m.left["the pointer"] = true
			}
			if m.timer != "" && m.timer != timerOf(nil) {
				m.left["the timer"] = true
			}
		}
	case *pb.Event_Pinned:
		m.pin, m.pinnedAt = b.Pinned.Message, e.At
	case *pb.Event_Pointed:
		p := b.Pointed.Pointer
		if p.StepNumber != 0 && m.room.step(p.StepId) != int(p.StepNumber) {
			return fmt.Errorf("the pointer has the step number %d, but the step id %s", p.StepNumber, p.StepId)
		}
		m.pointed, m.hints = p.StepId, p.Hints
		delete(m.left, "the pointer")
	case *pb.Event_TimerSet:
		m.timer = timerOf(b.TimerSet.Timer)
		delete(m.left, "the timer")
	case *pb.Event_Spotlighted:
		m.spotlight = spotlightOf(b.Spotlighted.Spotlight)
	case *pb.Event_Pulsed:
		if m.pulses == nil {
			m.pulses = map[string]pulse{}
		}
		if b.Pulsed.State == pb.PulseState_PULSE_STATE_NONE {
			delete(m.pulses, b.Pulsed.AttendeeId)
			return nil
		}
		p := m.room.find(b.Pulsed.AttendeeId)
		if p == nil || p.step != int(b.Pulsed.StepNumber) {
			return fmt.Errorf("%s sent a pulse for step %d, but is %+v", b.Pulsed.AttendeeId, b.Pulsed.StepNumber, p)
		}
		m.pulses[b.Pulsed.AttendeeId] = pulse{b.Pulsed.State, b.Pulsed.StepId, p.step}
	case *pb.Event_Removed:
		delete(m.pulses, b.Removed.AttendeeId)
		delete(m.ticks, b.Removed.AttendeeId)
	case *pb.Event_StepsReplaced: // items of a step are removed with it
		there := map[string]bool{"": true}
		for _, id := range idsOf(b.StepsReplaced.Steps) {
			there[id] = true
		}
		m.tasks = tasksOf(b.StepsReplaced.Steps)
		for _, ticks := range m.ticks {
			for task := range ticks {
				if !m.tasks[task] {
					delete(ticks, task)
				}
			}
		}
		for who, p := range m.pulses {
			if !there[p.step] {
				delete(m.pulses, who)
			}
		}
	}
	return nil
}

func tasksOf(steps []*pb.Step) map[string]bool {
	out := map[string]bool{}
	for _, st := range steps {
		for _, t := range markdown.Tasks(st.ContentMarkdown) {
			out[st.Id+" "+t.Key] = true
		}
	}
	return out
}

func (m *teaching) ticksOf(who string) map[string]bool {
	if ticks := m.ticks[who]; ticks != nil {
		return ticks
	}
	return map[string]bool{}
}

func (m *teaching) view(v *codelab.View) error {
	if err := differs("the pin", fmt.Sprint(v.Pin.GetMessage(), v.Pin.GetAt() != 0), fmt.Sprint(m.pin, m.pin != "")); err != nil {
		return err
	}
	if err := differs("the pointer", fmt.Sprint(v.Pointer.GetStepId(), v.Pointer.GetStepNumber(), v.Pointer.GetHints()),
		fmt.Sprint(m.pointed, m.room.step(m.pointed), m.hints)); err != nil {
		return err
	}
	timer := m.timer
	if timer == "" {
		timer = timerOf(nil)
	}
	if err := differs("the timer", timerOf(v.Timer), timer); err != nil {
		return err
	}
	spotlight := m.spotlight
	if spotlight == "" {
		spotlight = spotlightOf(nil)
	}
	if err := differs("the spotlight", spotlightOf(v.Spotlight), spotlight); err != nil {
		return err
	}
	if !there(v, v.Spotlight) {
		return fmt.Errorf("the projector shows %s, which attendees must not see", spotlight)
	}
	counts := map[pb.PulseState]int{}
	for _, p := range m.room.people {
		a, want := v.Attendee(p.id), m.pulses[p.id]
		if err := differs("the pulse of "+p.id, a.GetPulse().GetState(), want.state); err != nil {
			return err
		}
		counts[want.state]++
		ticks := map[string]bool{}
		for _, t := range a.GetTicks() {
			for _, item := range t.Items {
				ticks[t.StepId+" "+item] = true
			}
		}
		if err := differs("the ticks of "+p.id, fmt.Sprint(ticks), fmt.Sprint(m.ticksOf(p.id))); err != nil {
			return err
		}
	}
	return differs("the number of people per pulse", v.Pulses, codelab.Pulses{
		Fine:  counts[pb.PulseState_PULSE_STATE_FINE],
		Slow:  counts[pb.PulseState_PULSE_STATE_SLOW],
		Stuck: counts[pb.PulseState_PULSE_STATE_STUCK],
	})
}
