package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"atelier/transport/describe"
	deliveries "atelier/transport/webhook"
)

// occasion is the description of an event in a piece. The members of its data follow from their
// type.
type occasion struct {
	Summary     string         `json:"summary"`
	Description string         `json:"description"`
	Data        map[string]any `json:"data"` // an example
}

// signed lists a delivery's headers.
var signed = []any{
	header("webhook-id", "", "The id of the delivery, as in the body."),
	header("webhook-timestamp", "^[0-9]+$", "The time of this attempt, in Unix seconds. Refuse deliveries that are older than five minutes."),
	header("webhook-signature", "^v1,[A-Za-z0-9+/]{43}=$", "`v1,` and the Base64 of HMAC-SHA256 over `webhook-id.webhook-timestamp.body` (Standard Webhooks)."),
}

func header(name, pattern, about string) any {
	return map[string]any{
		"name": name, "in": "header", "required": true, "description": about, "schema": &describe.Schema{Type: "string", Pattern: pattern},
	}
}

// describeWebhooks describes the delivery of each event in full. Deliveries have no components of
// their own, because client generators omit components to which no path leads, but still refer to
// them.
func (d *description) describeWebhooks(words vocabulary) error {
	for event, piece := range d.Webhooks {
		var o occasion
		dec := json.NewDecoder(bytes.NewReader(piece))
		dec.DisallowUnknownFields() // otherwise an unknown field would be lost
		if err := dec.Decode(&o); err != nil {
			return fmt.Errorf("webhook %s: %w", event, err)
		}
		operation := map[string]any{
			"operationId": "on" + describe.CamelCase(event), "tags": []string{"webhooks"}, "summary": o.Summary, "description": o.Description,
			"parameters": signed, "security": []any{},
			"requestBody": map[string]any{"required": true, "content": map[string]any{
				"application/json": map[string]any{"schema": delivery(words, event, &o)},
			}},
			"responses": map[string]any{"2XX": map[string]any{
				"description": "Accepted. Any other status, including a redirect, is a failure, and the delivery is tried again.",
			}},
		}
		text, err := encoded(map[string]any{"post": operation})
		if err != nil {
			return err
		}
		d.Webhooks[event] = text
	}
	return nil
}

// delivery returns the schema of an event delivery's body.
func delivery(words vocabulary, event string, o *occasion) any {
	data, ofCodelab := deliveries.Data(event)
	body, content := describe.Of(words, reflect.TypeFor[deliveries.Body](), false), describe.Of(words, data, false)
	body.Description, content.Description = "A delivery.", o.Summary+"."
	example := map[string]any{
		"id": "019a3f65-6d4e-7b99-8f10-2b3c4d5e6f0a", "type": event, "at": "2026-01-23T09:00:00.000Z", "codelab_id": nil, "data": o.Data,
	}
	codelab := &describe.Schema{Type: []string{"string", "null"}, Description: "null: a token belongs to no codelab."}
	if ofCodelab {
		example["codelab_id"] = "019a3f65-6d4e-7b99-8f10-2b3c4d5e6f02"
		codelab = describe.Ref("Id")
	}
	body.Properties.Set("type", &describe.Schema{Type: "string", Const: event})
	body.Properties.Set("codelab_id", codelab)
	body.Properties.Set("data", content)
	content.Examples, body.Examples = []any{o.Data}, []any{example}
	return body
}
