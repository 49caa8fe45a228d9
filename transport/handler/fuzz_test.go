package handler

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/audit"
	"atelier/actors/clock"
	"atelier/actors/durable"
	"atelier/actors/participant"
	"atelier/actors/token"
	"atelier/actors/token/seal"
	"atelier/persistence/memory"
	"atelier/persistence/shares"
)

// stage is a handler with one participant that has all permissions.
type stage struct {
	*Handler
	log        bytes.Buffer
	id, secret string
}

func newStage(t testing.TB) *stage {
	journal, system := memory.New(), durable.NewSystem()
	audit := audit.New(journal, clock.System, time.Hour)
	s := &stage{}
	logger := slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	kept, err := shares.Open(shares.Options{Dir: t.TempDir(), Longest: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	open := func(e seal.Environment) *token.Vault {
		v, err := token.NewVault(token.Options{
			Environment: e, System: system, Journal: journal, Audit: audit, Stream: "s", Logger: logger, Shares: kept,
			Keys: []seal.Key{{Version: 1, Material: make([]byte, seal.MaterialBytes)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	people, err := durable.NewHost(system, journal, participant.Kind(audit), durable.Options{IdleAfter: -1})
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{
		Production: open(seal.Production), Sandbox: open(seal.Sandbox), Participants: people,
		Document: Document{Name: "com.example.handler"}, DefaultPolicy: "ttl", DefaultLife: token.DefaultLife, Tokenize: true, Detokenize: true,
		ClientIP: func(*fasthttp.RequestCtx) string { return "127.0.0.1" }, Now: time.Now, Logger: logger,
	}
	if s.Handler, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for _, close := range []func(context.Context) error{cfg.Production.Close, cfg.Sandbox.Close, people.Close} {
			if err := close(ctx); err != nil {
				t.Error(err)
			}
		}
		_, _ = kept.Close(), journal.Close()
	})
	h, err := people.Get(participant.ID)
	if err != nil {
		t.Fatal(err)
	}
	keyID, secret, hash := participant.NewKey(participant.Production)
	v, _, err := h.Ask(participant.Command{Body: participant.Add{
		Name: "Everybody", Kind: "psp", Scopes: []string{"tokenize", "detokenize"}, Identity: "me", KeyID: keyID, SecretHash: hash,
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.id, s.secret = v.(*participant.Participant).Id, string(secret)
	if _, _, err := h.Ask(participant.Command{Body: participant.Acknowledge{ID: s.id, Version: "1"}}); err != nil {
		t.Fatal(err)
	}
	return s
}

// ask serves one request as the server would.
func (s *stage) ask(method, path, authorization, contentType string, body []byte) (int, string) {
	var ctx fasthttp.RequestCtx
	ctx.Init(&fasthttp.Request{}, nil, nil)
	ctx.Request.Header.SetMethod(method)
	ctx.Request.SetRequestURI(path)
	ctx.Request.Header.SetContentType(contentType)
	if authorization != "" {
		ctx.Request.Header.Set("Authorization", authorization)
	}
	ctx.Request.SetBody(body)
	if !s.Handle(&ctx) {
		return 0, ""
	}
	return ctx.Response.StatusCode(), string(ctx.Response.Body())
}

// wellFormed fails the test unless the interface defines this response.
func wellFormed(t *testing.T, status int, body string) {
	t.Helper()
	switch status {
	case 200, 204:
		return
	case 400, 401, 403, 404, 405, 409, 410, 413, 415, 422:
	default:
		t.Fatalf("status %d with the body %s", status, body)
	}
	var e struct{ Code, Content string }
	if err := json.Unmarshal([]byte(body), &e); err != nil || e.Code == "" || e.Content == "" {
		t.Fatalf("status %d with the body %s", status, body)
	}
}

const goodBody = `{"credential":{"type":"card","card_number_type":"fpan","number":"4242424242424242","expiry_month":1,"expiry_year":2031,"cvc":"123"},"binding":{"checkout_id":"c"}}`

// FuzzRequestBodies sends any body to the operations that accept one. An accepted credential is
// returned as it was sent. The log never contains the card number.
func FuzzRequestBodies(f *testing.F) {
	s := newStage(f)
	f.Add([]byte(goodBody))
	f.Add([]byte(`{"token":"tok_live_","binding":{"checkout_id":"c","identity":{"access_token":"me"}}}`))
	f.Add([]byte(`{"credential":{"type":"card","number":4242424242424242424242},"binding":{}}`))
	f.Add([]byte(`{"binding":{"checkout_id":"c","type":"dev.commerce.checkout","id":"c"},"credential":{"type":"pan"}}`))
	f.Add([]byte("{\"a\":\"\xff\"}"))
	f.Add([]byte(`[[[[[[[[[[`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, op := range []string{"detokenize", "revoke", "introspect", "sessions/c1/end"} {
			status, answer := s.ask("POST", "/handler/"+op, "Bearer "+s.secret, "application/json", body)
			wellFormed(t, status, answer)
		}
		status, answer := s.ask("POST", "/handler/tokenize", "Bearer "+s.secret, "application/json", body)
		wellFormed(t, status, answer)
		if status != 200 {
			return
		}
		var in struct {
			Credential json.RawMessage `json:"credential"`
			Binding    json.RawMessage `json:"binding"`
		}
		var out struct{ Token string }
		if json.Unmarshal(body, &in) != nil || json.Unmarshal([]byte(answer), &out) != nil {
			t.Fatal("a body that is not JSON was accepted")
		}
		back, _ := json.Marshal(map[string]any{"token": out.Token, "binding": in.Binding})
		if status, answer = s.ask("POST", "/handler/detokenize", "Bearer "+s.secret, "application/json", back); status == 200 && answer != strings.TrimSpace(string(in.Credential)) {
			t.Fatal("detokenize returned another credential")
		}
		if strings.Contains(s.log.String(), "42424242") {
			t.Fatal("the log contains a card number")
		}
	})
}

// FuzzBearerHeader sends any Authorization header. Only the secret is accepted.
func FuzzBearerHeader(f *testing.F) {
	s := newStage(f)
	f.Add("Bearer " + s.secret)
	f.Add("bearer  " + s.secret)
	f.Add("Basic " + s.secret)
	f.Add("Bearer eyJhbGciOiJub25lIiwia2lkIjoiMSJ9.eyJzdWIiOiJ4In0.")
	f.Add("Bearer ak_live_0123456789abcdef_")
	f.Add("Bearer \x00")
	f.Fuzz(func(t *testing.T, header string) {
		status, answer := s.ask("POST", "/handler/introspect", header, "application/json", []byte(`{"token":"x","binding":{"checkout_id":"c"}}`))
		wellFormed(t, status, answer)
		if status != 401 && !strings.Contains(header, s.secret) {
			t.Fatalf("a request without the secret returned %d, want 401", status)
		}
	})
}

// FuzzOAuthForm sends any form to the token endpoint.
func FuzzOAuthForm(f *testing.F) {
	s := newStage(f)
	f.Add(url.Values{"grant_type": {"client_credentials"}, "client_id": {s.id}, "client_secret": {s.secret}}.Encode(), "")
	f.Add("grant_type=client_credentials&grant_type=x", "")
	f.Add("grant_type=client_credentials", "Basic eDp5")
	f.Add("%zz=&;", "Basic ====")
	f.Fuzz(func(t *testing.T, form, authorization string) {
		status, answer := s.ask("POST", "/handler/oauth/token", authorization, "application/x-www-form-urlencoded", []byte(form))
		wellFormed(t, status, answer)
		values, _ := url.ParseQuery(form)
		if status == 200 && values.Get("client_secret") != s.secret && !strings.HasPrefix(strings.ToLower(authorization), "basic ") {
			t.Fatal("a form without the secret received an access token")
		}
		if status != 200 && strings.Contains(answer, s.secret) {
			t.Fatal("the response repeats the secret")
		}
	})
}

func TestOtherPathsAreNotHandled(t *testing.T) {
	s := newStage(t)
	for _, path := range []string{"/handlers", "/", "/sandbox", "/api/handler", "/handler.json"} {
		if status, _ := s.ask("GET", path, "", "", nil); status != 0 {
			t.Errorf("the path %s got status %d, want it left to others", path, status)
		}
	}
}
