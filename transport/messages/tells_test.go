package messages

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
)

// fill gives every field of a message a different value.
func fill(m protoreflect.Message, serial *int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		*serial++
		var v protoreflect.Value
		switch f.Kind() {
		case protoreflect.StringKind:
			v = protoreflect.ValueOfString(fmt.Sprintf("value%04d", *serial))
		case protoreflect.MessageKind:
			if f.IsList() {
				fill(m.Mutable(f).List().AppendMutable().Message(), serial)
			} else if !f.IsMap() {
				fill(m.Mutable(f).Message(), serial)
			}
			continue
		default:
			continue
		}
		if f.IsList() {
			m.Mutable(f).List().Append(v)
		} else {
			m.Set(f, v)
		}
	}
}

// An event has a frame if and only if its definition declares a frame. A frame names every person
// of its event, and an item. Otherwise the frame would stay in the replay after the person or item
// was removed.
func TestFramesListTheirPeopleAndItem(t *testing.T) {
	bodies := (*pb.Event)(nil).ProtoReflect().Descriptor().Oneofs().ByName("body").Fields()
	for i := range bodies.Len() {
		kind, e, serial := bodies.Get(i), &pb.Event{At: 1}, 0
		fill(e.ProtoReflect().Mutable(kind).Message(), &serial)
		persons, items, declared := codelab.ReferencesOf(e)
		f, framed := Frames{}.Encode(1, e)
		if framed != declared {
			t.Errorf("%s has a frame: %v, its definition declares one: %v", kind.Name(), framed, declared)
		}
		if !framed {
			continue
		}
		for _, p := range persons {
			if !slices.Contains(f.People[:], p) {
				t.Errorf("the frame of %s does not list the person %s", kind.Name(), p)
			}
		}
		if len(items) > 0 && !slices.Contains(items, f.Item) || len(items) == 0 && f.Item != "" {
			t.Errorf("the frame of %s has the item %q, want one of %q", kind.Name(), f.Item, items)
		}
		// An event whose frame has one of these fields must declare a person.
		for _, member := range []string{"attendee_id", "sender_id", "target_id"} {
			if bytes.Contains(f.Payload, []byte(`"`+member+`":`)) && len(persons) == 0 {
				t.Errorf("the frame of %s contains %s but lists no person", kind.Name(), member)
			}
		}
	}
}
