package codelab

import (
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "atelier/actors/codelab/codelabpb"
)

// references contains the options of personal.proto for one type of message. persons and items are
// the fields with ids of persons and items. inner contains the fields with messages that can have
// such fields.
type references struct {
	replayed       bool
	persons, items []protoreflect.FieldDescriptor
	inner          []protoreflect.FieldDescriptor
}

// referenceCache maps message descriptors to *references.
var referenceCache sync.Map

func referencesOf(d protoreflect.MessageDescriptor) *references {
	if t, ok := referenceCache.Load(d); ok {
		return t.(*references)
	}
	t := &references{replayed: proto.GetExtension(d.Options(), pb.E_Told).(bool)}
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		switch {
		case f.Kind() == protoreflect.MessageKind:
			if in := referencesOf(f.Message()); len(in.persons)+len(in.items)+len(in.inner) > 0 {
				t.inner = append(t.inner, f)
			}
		case proto.GetExtension(f.Options(), pb.E_OfPerson).(bool):
			t.persons = append(t.persons, f)
		case proto.GetExtension(f.Options(), pb.E_OfItem).(bool):
			t.items = append(t.items, f)
		}
	}
	referenceCache.Store(d, t)
	return t
}

// refersTo reports whether a message contains, at any depth, the id of a person or item for which
// the function person or item reports true. A nil function matches none.
func refersTo(m protoreflect.Message, person, item func(id string) bool) bool {
	t := referencesOf(m.Descriptor())
	for _, f := range t.persons {
		if person != nil && person(m.Get(f).String()) {
			return true
		}
	}
	for _, f := range t.items {
		if item != nil && item(m.Get(f).String()) {
			return true
		}
	}
	for _, f := range t.inner {
		switch {
		case !m.Has(f):
		case f.IsList():
			for list, i := m.Get(f).List(), 0; i < list.Len(); i++ {
				if refersTo(list.Get(i).Message(), person, item) {
					return true
				}
			}
		case refersTo(m.Get(f).Message(), person, item):
			return true
		}
	}
	return false
}

// bodyOf returns an event without its envelope, or nil for an unknown kind of event.
func bodyOf(e *pb.Event) protoreflect.Message {
	m := e.ProtoReflect()
	if f := m.WhichOneof(eventBody); f != nil {
		return m.Get(f).Message()
	}
	return nil
}

var eventBody = (*pb.Event)(nil).ProtoReflect().Descriptor().Oneofs().ByName("body")
