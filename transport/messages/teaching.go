package messages

import (
	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/wire"
)

// What live teaching adds to the messages (decisions W14).

type broadcastMessage struct {
	Type       string `json:"type"`
	ID         string `json:"id"`
	SenderID   string `json:"sender_id"`
	SenderName string `json:"sender_name"`
	Message    string `json:"message"`
	Seq        uint64 `json:"seq"`
	TS         string `json:"ts"`
}

type pulseMessage struct {
	Type         string  `json:"type"`
	AttendeeID   string  `json:"attendee_id"`
	AttendeeName string  `json:"attendee_name"`
	State        *string `json:"state"`
	StepNumber   int32   `json:"step_number"`
	Seq          uint64  `json:"seq"`
	TS           string  `json:"ts"`
}

type pin struct {
	Message string `json:"message"`
	At      string `json:"at"`
}

type pinMessage struct {
	Type string `json:"type"`
	Pin  *pin   `json:"pin"`
	Seq  uint64 `json:"seq"`
	TS   string `json:"ts"`
}

type pointerMessage struct {
	Type       string `json:"type"`
	StepNumber *int32 `json:"step_number"`
	Hints      bool   `json:"hints"`
	By         string `json:"by"`
	Seq        uint64 `json:"seq"`
	TS         string `json:"ts"`
}

func pinChanged(seq uint64, ts string, p *pb.Pinned) pinMessage {
	out := pinMessage{Type: "pin_changed", Seq: seq, TS: ts}
	if p.Message != "" {
		out.Pin = &pin{p.Message, ts}
	}
	return out
}

func pointerMoved(seq uint64, ts string, p *pb.Pointer) pointerMessage {
	out := pointerMessage{Type: "pointer", Hints: p.Hints, By: p.By, Seq: seq, TS: ts}
	if p.StepNumber != 0 {
		out.StepNumber = &p.StepNumber
	}
	return out
}

var pulseStates = map[string]pb.PulseState{
	"fine": pb.PulseState_PULSE_STATE_FINE, "slow": pb.PulseState_PULSE_STATE_SLOW, "stuck": pb.PulseState_PULSE_STATE_STUCK,
}

// teaching is wanted for the messages of live teaching; nil for others.
func (m *inbound) teaching() (codelab.Body, error) {
	switch m.Type {
	case "broadcast":
		if m.Message == nil {
			return nil, wire.Invalid("message is required")
		}
		return codelab.PostChat{Message: *m.Message, Broadcast: true}, nil
	case "pulse":
		if m.given["state"] == nil {
			return nil, wire.Invalid("state is required: fine, slow, stuck or null")
		}
		state, known := pulseStates[or(m.State, "")]
		if m.State != nil && !known {
			return nil, wire.Invalid("state must be fine, slow, stuck or null")
		}
		return codelab.SetPulse{State: state}, nil
	case "pointer":
		if m.given["step_number"] == nil {
			return nil, wire.Invalid("step_number is required: a number or null")
		}
		return codelab.Point{StepNumber: m.StepNumber, Hints: or(m.Hints, false)}, nil
	}
	return nil, nil
}

func or[T any](p *T, fallback T) T {
	if p == nil {
		return fallback
	}
	return *p
}
