package messages

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"atelier/actors/codelab"
	"atelier/actors/durable"
	"atelier/actors/room"
	"atelier/transport/wire"
)

const (
	maxRef    = 64
	maxSignal = 64 << 10
)

// inbound is a client's message.
type inbound struct {
	Type       string  `json:"type"`
	Ref        *string `json:"ref"`
	Message    *string `json:"message"`
	TargetID   *string `json:"target_id"`
	StepNumber *int32  `json:"step_number"`
	State      *string `json:"state"`
	Hints      *bool   `json:"hints"`

	// given are the fields of a message in which null is not the same as
	// nothing.
	given map[string]json.RawMessage
}

func (m *inbound) ref() string {
	if m.Ref == nil {
		return ""
	}
	return *m.Ref
}

// parse reads a client's message. With an error the reference is returned as
// far as it could be read, so that the client knows what was refused.
func parse(payload []byte) (m inbound, err error) {
	if err = wire.Decode(payload, &m); err != nil {
		var only struct {
			Ref any `json:"ref"`
		}
		if wire.Codec.Unmarshal(payload, &only) == nil {
			if s, ok := only.Ref.(string); ok && utf8.RuneCountInString(s) <= maxRef {
				m.Ref = &s
			}
		}
		return m, err
	}
	if m.Type == "" {
		return m, wire.Invalid("type is required")
	}
	if utf8.RuneCountInString(m.ref()) > maxRef {
		m.Ref = nil
		return m, wire.Invalid("ref is longer than %d characters", maxRef)
	}
	if m.Type == "pulse" || m.Type == "pointer" {
		err = wire.Decode(payload, &m.given)
	}
	return m, err
}

// wanted turns a message that is to be stored into what the actor is to do;
// nil when the message is of another kind.
func (m *inbound) wanted() (codelab.Body, error) {
	switch m.Type {
	case "chat", "dm":
		if m.Message == nil {
			return nil, wire.Invalid("message is required")
		}
		p := codelab.PostChat{Message: *m.Message}
		if m.Type == "dm" {
			if m.TargetID == nil || *m.TargetID == "" {
				return nil, wire.Invalid("target_id is required")
			}
			p.TargetID = *m.TargetID
		}
		return p, nil
	case "step_progress":
		if m.StepNumber == nil {
			return nil, wire.Invalid("step_number is required")
		}
		return codelab.Progress{StepNumber: *m.StepNumber}, nil
	}
	return m.teaching()
}

// isSignal says that a message is relayed and not stored.
func isSignal(kind string) bool {
	return kind == "screen_share_status" || kind == "attendee_screen_status" || kind == "webrtc_signal"
}

var errUnknownType = wire.Invalid("unknown type")

// relay passes a signal on: the status of a facilitator's screen to all, of
// an attendee's screen to the facilitators, WebRTC signals to their target.
func (g *Gateway) relay(w codelab.Workshop, who *codelab.Caller, kind string, m *inbound, payload []byte) error {
	if len(payload) > maxSignal {
		return wire.Invalid("the message is larger than %d bytes", maxSignal)
	}
	admin := who.Role == codelab.RoleAdmin
	if v := w.View(); !admin && !v.Stands(who.ID, who.Generation) {
		return errWrongGrant
	} else if !admin && v.Attendee(who.ID).Muted {
		return codelab.ErrMuted
	}
	if kind == "screen_share_status" && !admin {
		return durable.Reject(durable.Forbidden, "only facilitators share their screen with everyone")
	}
	if kind == "attendee_screen_status" && admin {
		return durable.Reject(durable.Forbidden, "this message is for attendees")
	}
	out, err := stamped(payload, who, nameOf(w, who))
	if err != nil {
		return err
	}
	target := ""
	if m.TargetID != nil {
		target = *m.TargetID
	}
	delivered := true
	switch {
	case kind == "screen_share_status", kind == "webrtc_signal" && target == "" && admin:
		w.Room.Transient(room.Frame{Audience: room.Everyone, Payload: out})
	case kind == "attendee_screen_status", target == "", target == codelab.FacilitatorID:
		delivered = g.Hub.SendFacilitators(w.Room, out)
	case w.View().Attendee(target) == nil:
		return wire.Invalid("target_id is nobody in this codelab")
	default:
		delivered = g.Hub.SendPerson(w.Room, target, out)
	}
	if !delivered {
		return durable.ErrBusy
	}
	return nil
}

// stamped is the client's message with who really sent it, whatever it says
// itself.
func stamped(payload []byte, who *codelab.Caller, name string) ([]byte, error) {
	fields := map[string]json.RawMessage{}
	if err := wire.Codec.Unmarshal(payload, &fields); err != nil {
		return nil, wire.Invalid("the body is not valid JSON")
	}
	for _, ours := range []string{"ref", "seq", "ts", "attendee_id", "attendee_name"} {
		delete(fields, ours)
	}
	fields["sender"], fields["sender_id"] = encode(name), encode(who.ID)
	if who.Role != codelab.RoleAdmin {
		fields["attendee_id"], fields["attendee_name"] = fields["sender_id"], fields["sender"]
	}
	// RawMessage may refer to the payload, which is the loop's buffer.
	return bytes.Clone(encode(fields)), nil
}

// textOf is what a client is told of an error on its connection.
func textOf(err error) string {
	var rejected *durable.Rejection
	switch {
	case errors.As(err, &rejected):
		return rejected.Text
	case errors.Is(err, durable.ErrReadOnly):
		return "the server is read-only for now: its disk is nearly full"
	case errors.Is(err, durable.ErrInternal):
		return "internal error"
	}
	return "this cannot be recorded right now; try again"
}
