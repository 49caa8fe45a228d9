package codelab

import (
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// Point shows everybody at which step the facilitators are, or removes the pointer
// (transport/rest/RULES.md, "Live teaching"). A repeated Point at the same step is announced again,
// to call back people who moved to another step.
type Point struct {
	// StepNumber is the step; nil removes the pointer.
	StepNumber *int32
	Hints      bool
}

func (p Point) decide(c call) (decision, error) {
	if !c.admin() {
		return decision{}, durable.Reject(durable.Forbidden, "only facilitators can point at a step")
	}
	if p.StepNumber == nil {
		if c.s.pointer == nil {
			return decision{}, nil
		}
		return decided(nil, pointed(&pb.Pointer{By: c.Name, Leader: c.leader()})), nil
	}
	if err := c.step(*p.StepNumber); err != nil {
		return decision{}, err
	}
	return decided(nil, pointed(&pb.Pointer{
		StepNumber: *p.StepNumber, StepId: c.s.stepID(*p.StepNumber), By: c.Name, Leader: c.leader(), Hints: p.Hints,
	})), nil
}

func pointed(p *pb.Pointer) *pb.Event {
	return &pb.Event{Body: &pb.Event_Pointed{Pointed: &pb.Pointed{Pointer: p}}}
}

// pointerMoved returns the event that moves or removes the pointer after a change of the steps.
func (c call) pointerMoved(steps []*pb.Step) []*pb.Event {
	was := c.s.pointer
	now := follow(was, steps, func(p *pb.Pointer) *int32 { return &p.StepNumber })
	if now == was {
		return nil
	}
	if now == nil {
		now = &pb.Pointer{By: c.Name, Leader: c.leader()}
	}
	return []*pb.Event{pointed(now)}
}

func (s *State) applyPointed(seq uint64, p *pb.Pointer) {
	if s.pointer = p; p.StepNumber == 0 {
		s.pointer = nil
	}
	s.changed.Codelab = seq
}
