package handler

import (
	"errors"
	"testing"

	"github.com/valyala/fasthttp"

	"atelier/actors/participant"
	"atelier/transport/httpapi"
)

// If another node has just admitted a participant and this node has stale data, a refusal is
// checked again.
func TestStaleViewsRefuseNoNewParticipant(t *testing.T) {
	s := newStage(t)
	h, err := s.Participants.Get(participant.ID)
	if err != nil {
		t.Fatal(err)
	}
	do := func(body participant.Body) any {
		t.Helper()
		v, _, err := h.Ask(participant.Command{Body: body})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	nobody := h.View()
	keyID, secret, hash := participant.NewKey(participant.Production)
	do(participant.Add{Name: "New", Kind: "psp", Scopes: []string{"detokenize"}, Identity: "new", KeyID: keyID, SecretHash: hash})
	known := h.View()
	callFrom := func(view *participant.View) *call {
		ctx := &fasthttp.RequestCtx{}
		ctx.Request.Header.Set("Authorization", "Bearer "+string(secret))
		return &call{Exchange: httpapi.Alone(ctx, httpapi.Endpoint{}), base: s.bases[0], view: view}
	}
	if err := callFrom(nobody).admit("detokenize"); err != nil {
		t.Errorf("a new key is refused: %v", err)
	}
	if err := callFrom(nobody).admit("tokenize"); !errors.Is(err, errScope) {
		t.Errorf("a request outside the scopes of a new key returned %v, want errScope", err)
	}
	name := "new"
	c := callFrom(known)
	if err := c.admit("detokenize"); err != nil {
		t.Fatal(err)
	}
	if err := c.receives(); !errors.Is(err, errNotAcked) {
		t.Errorf("before the acknowledgement, receives returned %v, want errNotAcked", err)
	}
	do(participant.Acknowledge{ID: c.who.Id, Version: "1"})
	if err := c.receives(); err != nil {
		t.Errorf("after the acknowledgement, receives returned %v", err)
	}
	c = callFrom(known)
	if err := c.identify(); err != nil {
		t.Fatal(err)
	}
	c.view = nobody
	if p, err := c.named(&identity{AccessToken: &name}); err != nil || p == nil || p.Id != c.who.Id {
		t.Errorf("for a new identity, named returned %v, %v", p, err)
	}
}
