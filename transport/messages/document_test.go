package messages

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/rest"
)

// documented are the messages of the AsyncAPI document by their type: what the
// server sends, and what clients do.
func documented(t *testing.T) (sent, received map[string]map[string]bool) {
	t.Helper()
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]any
			}
		}
	}
	if err := json.Unmarshal(rest.AsyncAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	sent, received = map[string]map[string]bool{}, map[string]map[string]bool{}
	for name, s := range doc.Components.Schemas {
		typ, _ := s.Properties["type"].(map[string]any)
		kind, ok := typ["const"].(string)
		if !ok {
			continue
		}
		members := map[string]bool{}
		for m := range s.Properties {
			members[m] = true
		}
		if strings.HasPrefix(name, "Send") || name == "Join" || name == "Hello" {
			received[kind] = members
		} else {
			sent[kind] = members
		}
	}
	return sent, received
}

// Every frame of an event has a message in the document, with each member that
// it has: a new one was forgotten there without a word.
func TestEveryFrameIsDocumented(t *testing.T) {
	sent, _ := documented(t)
	bodies := (*pb.Event)(nil).ProtoReflect().Descriptor().Oneofs().ByName("body").Fields()
	seen := map[string]bool{}
	for i := range bodies.Len() {
		kind, e, serial := bodies.Get(i), &pb.Event{At: 1}, 0
		fill(e.ProtoReflect().Mutable(kind).Message(), &serial)
		f, framed := Frames{}.Encode(1, e)
		if !framed {
			continue
		}
		var payload map[string]any
		if err := json.Unmarshal(f.Payload, &payload); err != nil {
			t.Fatal(err)
		}
		name, _ := payload["type"].(string)
		seen[name] = true
		for _, member := range slices.Sorted(maps.Keys(payload)) {
			if !sent[name][member] {
				t.Errorf("%s: the document has no %q of %q", kind.Name(), member, name)
			}
		}
	}
	if len(seen) < 15 {
		t.Errorf("only %d kinds of frames: %v", len(seen), seen)
	}
}

// cases are the types of messages that the code handles, as it spells them.
var cases = regexp.MustCompile(`case ("[a-z_]+"(?:, "[a-z_]+")*):`)

// What a client may send is what the document says it may.
func TestEveryMessageOfAClientIsDocumented(t *testing.T) {
	_, received := documented(t)
	handled := map[string]bool{"join": true, "hello": true}
	for _, file := range []string{"inbound.go", "teaching.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases.FindAllSubmatch(source, -1) {
			for name := range strings.SplitSeq(string(c[1]), ", ") {
				handled[strings.Trim(name, `"`)] = true
			}
		}
	}
	for kind := range handled {
		if received[kind] == nil {
			t.Errorf("%q is handled and not documented", kind)
		}
	}
	for kind := range received {
		if !handled[kind] && !isSignal(kind) {
			t.Errorf("%q is documented and not handled", kind)
		}
	}
}
