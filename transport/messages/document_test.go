package messages

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/rest"
)

var update = flag.Bool("update", false, "rewrite asyncapi.json")

// The file asyncapi.json contains the current document. The app's types are generated from it.
func TestTheDocumentFileIsUpToDate(t *testing.T) {
	const file = "asyncapi.json"
	var want bytes.Buffer
	if err := json.Indent(&want, AsyncAPI(), "", "  "); err != nil {
		t.Fatal(err)
	}
	want.WriteByte('\n')
	if *update {
		if err := os.WriteFile(file, want.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is out of date; run make generate", file)
	}
}

// Every encoded type has a row in the table. Without a row its message would be undocumented.
func TestEveryMessageTypeHasARow(t *testing.T) {
	rows, names, kinds := map[string]bool{"inbound": true}, map[string]bool{}, map[string]bool{}
	for _, r := range table {
		side := "from the server"
		if r.from == client {
			side = "from a client"
		}
		if kind := r.kind() + " " + side; names[r.name] || kinds[kind] {
			t.Errorf("%s, %s, is in the table twice", r.name, kind)
		} else {
			names[r.name], kinds[kind] = true, true
		}
		rows[reflect.TypeOf(r.example).Name()] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(source, func(n ast.Node) bool {
			spec, isType := n.(*ast.TypeSpec)
			if !isType || strings.HasSuffix(file, "_test.go") {
				return true
			}
			s, isStruct := spec.Type.(*ast.StructType)
			if !isStruct || len(s.Fields.List) == 0 || s.Fields.List[0].Tag == nil || s.Fields.List[0].Tag.Value != "`json:\"type\"`" {
				return true
			}
			if found++; !rows[spec.Name.Name] {
				t.Errorf("%s: the type %s has no row in the table", file, spec.Name.Name)
			}
			return true
		})
	}
	if found < 30 {
		t.Errorf("only %d types were found, want at least 30", found)
	}
}

// find returns the row of a server message.
func find(kind string) *row {
	for i := range table {
		if r := &table[i]; r.from != client && r.kind() == kind {
			return r
		}
	}
	return nil
}

// Every frame of an event has a row with the right type.
func TestEveryFrameIsInTheTable(t *testing.T) {
	bodies := (*pb.Event)(nil).ProtoReflect().Descriptor().Oneofs().ByName("body").Fields()
	seen := map[string]bool{}
	for i := range bodies.Len() {
		body, e, serial := bodies.Get(i), &pb.Event{At: 1}, 0
		fill(e.ProtoReflect().Mutable(body).Message(), &serial)
		f, framed := Frames{}.Encode(1, e)
		if !framed {
			continue
		}
		var payload map[string]any
		if err := json.Unmarshal(f.Payload, &payload); err != nil {
			t.Fatal(err)
		}
		kind, _ := payload["type"].(string)
		seen[kind] = true
		r := find(kind)
		if r == nil {
			t.Errorf("%s: the table has no row %q", body.Name(), kind)
			continue
		}
		s := r.schema()
		for _, name := range slices.Sorted(maps.Keys(payload)) {
			if !slices.Contains(s.Properties.Names(), name) {
				t.Errorf("%s: the row of %q lacks %q", body.Name(), kind, name)
			}
		}
		for _, name := range s.Required {
			if _, there := payload[name]; !there {
				t.Errorf("%s: the frame %q lacks the required %q", body.Name(), kind, name)
			}
		}
	}
	if len(seen) < 15 {
		t.Errorf("only %d kinds of frames were found: %v", len(seen), seen)
	}
}

// understood returns the reason why a client's message is refused before it reaches a codelab.
func understood(payload map[string]any) error {
	b, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	m, err := parse(b)
	if err == nil {
		_, err = m.wanted()
	}
	return err
}

// Client messages are decoded into one common type, but described as separate types. Fields
// described as required are required, other fields are optional, and values that the description
// excludes are refused.
func TestClientMessagesAreReadAsDescribed(t *testing.T) {
	read := map[string]bool{}
	for f := range reflect.TypeFor[inbound]().Fields() {
		if name := f.Tag.Get("json"); name != "" {
			read[name] = false
		}
	}
	for _, r := range table {
		if r.from != client {
			continue
		}
		var example map[string]any
		if err := json.Unmarshal(r.text().Examples[0].Payload, &example); err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		if err := understood(example); err != nil {
			t.Errorf("the example of %s is refused: %v", r.name, err)
		}
		s := r.schema()
		for _, name := range s.Properties.Names() {
			if _, known := read[name]; !known {
				if r.name != "Join" {
					t.Errorf("%s: the field %q is described but never read", r.name, name)
				}
				continue
			}
			read[name] = true
			less, wrong := maps.Clone(example), maps.Clone(example)
			delete(less, name)
			wrong[name] = []int{1}
			if required := slices.Contains(s.Required, name); required != (understood(less) != nil) {
				t.Errorf("%s: %q is described as required: %v, without it: %v", r.name, name, required, understood(less))
			}
			if understood(wrong) == nil {
				t.Errorf("%s: %q accepts a wrong type", r.name, name)
			}
		}
	}
	for name, described := range read {
		if !described {
			t.Errorf("the field %q is read but not described", name)
		}
	}
}

func TestEveryFieldTypeIsUsed(t *testing.T) {
	used := map[string]bool{}
	var visit func(t reflect.Type)
	visit = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return
		}
		for f := range t.Fields() {
			used[f.Tag.Get("is")] = true
			visit(f.Type)
		}
	}
	for _, r := range table {
		visit(reflect.TypeOf(r.example))
	}
	for _, m := range members { // the elements of a list have the name of the list
		if m.Items != nil && used[m.name] {
			used[strings.TrimPrefix(m.Items.Ref, "#/components/schemas/")] = true
		}
	}
	for _, m := range members {
		if !used[m.name] {
			t.Errorf("no message uses the type %s", m.name)
		}
	}
}

// The REST document describes messages a second time, for clients that post them instead of using
// a socket.
func TestRESTDescribesTheSameMessages(t *testing.T) {
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Required   []string
				Properties map[string]struct{ Enum []any }
			}
		}
	}
	if err := json.Unmarshal(rest.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	posted := doc.Components.Schemas["ClientMessage"].Properties
	var kinds, names []string
	for _, kind := range posted["type"].Enum {
		kinds = append(kinds, kind.(string))
	}
	if want := slices.Sorted(maps.Keys(clientMessages)); !slices.Equal(slices.Sorted(slices.Values(kinds)), want) {
		t.Errorf("ClientMessage has the types %v, the table %v", kinds, want)
	}
	for f := range reflect.TypeFor[inbound]().Fields() {
		if name := f.Tag.Get("json"); name != "" {
			names = append(names, name)
		}
	}
	if got := slices.Sorted(maps.Keys(posted)); !slices.Equal(got, slices.Sorted(slices.Values(names))) {
		t.Errorf("ClientMessage has the fields %v, the code reads %v", got, names)
	}
	for _, kind := range []string{"ack", "welcome"} { // the server's responses
		r := find(kind)
		answer, want := doc.Components.Schemas[r.name], r.schema()
		if got := slices.Sorted(maps.Keys(answer.Properties)); !slices.Equal(got, slices.Sorted(slices.Values(want.Properties.Names()))) {
			t.Errorf("%s has the fields %v in the REST document", r.name, got)
		}
		if got := slices.Sorted(slices.Values(answer.Required)); !slices.Equal(got, slices.Sorted(slices.Values(want.Required))) {
			t.Errorf("%s requires %v in the REST document", r.name, got)
		}
	}
}

// A relayed message carries anything that a client sent, but never the fields of an event. A
// client that finds a seq treats the message as an event.
func TestRelayedMessagesNeverHaveFieldsOfAnEvent(t *testing.T) {
	relayed := 0
	for _, r := range table {
		if r.from != relaying {
			continue
		}
		relayed++
		names := r.schema().PropertyNames
		if names == nil || names.Not == nil {
			t.Errorf("%s can have any field", r.name)
			continue
		}
		for _, name := range []string{"ref", "seq", "ts"} {
			if !slices.Contains(names.Not.Enum, any(name)) {
				t.Errorf("%s can have the field %q", r.name, name)
			}
		}
	}
	if relayed < 3 {
		t.Errorf("only %d messages are relayed, want at least 3", relayed)
	}
}
