package messages

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"unicode"

	"atelier/transport/describe"
	"atelier/transport/rest"
)

// head is the part of the document outside the messages. It describes how clients connect and
// authenticate.
//
//go:embed asyncapi.head.json
var head []byte

var asyncAPIDocument = sync.OnceValue(written)

// AsyncAPI returns the AsyncAPI document. It is generated from the table, so that it cannot differ
// from the message types.
func AsyncAPI() []byte { return asyncAPIDocument() }

func asyncAPI(r *rest.Request) error { return r.Document(AsyncAPI()) }

// document contains the parts of an AsyncAPI document that this package uses.
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
		Messages        describe.Object `json:"messages"`
		Schemas         describe.Object `json:"schemas"`
	} `json:"components"`
}

type channel struct {
	Address     string          `json:"address"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Messages    describe.Object `json:"messages"`
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

// written builds the document. All parts of the document are constant, so building cannot fail.
func written() []byte {
	var d document
	dec := json.NewDecoder(bytes.NewReader(head))
	dec.DisallowUnknownFields() // otherwise an unknown field would be lost
	if err := dec.Decode(&d); err != nil {
		panic("asyncapi.head.json: " + err.Error())
	}
	schemas, messages, ops := &d.Components.Schemas, &d.Components.Messages, &d.Operations
	for _, m := range members {
		if m.isComponent() {
			s := m.schema()
			s.Entitle(m.name)
			schemas.Add(m.name, s)
		}
	}
	for _, r := range table {
		schemas.Add(r.name, r.schema())
		messages.Add(r.name, r.text())
		whole := reference{"#/components/messages/" + r.name}
		live, event := reference{"#/channels/live/messages/" + r.name}, reference{"#/channels/events/messages/" + r.name}
		d.Channels.Live.Messages.Add(r.name, whole)
		if r.from == client {
			ops.Say.Messages = append(ops.Say.Messages, live)
			continue
		}
		d.Channels.Events.Messages.Add(r.name, whole)
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

// schema returns the message's schema. The server's own messages have only described members. The
// messages of clients, relayed or not, can have further members.
func (r row) schema() *describe.Schema {
	s := describe.Of(vocabulary{}, reflect.TypeOf(r.example), r.from != server)
	s.Properties[0].Value = &describe.Schema{Type: "string", Const: r.kind()}
	if r.from == relaying {
		s.Description = relayedText
	}
	s.Entitle(r.name)
	return s
}

// vocabulary resolves the names in tags of messages.
type vocabulary struct{}

// Named implements describe.Vocabulary.
func (vocabulary) Named(name string) (*describe.Schema, bool) {
	m := memberOf(name)
	return m.schema(), m.isComponent()
}

// Component implements describe.Vocabulary. It names no component, because messages refer to
// components by tags.
func (vocabulary) Component(reflect.Type) string { return "" }

// Siblings implements describe.Vocabulary. AsyncAPI uses the schemas of JSON Schema draft 7, in
// which a reference has no other keywords beside it.
func (vocabulary) Siblings() bool { return false }

func memberOf(name string) *member {
	for i := range members {
		if members[i].name == name {
			return &members[i]
		}
	}
	panic("no member of a message can be " + name)
}

func (m *member) isComponent() bool { return unicode.IsUpper(rune(m.name[0])) }

// schema returns a copy of the member's schema, which the caller can modify.
func (m *member) schema() *describe.Schema {
	s := m.Schema
	if m.Of != nil {
		s = *describe.Of(vocabulary{}, reflect.TypeOf(m.Of), false)
		s.Description = m.Description
	}
	return &s
}
