package messages

import (
	"bytes"
	"encoding/json"
	"fmt"

	"atelier/actors/codelab"
	"atelier/actors/durable"
	"atelier/actors/room"
	"atelier/transport/describe"
	"atelier/transport/wire"
)

// maxSignal bounds a relayed message, in bytes.
const maxSignal = 64 << 10

type sentSignal struct {
	Type string `json:"type"`
	Ref  string `json:"ref,omitempty" is:"Ref"`
}

type sentSignalTo struct {
	Type     string `json:"type"`
	TargetID string `json:"target_id,omitempty" is:"Person"`
	Ref      string `json:"ref,omitempty" is:"Ref"`
}

var relayedText = fmt.Sprintf("The client's content, at most %d KiB, with the verified sender.", maxSignal>>10)

// signal is a client's relayed message, with its verified sender.
type signal struct {
	Type         string              `json:"type"`
	Sender       string              `json:"sender"`
	SenderID     string              `json:"sender_id" is:"Person"`
	AttendeeID   string              `json:"attendee_id,omitempty" is:"Id" doc:"The sender's id when the sender is an attendee."`
	AttendeeName string              `json:"attendee_name,omitempty"`
	TargetID     string              `json:"target_id,omitempty" is:"Person"`
	Ref          *describe.Forbidden `json:"ref,omitempty"`
	Seq          *describe.Forbidden `json:"seq,omitempty"`
	TS           *describe.Forbidden `json:"ts,omitempty"`
}

// attendeeSignal is a signal that only attendees send.
type attendeeSignal struct {
	Type         string              `json:"type"`
	Sender       string              `json:"sender"`
	SenderID     string              `json:"sender_id" is:"Person"`
	AttendeeID   string              `json:"attendee_id" is:"Id" doc:"The sender's id when the sender is an attendee."`
	AttendeeName string              `json:"attendee_name"`
	TargetID     string              `json:"target_id,omitempty" is:"Person"`
	Ref          *describe.Forbidden `json:"ref,omitempty"`
	Seq          *describe.Forbidden `json:"seq,omitempty"`
	TS           *describe.Forbidden `json:"ts,omitempty"`
}

// relay forwards a signal. The status of a facilitator's screen goes to everybody, the status of an
// attendee's screen to the facilitators, and a WebRTC signal to its target. Without a target, a
// WebRTC signal goes from a facilitator to everybody, and from an attendee to the facilitators. An
// attendee can send it to no other target. relay returns durable.ErrBusy if a loop's queue is full.
func (g *Gateway) relay(w codelab.Codelab, who *codelab.Caller, kind string, m *inbound, payload []byte) error {
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
		return durable.Reject(durable.Forbidden, "only facilitators can share their screen with everyone")
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
		w.Room.Broadcast(room.Frame{Audience: room.Everyone, Payload: out})
	case kind == "attendee_screen_status", target == "", target == codelab.FacilitatorID:
		delivered = g.Hub.SendFacilitators(w.Room, out)
		w.Signal("", out)
	case !admin:
		return durable.Reject(durable.Forbidden, "attendees can send signals to facilitators only")
	case w.View().Attendee(target) == nil:
		return wire.Invalid("target_id is not a person in this codelab")
	default:
		delivered = g.Hub.SendPerson(w.Room, target, out)
		if w.Room.IsElsewhere(target) {
			w.Signal(target, out)
			delivered = delivered || w.Room.Sessions(target) == 0
		}
	}
	if !delivered {
		return durable.ErrBusy
	}
	return nil
}

// stamped returns the client's message with its real sender, which replaces any sender in the
// message. It removes the ref and other members that only the server can set.
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
	// RawMessage can refer to the payload, which is the loop's buffer.
	return bytes.Clone(encode(fields)), nil
}
