package webhook

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	hooks "atelier/actors/webhook"
)

// TestADeliveryHasTheDataThatIsDescribed: the document is made of the types of Data.
func TestADeliveryHasTheDataThatIsDescribed(t *testing.T) {
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
			t.Fatalf("%s: %v", event, err)
		}
		var sent struct {
			CodelabID *string         `json:"codelab_id"`
			Data      json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(text, &sent); err != nil {
			t.Fatal(err)
		}
		if (sent.CodelabID != nil) != ofCodelab {
			t.Errorf("%s: codelab_id is there: %t", event, sent.CodelabID != nil)
		}
		back := reflect.New(described)
		dec := json.NewDecoder(bytes.NewReader(sent.Data))
		dec.DisallowUnknownFields()
		if err := dec.Decode(back.Interface()); err != nil {
			t.Fatalf("%s: %v", event, err)
		}
		again, err := json.Marshal(back.Interface())
		if err != nil || !bytes.Equal(again, sent.Data) {
			t.Errorf("%s: described as %s, sent as %s: %v", event, again, sent.Data, err)
		}
	}
}
