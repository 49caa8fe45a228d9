package rest

import (
	"context"

	"atelier/actors/codelab"
	"atelier/actors/webhook"
	"atelier/transport/wire"
)

type webhookRecord struct {
	ID       string       `json:"id" is:"Id"`
	URL      string       `json:"url"`
	Events   []string     `json:"events" items:"1..8" unique:"true" is:"WebhookEvent"`
	Codelabs []string     `json:"codelabs" is:"Id"`
	Names    bool         `json:"names"`
	State    string       `json:"state" enum:"active|stopped" doc:"«stopped» after 20 consecutive failed attempts. Further events are not stored for it until it is resumed."`
	Failures uint32       `json:"failures" doc:"Failed attempts since the last success."`
	Last     *webhookLast `json:"last" doc:"The last attempt, or null."`
}

type webhookLast struct {
	At     string `json:"at" is:"Timestamp"`
	Status int32  `json:"status" range:"0..999" doc:"The status of the response. 0 if there was none; the server's log contains the reason."`
}

type webhookCreateBody struct {
	URL      *string  `json:"url" length:"1..2000" doc:"An address with «https://», without user name, password and fragment. Its name is resolved for each delivery. Private, loopback and link-local addresses are refused, unless «[webhooks] allow_private» is set."`
	Events   []string `json:"events" items:"1..8" unique:"true" is:"WebhookEvent"`
	Codelabs []string `json:"codelabs,omitempty" items:"..100" is:"Id" doc:"Send only events of these codelabs. If empty or omitted, those of all codelabs. Events of tokens do not belong to a codelab and are always sent."`
	Names    bool     `json:"names,omitempty" doc:"Whether events contain the names of attendees. The default is false."`
}

type newWebhookRecord struct {
	ID     string `json:"id" is:"Id"`
	Secret string `json:"secret" pattern:"^whsec_[A-Za-z0-9+/]{43}=$" doc:"The secret to verify signatures. The key of the HMAC is the part after «whsec_», decoded from Base64."`
}

func createWebhook(r *Request) error {
	var in webhookCreateBody
	if err := r.decode(&in); err != nil {
		return err
	}
	secret, sealed := r.api.WebhookSender.NewSecret()
	id, err := r.api.Webhooks.Create(r.adminCaller(), webhook.Create{
		URL: *in.URL, Events: in.Events, Codelabs: in.Codelabs, Names: in.Names, Secret: sealed,
	})
	if err != nil {
		return err
	}
	return r.JSON(newWebhookRecord{id, secret})
}

func listWebhooks(r *Request) error {
	all, err := r.api.Webhooks.All()
	if err != nil {
		return err
	}
	out := []webhookRecord{}
	for _, h := range all {
		w := webhookRecord{
			ID: h.Id, URL: h.Url, Events: h.Events, Codelabs: append([]string{}, h.Codelabs...), Names: h.Names,
			State: h.State(), Failures: h.Failures,
		}
		if h.LastAt != 0 {
			w.Last = &webhookLast{wire.Stamp(h.LastAt), h.LastStatus}
		}
		out = append(out, w)
	}
	return r.JSON(out)
}

type webhookTry struct {
	ID     string  `json:"id" is:"Id"`
	Type   string  `json:"type" doc:"The event, or «test»."`
	At     string  `json:"at" is:"Timestamp"`
	Status *int32  `json:"status" range:"100..999" doc:"The status of the response, or null if there was none."`
	TookMS int32   `json:"took_ms"`
	Try    uint32  `json:"try" range:"1.." doc:"The number of the attempt of this delivery, from 1."`
	Error  *string `json:"error" enum:"refused_address|timeout|redirect|tls|connect" doc:"«refused_address» means an address in the server's own network. «timeout» means no response within ten seconds. «redirect» means a redirect, which is not followed. «tls» means an untrusted connection. «connect» means any other failure to connect. Null if there was a response of any status, or if the server itself could not send. In the latter case its log contains the reason."`
}

func webhookDeliveries(r *Request) error {
	tries, err := r.api.Webhooks.Tries(r.Param("webhook_id"))
	if err != nil {
		return err
	}
	out := make([]webhookTry, len(tries))
	for i, t := range tries {
		out[i] = webhookTry{ID: t.Id, Type: t.Type, At: wire.Stamp(t.At), TookMS: t.TookMs, Try: t.Number, Error: wire.OrNull(t.Error)}
		if t.Status != 0 {
			out[i].Status = &t.Status
		}
	}
	return r.JSON(out)
}

func deleteWebhook(r *Request) error {
	if err := r.api.Webhooks.Delete(r.adminCaller(), r.Param("webhook_id")); err != nil {
		return err
	}
	return r.NoContent()
}

type webhookTested struct {
	Status int32 `json:"status" range:"0..999" doc:"The status of the response. 0 if there was none; the server's log contains the reason."`
}

func testWebhook(r *Request) error {
	// The delivery has its own time limit. The request cannot be its context: fasthttp replaces the
	// context's channel when the server has stopped, while the HTTP client can still read it.
	status, err := r.api.Webhooks.Test(context.Background(), r.Param("webhook_id"), r.api.WebhookSender.Send)
	if err != nil {
		return err
	}
	return r.JSON(webhookTested{status})
}

func resumeWebhook(r *Request) error {
	if err := r.api.Webhooks.Resume(r.adminCaller(), r.Param("webhook_id")); err != nil {
		return err
	}
	return r.NoContent()
}

// AttendeeName returns a function that returns an attendee's name, or "" if the attendee does not
// exist or the name cannot be determined now.
func AttendeeName(codelabs codelab.Directory) func(lab, attendee string) string {
	return func(lab, attendee string) string {
		w, err := codelabs.Get(lab)
		if err != nil {
			return ""
		}
		return w.View().Attendee(attendee).GetName()
	}
}
