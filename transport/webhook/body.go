package webhook

import (
	"fmt"

	hooks "atelier/actors/webhook"
	"atelier/transport/wire"
)

// body is the body that a receiver gets. Its data is described for each event in the OpenAPI
// document, under webhooks.
type body struct {
	ID        string  `json:"id"`
	Type      string  `json:"type"`
	At        string  `json:"at"`
	CodelabID *string `json:"codelab_id"`
	Data      any     `json:"data"`
}

// attendee is the person of an event. The name is null unless the webhook asks for names,
// and once the attendee is removed.
type attendee struct {
	AttendeeID   string  `json:"attendee_id"`
	AttendeeName *string `json:"attendee_name"`
}

// token is the data of a token event.
type token struct {
	Environment   string `json:"environment"`
	ParticipantID string `json:"participant_id"`
	By            string `json:"by"`
	CheckoutID    string `json:"checkout_id"`
	Policy        string `json:"policy"`
}

// encode makes the body of a delivery; name returns the name of an attendee, or "".
func encode(d *hooks.Delivery, name func(codelab, attendee string) string) ([]byte, error) {
	x := d.Data
	who := func() attendee {
		a := attendee{AttendeeID: x.AttendeeId}
		if n := name(d.CodelabId, x.AttendeeId); n != "" {
			a.AttendeeName = &n
		}
		return a
	}
	b := body{ID: d.Id, Type: d.Type, At: wire.Stamp(d.At)}
	if d.CodelabId != "" {
		b.CodelabID = &d.CodelabId
	}
	switch d.Type {
	case hooks.AttendeeRegistered, hooks.AttendeeCompleted:
		b.Data = who()
	case hooks.HelpRequested:
		b.Data = struct {
			HelpID string `json:"help_id"`
			attendee
			StepNumber int32 `json:"step_number"`
		}{x.HelpId, who(), x.StepNumber}
	case hooks.WorkshopEnded:
		b.Data = struct {
			Attendees int32 `json:"attendees"`
			Completed int32 `json:"completed"`
		}{x.Attendees, x.Completed}
	case hooks.CheckReported:
		b.Data = struct {
			attendee
			Check string `json:"check"`
			OK    bool   `json:"ok"`
		}{who(), x.Check, x.Ok}
	case hooks.TokenUsed, hooks.TokenReused, hooks.TokenLocked:
		b.Data = token{x.Environment, x.ParticipantId, x.By, x.CheckoutId, x.Policy}
	case hooks.Test:
		b.Data = struct{}{}
	default:
		return nil, fmt.Errorf("no body is known for the event %q", d.Type)
	}
	return wire.Codec.Marshal(b)
}
