package pbwire_test

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"pgregory.net/rapid"

	_ "atelier/actors/audit"
	"atelier/actors/codelab/codelabpb"
	"atelier/actors/internal/pbwire"
	_ "atelier/actors/login/loginpb"
	_ "atelier/actors/participant"
	_ "atelier/actors/settings"
	_ "atelier/actors/token/tokenpb"
)

// coded is a message with a generated codec.
type coded interface {
	proto.Message
	pbwire.Message
	Decode([]byte) error
}

// stored returns all messages that the server stores.
func stored() (out []protoreflect.MessageType) {
	protoregistry.GlobalTypes.RangeMessages(func(t protoreflect.MessageType) bool {
		if strings.HasPrefix(string(t.Descriptor().FullName()), "atelier.") {
			out = append(out, t)
		}
		return true
	})
	return out
}

// For every stored message with any contents, a codec writes and reads the standard protobuf
// encoding.
func TestCodecsReadAndWriteProtobuf(t *testing.T) {
	types := stored()
	if len(types) < 80 {
		t.Fatalf("only %d stored messages were found", len(types))
	}
	for _, typ := range types {
		t.Run(string(typ.Descriptor().Name()), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				m := typ.New()
				fill(t, m, 3)
				sent := m.Interface().(coded)
				ours := pbwire.Encode(sent)
				if len(ours) != sent.EncodedSize() || !bytes.Equal(pbwire.Append([]byte("ab"), sent), append([]byte("ab"), ours...)) {
					t.Fatal("the encoded size and the number of bytes differ")
				}
				theirs := typ.New().Interface()
				if err := proto.Unmarshal(ours, theirs); err != nil || !proto.Equal(sent, theirs) {
					t.Fatalf("protobuf decodes %v: %v, want %v", err, theirs, sent)
				}
				b, err := proto.Marshal(sent)
				if err != nil {
					t.Fatal(err)
				}
				got := typ.New().Interface().(coded)
				if err := got.Decode(b); err != nil || !proto.Equal(sent, got) {
					t.Fatalf("Decode returned %v: %v, want %v", err, got, sent)
				}
				checkClone(t, sent)
			})
		})
	}
}

// checkClone verifies that a clone equals m and shares no memory with it.
func checkClone(t *rapid.T, m proto.Message) {
	method := reflect.ValueOf(m).MethodByName("Clone")
	if !method.IsValid() {
		return // an event has no Clone
	}
	clone := method.Call(nil)[0].Interface().(proto.Message)
	if !proto.Equal(m, clone) {
		t.Fatalf("the clone of %v is %v", m, clone)
	}
	before := proto.Clone(clone)
	scramble(m.ProtoReflect())
	if !proto.Equal(before, clone) {
		t.Fatal("a clone shares memory with its original")
	}
}

// Unknown fields of a message are kept.
func TestUnknownFieldsAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		types := stored()
		m := rapid.SampledFrom(types).Draw(t, "type").New()
		fill(t, m, 2)
		b, err := proto.Marshal(m.Interface())
		if err != nil {
			t.Fatal(err)
		}
		small := &codelabpb.Erased{} // a message without any of these fields
		if err := small.Decode(b); err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(reread(t, m, pbwire.Encode(small)), m.Interface()) {
			t.Fatal("unknown fields were lost")
		}
	})
}

func reread(t *rapid.T, of protoreflect.Message, b []byte) proto.Message {
	out := of.Type().New().Interface()
	if err := proto.Unmarshal(b, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestMalformedMessagesAreRefused(t *testing.T) {
	for name, b := range map[string][]byte{
		"field 0": {0x00, 0x01}, "a missing value": {0x08}, "truncated text": {0x12, 0x05, 'a'}, "a number without an end": bytes.Repeat([]byte{0xff}, 11),
		"a group": {0x0b}, "text for a number": {0x08 | 2, 0x01, 'a'}, "truncated number of 8 bytes": {0xf9, 0x01, 1, 2, 3},
	} {
		if err := (&codelabpb.Event{}).Decode(b); !errors.Is(err, pbwire.ErrMalformed) {
			t.Errorf("%s: %v, want ErrMalformed", name, err)
		}
	}
}

// Bytes that are not a message are refused without any other failure.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Add([]byte{0x52, 0x04, 0x0a, 0x02, 0x0a, 0x00})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, m := range []coded{&codelabpb.Event{}, &codelabpb.Snapshot{}} {
			if m.Decode(b) != nil {
				continue
			}
			again := m.ProtoReflect().Type().New().Interface().(coded)
			if err := again.Decode(pbwire.Encode(m)); err != nil || !bytes.Equal(pbwire.Encode(again), pbwire.Encode(m)) {
				t.Fatalf("%x changed when encoded again", b)
			}
		}
	})
}

// fill sets some of a message's fields, nested to depth.
func fill(t *rapid.T, m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		inner := f.Kind() == protoreflect.MessageKind && !f.IsMap()
		if (inner || f.IsMap()) && depth == 0 || !rapid.Bool().Draw(t, "set "+string(f.Name())) {
			continue
		}
		switch {
		case f.IsMap():
			for range rapid.IntRange(1, 3).Draw(t, "entries") {
				v := m.Mutable(f).Map().NewValue()
				if f.MapValue().Kind() == protoreflect.MessageKind {
					fill(t, v.Message(), depth-1)
				} else {
					v = value(t, f.MapValue())
				}
				m.Mutable(f).Map().Set(value(t, f.MapKey()).MapKey(), v)
			}
		case f.IsList():
			for range rapid.IntRange(1, 3).Draw(t, "elements") {
				v := m.Mutable(f).List().NewElement()
				if inner {
					fill(t, v.Message(), depth-1)
				} else {
					v = value(t, f)
				}
				m.Mutable(f).List().Append(v)
			}
		case inner:
			fill(t, m.Mutable(f).Message(), depth-1)
		default:
			m.Set(f, value(t, f))
		}
	}
}

func value(t *rapid.T, f protoreflect.FieldDescriptor) protoreflect.Value {
	edges := rapid.SampledFrom([]int64{0, 1, 127, 128, 1 << 31, -1, -1 << 63, 1<<63 - 1})
	switch f.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(rapid.String().Draw(t, "text"))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(rapid.Bool().Draw(t, "truth"))
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(rapid.IntRange(0, 3).Draw(t, "choice")))
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(edges.Draw(t, "number")))
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(uint32(edges.Draw(t, "number")))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(edges.Draw(t, "number"))
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(uint64(edges.Draw(t, "number")))
	}
	panic("no value of " + f.Kind().String())
}

// scramble changes in place everything that a message refers to.
func scramble(m protoreflect.Message) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap():
			v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
				if f.MapValue().Kind() == protoreflect.MessageKind {
					scramble(v.Message())
				}
				return true
			})
			v.Map().Set(protoreflect.ValueOfString("one more").MapKey(), v.Map().NewValue())
		case f.IsList():
			for i := range v.List().Len() {
				disturb(f, v.List().Get(i))
			}
			v.List().Set(0, v.List().NewElement())
		default:
			disturb(f, v)
			if f.HasPresence() && f.Kind() != protoreflect.MessageKind {
				m.Clear(f)
			}
		}
		return true
	})
}

func disturb(f protoreflect.FieldDescriptor, v protoreflect.Value) {
	switch f.Kind() {
	case protoreflect.MessageKind:
		scramble(v.Message())
	case protoreflect.BytesKind:
		for i := range v.Bytes() {
			v.Bytes()[i]++
		}
	}
}

// The message is a chat event, because most journals consist mainly of chat events.
func BenchmarkDecode(b *testing.B) {
	m := &codelabpb.Event{At: 1_700_000_000_000, Body: &codelabpb.Event_ChatPosted{ChatPosted: &codelabpb.ChatPosted{Message: &codelabpb.ChatMessage{
		Id: "01a1fff6-f691-7000-811c-9d442d7144c0", SenderId: "01a1fff6-f6ad-7000-ac7b-e2d4715771fb", SenderName: "Attendee 1",
		Message: strings.Repeat("what people say ", 4), CreatedAt: 1_700_000_000_000,
	}}}}
	encoded := pbwire.Encode(m)
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := (&codelabpb.Event{}).Decode(encoded); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		buf := make([]byte, 0, 1024)
		for b.Loop() {
			buf = pbwire.Append(buf[:0], m)
		}
	})
}

// Encoders write backwards, so the fields of an encoded map are sorted only if its keys are not.
func TestKeysAreInTheOrderOfWriting(t *testing.T) {
	if got := pbwire.Keys(map[string]int{"b": 1, "a": 2, "c": 3, "": 4}); !slices.Equal(got, []string{"c", "b", "a", ""}) {
		t.Errorf("the keys are %q", got)
	}
}
