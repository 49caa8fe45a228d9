package rest

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"atelier/actors/people"
	"atelier/transport/auth"
	"atelier/transport/auth/oidc"
	"atelier/transport/auth/oidc/oidctest"
)

// withProvider returns an entrance with an identity provider, where new people are assistants.
func withProvider(t *testing.T) (*entrance, *oidctest.Provider) {
	t.Helper()
	at := oidctest.New(t)
	e := newEntrance(t, func(c *Config) {
		c.SignIn = &SignIn{Role: people.Assistant, Provider: oidc.New(oidc.Config{
			Issuer: at.URL, ClientID: oidctest.ClientID, ClientSecret: oidctest.ClientSecret, Redirect: "http://here.test" + SignInCallback,
			Allowed: []string{"*@example.org"}, Now: c.Now,
		})}
	})
	return e, at
}

// signIn signs in to reach a page, and returns from the provider with its answer. The result is the
// page to which the server redirects.
func (b *browser) signIn(at *oidctest.Provider, to string, change func(answer url.Values)) string {
	b.t.Helper()
	b.uri = signInPath + "?" + url.Values{"to": {to}}.Encode()
	if status := b.ask(beginSignIn, ""); status != 302 {
		b.t.Fatalf("beginning the sign-in returned %d, want 302", status)
	}
	back, err := url.Parse(at.Approve(string(b.answer.Header.Peek("Location"))))
	if err != nil {
		b.t.Fatal(err)
	}
	answer := back.Query()
	if change != nil {
		change(answer)
	}
	b.uri = SignInCallback + "?" + answer.Encode()
	if status := b.ask(finishSignIn, ""); status != 302 {
		b.t.Fatalf("the callback returned %d, want 302", status)
	}
	return string(b.answer.Header.Peek("Location"))
}

// A person who comes back from the provider has a session with a new id. If the requested page is
// on this server, the person is redirected there. The cookie of the attempt is removed.
func TestSigningInWithTheProviderCreatesANewSession(t *testing.T) {
	for to, want := range map[string]string{"/admin/1?a=b&c": "/admin/1?a=b&c", "": "/admin", "//evil.test": "/admin", "https://evil.test": "/admin"} {
		e, at := withProvider(t)
		b := e.browser("192.0.2.1")
		if got := b.signIn(at, to, nil); got != want {
			t.Errorf("signing in to reach %q redirects to %q", to, got)
		}
		if b.cookies[auth.SignInCookie] != nil {
			t.Errorf("to reach %q: the cookie of the attempt remains", to)
		}
		who := e.desk.View().All()
		if len(who) != 1 || who[0].Login != "ann@example.org" || who[0].Role != people.Assistant || who[0].Name != "Ann" {
			t.Fatalf("after the sign-in, the people are %v", who)
		}
		if status := b.ask(getSession, ""); status != 200 || !strings.Contains(string(b.answer.Body()), `"sub":"`+who[0].Id+`"`) {
			t.Errorf("to reach %q: GET of the session returned %d, %s", to, status, b.answer.Body())
		}
		first := string(b.cookies[auth.SessionCookie].Value())
		if b.signIn(at, to, nil); len(e.desk.View().All()) != 1 || string(b.cookies[auth.SessionCookie].Value()) == first {
			t.Errorf("after a second sign-in, the people are %v, or the session is the same", e.desk.View().All())
		}
	}
}

// The sign-in page shows the reason for a refusal, and the person gets no session. The audit trail
// records the refusal of an identified person. Failures that anybody can cause are only counted, or
// ignored if they do not involve the provider.
func TestRefusedSignInsShowTheReason(t *testing.T) {
	disabled := true
	for name, tc := range map[string]struct {
		before  func(*entrance, *browser, *oidctest.Provider)
		answer  func(url.Values)
		why     string
		counted bool // counted, so that the audit trail gets the sum
		record  bool
	}{
		"a wrong state":     {nil, func(v url.Values) { v.Set("state", "another") }, "expired", false, false},
		"denied":            {nil, func(v url.Values) { v.Set("error", "access_denied") }, "denied", true, false},
		"a wrong code":      {nil, func(v url.Values) { v.Set("code", "another") }, "invalid", true, false},
		"another domain":    {func(_ *entrance, _ *browser, at *oidctest.Provider) { at.Person["email"] = "eve@evil.test" }, nil, "not_allowed", false, true},
		"not verified":      {func(_ *entrance, _ *browser, at *oidctest.Provider) { at.Person["email_verified"] = false }, nil, "unverified", false, true},
		"without a browser": {nil, func(url.Values) {}, "expired", false, false},
		"disabled": {func(e *entrance, b *browser, at *oidctest.Provider) {
			b.signIn(at, "", nil)
			e.ask(people.Update{ID: e.desk.View().All()[0].Id, Disabled: &disabled})
			clear(b.cookies)
		}, nil, "disabled", false, true},
	} {
		e, at := withProvider(t)
		var counted []string
		e.SignInFailed = func(why, ip string) { counted = append(counted, why+" "+ip) }
		b := e.browser("192.0.2.1")
		if tc.before != nil {
			tc.before(e, b, at)
		}
		recorded := len(e.recorded())
		answer := tc.answer
		if name == "without a browser" {
			answer = func(url.Values) { delete(b.cookies, auth.SignInCookie) }
		}
		got := b.signIn(at, "/admin/1", answer)
		if want := "/login?" + (url.Values{"why": {tc.why}, "next": {"/admin/1"}}).Encode(); got != want && name != "without a browser" || !strings.Contains(got, "why="+tc.why) {
			t.Errorf("%s: the redirect is to %s", name, got)
		}
		if b.cookies[auth.SessionCookie] != nil {
			t.Errorf("%s: the person has a session", name)
		}
		if want := map[bool]string{true: "[" + tc.why + " 192.0.2.1]", false: "[]"}[tc.counted]; fmt.Sprint(counted) != want {
			t.Errorf("%s: the counted failures are %v", name, counted)
		}
		if n := len(e.recorded()) - recorded; n > 1 || (n == 1) != tc.record {
			t.Errorf("%s: the audit trail is %q", name, e.recorded())
		}
	}
}

// The cookie of an attempt is sent only to its path and is hidden from scripts. The cookie and the
// attempt expire after ten minutes.
func TestTheCookieOfASignInAttemptIsHiddenAndExpires(t *testing.T) {
	e, at := withProvider(t)
	b := e.browser("192.0.2.1")
	got := b.signIn(at, "", func(url.Values) {
		c := b.cookies[auth.SignInCookie]
		if !c.HTTPOnly() || string(c.Path()) != "/api/login/oidc" || c.Expire().Sub(e.clock).Round(time.Minute) != 10*time.Minute {
			t.Errorf("the cookie of the attempt is %v", c)
		}
		e.clock = e.clock.Add(10 * time.Minute)
	})
	if !strings.Contains(got, "why=expired") {
		t.Errorf("an attempt of ten minutes ago redirects to %s", got)
	}
}

// Attempts with wrong codes are limited per network. Right codes do not count.
func TestWrongSignInCodesAreLimited(t *testing.T) {
	e, at := withProvider(t)
	b, stranger := e.browser("192.0.2.1"), e.browser("192.0.2.1")
	for range 3 {
		clear(b.cookies)
		if got := b.signIn(at, "", nil); got != "/admin" {
			t.Errorf("a right code redirects to %s", got)
		}
	}
	for i, why := range []string{"invalid", "invalid", "busy"} {
		if got := stranger.signIn(at, "", func(v url.Values) { v.Set("code", "a guess") }); !strings.Contains(got, "why="+why) {
			t.Errorf("wrong code %d redirects to %s", i, got)
		}
	}
	if got := b.signIn(at, "", nil); got != "/admin" {
		t.Errorf("a known browser redirects to %s, want /admin", got)
	}
}
