package codelab

import (
	"testing"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/internal/pbwire"
)

// If the clock was set back, new ids must still be larger than existing ones, because lists are
// searched by increasing ids.
func TestNewIdsAreLargerThanEveryIdInASnapshot(t *testing.T) {
	const late = "ffffffff-fff0-7000-8000-000000000000"
	lists := 0
	var visit func(at protoreflect.Message, whole func(protoreflect.Message) *pb.Snapshot)
	visit = func(at protoreflect.Message, whole func(protoreflect.Message) *pb.Snapshot) {
		fields := at.Descriptor().Fields()
		for i := range fields.Len() {
			f := fields.Get(i)
			if !f.IsList() || f.Message() == nil {
				continue
			}
			with := func(element protoreflect.Message) *pb.Snapshot {
				m := at.New()
				m.Mutable(f).List().Append(protoreflect.ValueOfMessage(element))
				return whole(m)
			}
			element := at.NewField(f).List().NewElement().Message()
			visit(element, with)
			id := f.Message().Fields().ByName("id")
			if id == nil || f.Name() == "threads" { // the ids of threads are smaller than those of their comments
				continue
			}
			element.Set(id, protoreflect.ValueOfString(late))
			lists++
			s := newLab().State
			if err := s.Restore(1, pbwire.Encode(with(element))); err != nil {
				t.Fatal(err)
			}
			if next := s.ids.Next(time.Now()); next <= late {
				t.Errorf("%s: the next id %s is not larger than the stored one", f.FullName(), next)
			}
		}
	}
	visit((*pb.Snapshot)(nil).ProtoReflect(), func(m protoreflect.Message) *pb.Snapshot { return m.Interface().(*pb.Snapshot) })
	if lists < 10 {
		t.Errorf("only %d lists have ids", lists)
	}
}

func TestPointersAndPulsesFollowTheirStep(t *testing.T) {
	one, two := &pb.Step{Id: "one"}, &pb.Step{Id: "two"}
	p := &pb.Pointer{StepId: "one", StepNumber: 1, Hints: true}
	number := func(p *pb.Pointer) *int32 { return &p.StepNumber }
	if got := follow(p, []*pb.Step{one, two}, number); got != p {
		t.Errorf("with its step unmoved, the pointer is %v", got)
	}
	if got := follow(p, []*pb.Step{two, one}, number); got.GetStepNumber() != 2 || !got.GetHints() || p.StepNumber != 1 {
		t.Errorf("with its step moved, the pointer is %v, before %v", got, p)
	}
	if got := follow(p, []*pb.Step{two}, number); got != nil {
		t.Errorf("with its step removed, the pointer is %v", got)
	}
	if got := follow(nil, []*pb.Step{one}, number); got != nil {
		t.Errorf("a missing pointer became %v", got)
	}
	if got := followPulse(&pb.Pulse{StepId: "one", StepNumber: 1}, []*pb.Step{two, one}); got.GetStepNumber() != 2 {
		t.Errorf("the pulse of a moved step is %v", got)
	}
}
