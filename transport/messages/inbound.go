package messages

import (
	"encoding/json"
	"errors"
	"unicode/utf8"

	"atelier/actors/codelab"
	"atelier/actors/durable"
	"atelier/transport/rest"
	"atelier/transport/wire"
)

// The following types describe the clients' messages in the AsyncAPI document. The messages
// themselves are decoded as inbound: additional members are ignored, and a member of the wrong type is an error.

type sayText struct {
	Type    string `json:"type"`
	Message string `json:"message" is:"Text"`
	Ref     string `json:"ref,omitempty" is:"Ref"`
}

type sayDirect struct {
	Type     string `json:"type"`
	TargetID string `json:"target_id" is:"Person"`
	Message  string `json:"message" is:"Text"`
	Ref      string `json:"ref,omitempty" is:"Ref"`
}

type sayProgress struct {
	Type       string `json:"type"`
	StepNumber int32  `json:"step_number" is:"StepNumber"`
	Ref        string `json:"ref,omitempty" is:"Ref"`
}

// sayHello and sayJoin have no ref, because the server answers them with the welcome instead of an
// ack.
type sayHello struct {
	Type string `json:"type"`
}

type sayJoin struct {
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
}

// inbound is a client's message of any type.
type inbound struct {
	Type       string  `json:"type"`
	Ref        *string `json:"ref"`
	Message    *string `json:"message"`
	TargetID   *string `json:"target_id"`
	StepNumber *int32  `json:"step_number"`
	State      *string `json:"state"`
	Hints      *bool   `json:"hints"`
	StepID     *string `json:"step_id"`
	Item       *string `json:"item"`
	Done       *bool   `json:"done"`

	// given contains the members of a pulse or a pointer message, in which null differs from a
	// missing member.
	given map[string]json.RawMessage
}

func (m *inbound) ref() string {
	if m.Ref == nil {
		return ""
	}
	return *m.Ref
}

// parse decodes a client's message. With an error, parse still returns the ref if possible, so that
// the client can identify the refused message.
func parse(payload []byte) (m inbound, err error) {
	if err = wire.Decode(payload, &m); err != nil {
		var only struct {
			Ref any `json:"ref"`
		}
		if wire.Codec.Unmarshal(payload, &only) == nil {
			if s, ok := only.Ref.(string); ok && utf8.RuneCountInString(s) <= rest.MaxRef {
				m.Ref = &s
			}
		}
		return m, err
	}
	if m.Type == "" {
		return m, wire.Invalid("type is required")
	}
	if utf8.RuneCountInString(m.ref()) > rest.MaxRef {
		m.Ref = nil
		return m, wire.Invalid("ref is longer than %d characters", rest.MaxRef)
	}
	if m.Type == "pulse" || m.Type == "pointer" {
		err = wire.Decode(payload, &m.given)
	}
	return m, err
}

// wanted returns the command for a message that must be stored, and nil for other messages.
func (m *inbound) wanted() (codelab.Body, error) {
	if does := clientMessages[m.Type].does; does != nil {
		return does(m)
	}
	return nil, nil
}

var errNoMessage = wire.Invalid("message is required")

func (m *inbound) chat() (codelab.Body, error) {
	if m.Message == nil {
		return nil, errNoMessage
	}
	return codelab.PostChat{Message: *m.Message}, nil
}

func (m *inbound) direct() (codelab.Body, error) {
	switch {
	case m.Message == nil:
		return nil, errNoMessage
	case or(m.TargetID, "") == "":
		return nil, wire.Invalid("target_id is required")
	}
	return codelab.PostChat{Message: *m.Message, TargetID: *m.TargetID}, nil
}

func (m *inbound) progress() (codelab.Body, error) {
	if m.StepNumber == nil {
		return nil, wire.Invalid("step_number is required")
	}
	return codelab.Progress{StepNumber: *m.StepNumber}, nil
}

var errUnknownType = wire.Invalid("unknown type")

// textOf returns the text that a client receives for an error.
func textOf(err error) string {
	var rejected *durable.Rejection
	switch {
	case errors.As(err, &rejected):
		return rejected.Text
	case errors.Is(err, durable.ErrReadOnly):
		return "the server is read-only for now: its disk is nearly full or has failed"
	case errors.Is(err, durable.ErrTooLarge):
		return "this is too large to be recorded"
	case errors.Is(err, durable.ErrInternal):
		return "internal error"
	}
	return "this cannot be recorded right now; try again"
}
