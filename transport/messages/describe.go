package messages

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"unicode"

	"atelier/transport/rest"
)

// head is what the document says of no message by itself: how one connects, and
// by what right.
//
//go:embed asyncapi.head.json
var head []byte

var asyncAPIDocument = sync.OnceValue(describe)

// AsyncAPI returns the AsyncAPI document. It is made of the table, so it cannot
// say of a message what its type does not.
func AsyncAPI() []byte { return asyncAPIDocument() }

func asyncAPI(r *rest.Request) error { return r.Document(AsyncAPI()) }

// document is an AsyncAPI document as ours is.
type document struct {
	AsyncAPI           string          `json:"asyncapi"`
	Info               json.RawMessage `json:"info"`
	DefaultContentType string          `json:"defaultContentType"`
	Servers            json.RawMessage `json:"servers"`
	Channels           struct {
		Live   channel `json:"live"`
		Events channel `json:"events"`
	} `json:"channels"`
	Operations struct {
		Hear   operation `json:"hear"`
		Say    operation `json:"say"`
		Follow operation `json:"follow"`
	} `json:"operations"`
	Components struct {
		SecuritySchemes json.RawMessage `json:"securitySchemes"`
		Messages        object          `json:"messages"`
		Schemas         object          `json:"schemas"`
	} `json:"components"`
}

type channel struct {
	Address     string          `json:"address"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Messages    object          `json:"messages"`
	Bindings    json.RawMessage `json:"bindings"`
}

type operation struct {
	Action   string      `json:"action"`
	Channel  reference   `json:"channel"`
	Summary  string      `json:"summary"`
	Messages []reference `json:"messages"`
}

type reference struct {
	Ref string `json:"$ref"`
}

type messageText struct {
	Name        string        `json:"name"`
	Title       string        `json:"title"`
	Summary     string        `json:"summary"`
	ContentType string        `json:"contentType"`
	Payload     reference     `json:"payload"`
	Examples    []exampleText `json:"examples"`
}

type exampleText struct {
	Payload json.RawMessage `json:"payload"`
}

// object is a JSON object whose members keep their order.
type object []property

type property struct {
	name  string
	value any
}

func (o *object) add(name string, value any) { *o = append(*o, property{name, value}) }

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, p := range o {
		name, err := json.Marshal(p.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(p.value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, name...), ':'), value...)
	}
	return append(b, '}'), nil
}

// describe makes the document. Its parts are constant, so it cannot fail.
func describe() []byte {
	var d document
	dec := json.NewDecoder(bytes.NewReader(head))
	dec.DisallowUnknownFields() // or it would be lost
	if err := dec.Decode(&d); err != nil {
		panic("asyncapi.head.json: " + err.Error())
	}
	schemas, messages, ops := &d.Components.Schemas, &d.Components.Messages, &d.Operations
	for _, m := range members {
		if m.isComponent() {
			s := m.describe()
			s.entitle(m.name)
			schemas.add(m.name, s)
		}
	}
	for _, r := range table {
		schemas.add(r.name, r.schema())
		messages.add(r.name, r.text())
		whole := reference{"#/components/messages/" + r.name}
		live, event := reference{"#/channels/live/messages/" + r.name}, reference{"#/channels/events/messages/" + r.name}
		d.Channels.Live.Messages.add(r.name, whole)
		if r.from == client {
			ops.Say.Messages = append(ops.Say.Messages, live)
			continue
		}
		d.Channels.Events.Messages.add(r.name, whole)
		ops.Hear.Messages = append(ops.Hear.Messages, live)
		ops.Follow.Messages = append(ops.Follow.Messages, event)
	}
	b, err := json.Marshal(d)
	if err != nil {
		panic("describe the messages: " + err.Error())
	}
	return b
}

func (r row) text() messageText {
	example := encode(r.example)
	if r.more != "" {
		example = []byte(strings.TrimSuffix(string(example), "}") + "," + r.more + "}")
	}
	return messageText{
		r.kind(), r.title, r.summary, "application/json", reference{"#/components/schemas/" + r.name}, []exampleText{{example}},
	}
}

// schema is the schema of the message. Server messages have only described members; clients
// can send more, which are relayed.
func (r row) schema() *schema {
	s := ofStruct(reflect.TypeOf(r.example), r.from != server)
	s.Properties[0].value = &schema{Type: "string", Const: r.kind()}
	if r.from == relaying {
		s.Description = relayedText
	}
	s.entitle(r.name)
	return s
}

// entitle names the objects and enums that are written where they are used, after
// their place. Generators of clients number what has no name, and the numbers
// change with every message that is added.
func (s *schema) entitle(name string) {
	for _, p := range s.Properties {
		if inner := p.value.(*schema); len(inner.Properties) > 0 || len(inner.Enum) > 0 {
			inner.Title = name + camelCase(p.name)
			inner.entitle(inner.Title)
		}
	}
}

func camelCase(name string) (camel string) {
	for word := range strings.SplitSeq(name, "_") {
		camel += strings.ToUpper(word[:1]) + word[1:]
	}
	return camel
}

func ofStruct(t reflect.Type, open bool) *schema {
	s := &schema{Type: "object", Open: open}
	s.include(t)
	return s
}

// include adds the members of a struct, and of those embedded in it.
func (s *schema) include(t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			s.include(f.Type)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Type == reflect.TypeFor[*never]() {
			s.forbid(name)
			continue
		}
		optional := options == "omitempty"
		if !optional {
			s.Required = append(s.Required, name)
		}
		s.Properties.add(name, ofField(f, optional))
	}
}

// forbid says that an open object never has a member. A member whose schema is
// false says the same, but generators of clients expect a schema of every member.
func (s *schema) forbid(name string) {
	if s.PropertyNames == nil {
		s.PropertyNames = &schema{Not: &schema{}}
	}
	s.PropertyNames.Not.Enum = append(s.PropertyNames.Not.Enum, name)
}

// ofField describes a member.
func ofField(f reflect.StructField, optional bool) *schema {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s := ofType(f.Name, t, f.Tag.Get("is"))
	d, about := f.Tag.Get("default"), f.Tag.Get("doc")
	if s.Ref != "" && d+about != "" {
		// The schemas of AsyncAPI are those of JSON Schema draft 7, where members beside a
		// reference are ignored.
		s = &schema{AllOf: []*schema{s}}
	}
	if d != "" {
		s.Default = json.RawMessage(d)
	}
	if f.Type.Kind() == reflect.Pointer && !optional {
		s = orNull(s)
	}
	if about != "" {
		s.Description = about
	}
	return s
}

// ofType describes the type of a field, which is what a tag says or speaks for
// itself. An int counts something.
func ofType(field string, t reflect.Type, is string) *schema {
	if is != "" {
		m := memberOf(is)
		if m.isComponent() {
			return &schema{Ref: "#/components/schemas/" + is}
		}
		return m.describe()
	}
	switch t.Kind() {
	case reflect.String:
		return &schema{Type: "string"}
	case reflect.Bool:
		return &schema{Type: "boolean"}
	case reflect.Int:
		return &schema{Type: "integer", Minimum: new(0)}
	case reflect.Slice:
		return &schema{Type: "array", Items: ofType(field, t.Elem(), "")}
	case reflect.Struct:
		return ofStruct(t, false)
	}
	panic("a tag must say what " + field + " is: " + t.String() + " does not")
}

// orNull lets null be, too.
func orNull(s *schema) *schema {
	name, isComponent := strings.CutPrefix(s.Ref, "#/components/schemas/")
	if _, already := s.Type.([]string); already {
		return s
	}
	if !isComponent {
		s.Type = []any{s.Type, "null"}
		return s
	}
	if _, several := memberOf(name).Type.([]string); several { // null is one
		return s
	}
	return &schema{OneOf: []*schema{s, {Type: "null"}}}
}

func memberOf(name string) *member {
	for i := range members {
		if members[i].name == name {
			return &members[i]
		}
	}
	panic("no member of a message can be " + name)
}

func (m *member) isComponent() bool { return unicode.IsUpper(rune(m.name[0])) }

// describe returns the schema, for callers that add to it.
func (m *member) describe() *schema {
	s := m.schema
	if m.of != nil {
		s = *ofStruct(reflect.TypeOf(m.of), false)
		s.Description = m.Description
	}
	return &s
}
