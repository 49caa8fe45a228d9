package webhook

import (
	"fmt"
	"reflect"

	hooks "atelier/actors/webhook"
	"atelier/transport/wire"
)

// Body is the body of a delivery.
type Body struct {
	ID        string  `json:"id" is:"Id" doc:"The same for each attempt and each webhook of the event: use it to detect deliveries that arrive twice."`
	Type      string  `json:"type"`
	At        string  `json:"at" is:"Timestamp"`
	CodelabID *string `json:"codelab_id" is:"Id"`
	Data      any     `json:"data"` // see the function Data
}

// attendee is the subject of an event.
type attendee struct {
	AttendeeID   string  `json:"attendee_id" is:"Id"`
	AttendeeName *string `json:"attendee_name" doc:"Null if the webhook does not have «names», or if the attendee has been removed."`
}

type helpRequested struct {
	HelpID string `json:"help_id" is:"Id"`
	attendee
	StepNumber int32 `json:"step_number" range:"1.."`
}

type workshopEnded struct {
	Attendees int32 `json:"attendees"`
	Completed int32 `json:"completed" doc:"Attendees who completed the codelab."`
}

type checkReported struct {
	attendee
	Check string `json:"check" doc:"The name that the step declares."`
	OK    bool   `json:"ok"`
}

type token struct {
	Environment   string `json:"environment" enum:"production|sandbox"`
	ParticipantID string `json:"participant_id" is:"Id" doc:"The participant that the token is bound to."`
	By            string `json:"by" is:"Id" doc:"The participant that made the request: the one in participant_id, or one of its delegates."`
	CheckoutID    string `json:"checkout_id" doc:"The checkout that the caller named."`
	Policy        string `json:"policy" is:"TokenPolicy"`
}

// Data returns the type of an event's data in a delivery, and whether the event belongs to a
// codelab. It panics for events to which webhooks cannot subscribe.
func Data(event string) (data reflect.Type, ofCodelab bool) {
	switch event {
	case hooks.AttendeeRegistered, hooks.AttendeeCompleted:
		return reflect.TypeFor[attendee](), true
	case hooks.HelpRequested:
		return reflect.TypeFor[helpRequested](), true
	case hooks.WorkshopEnded:
		return reflect.TypeFor[workshopEnded](), true
	case hooks.CheckReported:
		return reflect.TypeFor[checkReported](), true
	case hooks.TokenUsed, hooks.TokenReused, hooks.TokenLocked:
		return reflect.TypeFor[token](), false
	}
	panic("no data is known for the event " + event)
}

// encode returns the body of a delivery. name returns an attendee's name, or "".
func encode(d *hooks.Delivery, name func(codelab, attendee string) string) ([]byte, error) {
	x := d.Data
	who := func() attendee {
		a := attendee{AttendeeID: x.AttendeeId}
		if n := name(d.CodelabId, x.AttendeeId); n != "" {
			a.AttendeeName = &n
		}
		return a
	}
	b := Body{ID: d.Id, Type: d.Type, At: wire.Stamp(d.At)}
	if d.CodelabId != "" {
		b.CodelabID = &d.CodelabId
	}
	switch d.Type {
	case hooks.AttendeeRegistered, hooks.AttendeeCompleted:
		b.Data = who()
	case hooks.HelpRequested:
		b.Data = helpRequested{x.HelpId, who(), x.StepNumber}
	case hooks.WorkshopEnded:
		b.Data = workshopEnded{x.Attendees, x.Completed}
	case hooks.CheckReported:
		b.Data = checkReported{who(), x.Check, x.Ok}
	case hooks.TokenUsed, hooks.TokenReused, hooks.TokenLocked:
		b.Data = token{x.Environment, x.ParticipantId, x.By, x.CheckoutId, x.Policy}
	case hooks.Test:
		b.Data = struct{}{}
	default:
		return nil, fmt.Errorf("no body is known for the event %q", d.Type)
	}
	return wire.Codec.Marshal(b)
}
