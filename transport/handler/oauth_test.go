package handler

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"testing"
	"time"
)

const form = "application/x-www-form-urlencoded"

func TestRefusedClientsAreCountedAsRefused(t *testing.T) {
	s := newStage(t)
	var result string
	s.Observe = func(_, _, r string, _ time.Duration) { result = r }
	for body, want := range map[string]string{
		"grant_type=client_credentials&client_id=x&client_secret=y": "unauthorized",
		"grant_type=password": "invalid_request",
		"grant_type=client_credentials&client_id=" + s.id + "&client_secret=" + s.secret: "ok",
	} {
		s.ask("POST", "/handler/oauth/token", "", form, []byte(body))
		if result != want {
			t.Errorf("counted as %q, want %q", result, want)
		}
	}
}

// If a client sends its id in two ways, the two ids must be the same.
func TestAClientHasOneID(t *testing.T) {
	s := newStage(t)
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(s.id+":"+s.secret))
	for id, want := range map[string]int{"": 200, s.id: 200, "another": 400} {
		if got, body := s.ask("POST", "/handler/oauth/token", basic, form, []byte("grant_type=client_credentials&client_id="+id)); got != want {
			t.Errorf("with client_id=%s in the form: status %d, %s", id, got, body)
		}
	}
}

// The test requests no scope, each of the two scopes, and both.
func TestAnAccessTokenIsLimitedToItsScopes(t *testing.T) {
	s := newStage(t)
	bearer := func(scope string) (string, string) {
		form := url.Values{"grant_type": {"client_credentials"}, "client_id": {s.id}, "client_secret": {s.secret}}
		if scope != "" {
			form.Set("scope", scope)
		}
		status, body := s.ask("POST", "/handler/oauth/token", "", "application/x-www-form-urlencoded", []byte(form.Encode()))
		var got struct {
			AccessToken string `json:"access_token"`
			Scope       string `json:"scope"`
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 {
			t.Fatalf("the token endpoint returned %d: %v", status, err)
		}
		return "Bearer " + got.AccessToken, got.Scope
	}
	use := []byte(`{"token":"none","binding":{"checkout_id":"c"}}`)
	for _, c := range []struct {
		asked, granted       string
		tokenize, detokenize int
	}{
		{"", "tokenize detokenize", 200, 404},
		{"tokenize", "tokenize", 200, 403},
		{"detokenize", "detokenize", 403, 404},
		{"detokenize tokenize detokenize", "tokenize detokenize", 200, 404},
	} {
		token, granted := bearer(c.asked)
		if granted != c.granted {
			t.Errorf("requested scope %q, got %q", c.asked, granted)
		}
		if got, _ := s.ask("POST", "/handler/tokenize", token, "application/json", []byte(goodBody)); got != c.tokenize {
			t.Errorf("with the scope %q, tokenize returned %d", c.asked, got)
		}
		if got, _ := s.ask("POST", "/handler/detokenize", token, "application/json", use); got != c.detokenize {
			t.Errorf("with the scope %q, detokenize returned %d", c.asked, got)
		}
	}
}
