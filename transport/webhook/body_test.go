package webhook

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	hooks "atelier/actors/webhook"
)

// The data of a delivery matches the document, which is generated from the types of Data.
func TestADeliveryHasTheDescribedData(t *testing.T) {
	all := &hooks.Data{
		AttendeeId: "a1", HelpId: "h1", StepNumber: 2, Attendees: 24, Completed: 19, Check: "build", Ok: true,
		Environment: "production", ParticipantId: "p1", By: "p2", CheckoutId: "c1", Policy: "single_use",
	}
	for _, event := range hooks.Events {
		described, ofCodelab := Data(event)
		d := &hooks.Delivery{Id: "d", Type: event, At: 1_799_999_990_000, Data: all}
		if ofCodelab {
			d.CodelabId = "lab"
		}
		text, err := encode(d, func(_, _ string) string { return "Lin" })
		if err != nil {
			t.Fatalf("encoding %s returned %v", event, err)
		}
		var sent struct {
			CodelabID *string         `json:"codelab_id"`
			Data      json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(text, &sent); err != nil {
			t.Fatal(err)
		}
		if (sent.CodelabID != nil) != ofCodelab {
			t.Errorf("%s: the body has a codelab_id: %t", event, sent.CodelabID != nil)
		}
		back := reflect.New(described)
		dec := json.NewDecoder(bytes.NewReader(sent.Data))
		dec.DisallowUnknownFields()
		if err := dec.Decode(back.Interface()); err != nil {
			t.Fatalf("the data of %s does not match its description: %v", event, err)
		}
		again, err := json.Marshal(back.Interface())
		if err != nil || !bytes.Equal(again, sent.Data) {
			t.Errorf("%s: described as %s, sent as %s: %v", event, again, sent.Data, err)
		}
	}
}

func TestEachEventHasItsBody(t *testing.T) {
	x := &hooks.Data{
		AttendeeId: "a1", HelpId: "h1", StepNumber: 2, Attendees: 24, Completed: 19, Check: "build",
		Environment: "production", ParticipantId: "p1", By: "p2", CheckoutId: "c1", Policy: "single_use",
	}
	lin, of := `"attendee_id":"a1","attendee_name":"Lin"`, `{"environment":"production","participant_id":"p1","by":"p2","checkout_id":"c1","policy":"single_use"}`
	for event, want := range map[string]string{
		hooks.AttendeeRegistered: "{" + lin + "}", hooks.AttendeeCompleted: "{" + lin + "}", hooks.HelpRequested: `{"help_id":"h1",` + lin + `,"step_number":2}`,
		hooks.WorkshopEnded: `{"attendees":24,"completed":19}`, hooks.CheckReported: "{" + lin + `,"check":"build","ok":false}`,
		hooks.TokenUsed: of, hooks.TokenReused: of, hooks.TokenLocked: of, hooks.Test: "{}",
	} {
		text, err := encode(&hooks.Delivery{Id: "d", Type: event, At: 1_799_999_990_000, CodelabId: "lab", Data: x}, func(codelab, attendee string) string {
			return map[string]string{"lab a1": "Lin"}[codelab+" "+attendee]
		})
		if want = `{"id":"d","type":"` + event + `","at":"2027-01-15T07:59:50.000Z","codelab_id":"lab","data":` + want + "}"; err != nil || string(text) != want {
			t.Errorf("%s is sent as %s, want %s: %v", event, text, want, err)
		}
	}
}
