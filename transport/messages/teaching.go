package messages

import (
	"slices"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/naming"
	"atelier/transport/rest"
	"atelier/transport/wire"
)

// This file contains the messages of live teaching (transport/rest/RULES.md, "Live teaching").

type broadcastMessage struct {
	Type       string `json:"type"`
	ID         string `json:"id" is:"Id"`
	SenderID   string `json:"sender_id" is:"facilitator"`
	SenderName string `json:"sender_name" doc:"The facilitator's name."`
	Person     string `json:"person,omitempty" is:"person who leads"`
	Message    string `json:"message" is:"Text"`
	stored
}

type pulseMessage struct {
	Type         string  `json:"type"`
	AttendeeID   string  `json:"attendee_id" is:"Id"`
	AttendeeName string  `json:"attendee_name"`
	State        *string `json:"state" is:"PulseState"`
	StepNumber   int32   `json:"step_number" is:"StepNumber"`
	stored
}

type pin struct {
	Message string `json:"message" is:"Text"`
	At      string `json:"at" is:"Timestamp"`
}

type pinMessage struct {
	Type string `json:"type"`
	Pin  *pin   `json:"pin" is:"Pin"`
	stored
}

type pointerMessage struct {
	Type       string `json:"type"`
	StepNumber *int32 `json:"step_number" is:"StepNumber"`
	Hints      bool   `json:"hints" doc:"Whether the hints of that step are open for everybody."`
	By         string `json:"by" doc:"The facilitator's name."`
	Person     string `json:"person,omitempty" is:"person who leads"`
	stored
}

func pinChanged(at stored, p *pb.Pinned) pinMessage {
	out := pinMessage{"pin_changed", nil, at}
	if p.Message != "" {
		out.Pin = &pin{p.Message, at.TS}
	}
	return out
}

func pointerMoved(at stored, p *pb.Pointer) pointerMessage {
	out := pointerMessage{"pointer", nil, p.Hints, p.By, p.Leader, at}
	if p.StepNumber != 0 {
		out.StepNumber = &p.StepNumber
	}
	return out
}

type sayPulse struct {
	Type  string  `json:"type"`
	State *string `json:"state" is:"PulseState"`
	Ref   string  `json:"ref,omitempty" is:"Ref"`
}

type sayPointer struct {
	Type       string `json:"type"`
	StepNumber *int32 `json:"step_number" is:"StepNumber"`
	Hints      bool   `json:"hints,omitempty" default:"false"`
	Ref        string `json:"ref,omitempty" is:"Ref"`
}

// tickMessage is sent only to the other connections of the person who ticked.
type tickMessage struct {
	Type   string `json:"type"`
	StepID string `json:"step_id" is:"Id"`
	Item   string `json:"item" is:"Task"`
	Done   bool   `json:"done"`
	stored
}

type sayTick struct {
	Type   string `json:"type"`
	StepID string `json:"step_id" is:"Id"`
	Item   string `json:"item" is:"Task"`
	Done   bool   `json:"done"`
	Ref    string `json:"ref,omitempty" is:"Ref"`
}

func (m *inbound) tick() (codelab.Body, error) {
	switch {
	case or(m.StepID, "") == "":
		return nil, wire.Invalid("step_id is required")
	case or(m.Item, "") == "":
		return nil, wire.Invalid("item is required")
	case m.Done == nil:
		return nil, wire.Invalid("done is required: true or false")
	}
	return codelab.Tick{StepID: *m.StepID, Item: *m.Item, Done: *m.Done}, nil
}

func (m *inbound) broadcast() (codelab.Body, error) {
	if m.Message == nil {
		return nil, errNoMessage
	}
	return codelab.PostChat{Message: *m.Message, Broadcast: true}, nil
}

var pulses = naming.Or(append(slices.Clone(rest.PulseStates), "null")...)

func (m *inbound) pulse() (codelab.Body, error) {
	if m.given["state"] == nil {
		return nil, wire.Invalid("state is required: %s", pulses)
	}
	state := rest.PulseState(or(m.State, ""))
	if m.State != nil && state == pb.PulseState_PULSE_STATE_NONE {
		return nil, wire.Invalid("state must be %s", pulses)
	}
	return codelab.SetPulse{State: state}, nil
}

func (m *inbound) pointer() (codelab.Body, error) {
	if m.given["step_number"] == nil {
		return nil, wire.Invalid("step_number is required: a number or null")
	}
	return codelab.Point{StepNumber: m.StepNumber, Hints: or(m.Hints, false)}, nil
}

func or[T any](p *T, fallback T) T {
	if p == nil {
		return fallback
	}
	return *p
}
