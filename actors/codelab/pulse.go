package codelab

import (
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// Pulses counts people by their reported pace (transport/rest/RULES.md, "Live teaching").
type Pulses struct{ Fine, Slow, Stuck int }

// Count changes the number of people with this pace.
func (p *Pulses) Count(state pb.PulseState, by int) {
	switch state {
	case pb.PulseState_PULSE_STATE_FINE:
		p.Fine += by
	case pb.PulseState_PULSE_STATE_SLOW:
		p.Slow += by
	case pb.PulseState_PULSE_STATE_STUCK:
		p.Stuck += by
	}
}

// maxPulseNotices bounds the individual notices about pulses that end with their steps. Further
// pulses end without a notice, because one commit could not contain 100,000 events. Clients read
// the state again after `steps_changed` anyway.
const maxPulseNotices = 10_000

// SetPulse reports an attendee's pace in their step.
type SetPulse struct {
	State pb.PulseState
}

func (p SetPulse) decide(c call) (decision, error) {
	if err := c.live(); err != nil {
		return decision{}, err
	}
	if c.Role != RoleAttendee {
		return decision{}, durable.Reject(durable.Forbidden, "only attendees can report their pace")
	}
	if _, known := pb.PulseState_name[int32(p.State)]; !known {
		return decision{}, durable.Reject(durable.Invalid, "state must be fine, slow, stuck or null")
	}
	a := c.s.attendee(c.ID)
	step := c.s.stepID(a.CurrentStep)
	if was := a.Pulse; was.GetState() == p.State && (was == nil || was.StepId == step && was.StepNumber == a.CurrentStep) {
		return decision{}, nil
	}
	return decided(nil, pulsed(a, p.State, a.CurrentStep, step)), nil
}

// pulsed returns the event of an attendee's pulse.
func pulsed(a *pb.Attendee, state pb.PulseState, number int32, step string) *pb.Event {
	return &pb.Event{Body: &pb.Event_Pulsed{Pulsed: &pb.Pulsed{
		AttendeeId: a.Id, AttendeeName: a.Name, State: state, StepNumber: number, StepId: step,
	}}}
}

// pulseOver returns the event that ends an attendee's pulse, because the attendee leaves the step,
// or the step is removed.
func pulseOver(a *pb.Attendee, number int32) *pb.Event {
	return pulsed(a, pb.PulseState_PULSE_STATE_NONE, number, "")
}

// pulsesOver returns the events for the pulses that end because their steps are removed.
func (c call) pulsesOver(steps []*pb.Step) (out []*pb.Event) {
	for _, a := range c.s.attendees.All() {
		if a.Pulse == nil || followPulse(a.Pulse, steps) != nil {
			continue
		}
		if out = append(out, pulseOver(a, min(a.CurrentStep, int32(max(len(steps), 1))))); len(out) == maxPulseNotices {
			break
		}
	}
	return out
}

func (s *State) applyPulsed(seq uint64, at int64, p *pb.Pulsed) {
	s.changeAttendee(seq, p.AttendeeId, func(a *pb.Attendee) {
		var pulse *pb.Pulse
		if p.State != pb.PulseState_PULSE_STATE_NONE {
			pulse = &pb.Pulse{State: p.State, StepNumber: p.StepNumber, StepId: p.StepId, At: at}
		}
		s.setPulseOf(a, pulse)
	})
}

// setPulseOf sets the pulse of a record that is not shared yet.
func (s *State) setPulseOf(a *pb.Attendee, p *pb.Pulse) {
	s.pulses.Count(a.Pulse.GetState(), -1)
	s.pulses.Count(p.GetState(), +1)
	a.Pulse = p
}

// followPulse returns a pulse after a change of the steps.
func followPulse(p *pb.Pulse, steps []*pb.Step) *pb.Pulse {
	return follow(p, steps, func(p *pb.Pulse) *int32 { return &p.StepNumber })
}

// onStep is a record that belongs to a step.
type onStep[T any] interface {
	comparable
	GetStepId() string
	Clone() T
}

// follow returns a record after a change of the steps. numbered points to the step number in the
// record, which follow updates. It returns nil if there is no record, or if the step was removed.
func follow[T onStep[T]](r T, steps []*pb.Step, numbered func(T) *int32) T {
	var none T
	if r == none {
		return none
	}
	switch number := numberOf(steps, r.GetStepId()); number {
	case 0:
		return none
	case *numbered(r):
		return r
	default:
		r = r.Clone()
		*numbered(r) = number
		return r
	}
}

// stepID returns the id of the step with this number, or "".
func (s *State) stepID(number int32) string {
	if number < 1 || int(number) > len(s.steps) {
		return ""
	}
	return s.steps[number-1].Id
}

// numberOf returns the number of the step with this id, or 0.
func numberOf(steps []*pb.Step, id string) int32 {
	for i, st := range steps {
		if st.Id == id {
			return int32(i) + 1
		}
	}
	return 0
}
