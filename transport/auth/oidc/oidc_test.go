package oidc_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"atelier/transport/auth/oidc"
	"atelier/transport/auth/oidc/oidctest"
)

// desk is a test provider, and a client that signs people in through this provider.
type desk struct {
	*oidc.Provider
	at  *oidctest.Provider
	off atomic.Int64 // the duration by which the client's clock is ahead
	// callers counts the addresses that were used.
	callers atomic.Int32
}

func (d *desk) now() time.Time { return time.Now().Add(time.Duration(d.off.Load())) }

// Begin and Finish use a new address for each call.
func (d *desk) Begin(ctx context.Context, to string) (string, oidc.Attempt, error) {
	return d.Provider.Begin(ctx, to, d.caller())
}

func (d *desk) Finish(ctx context.Context, a oidc.Attempt, in oidc.Answer) (oidc.Identity, error) {
	return d.Provider.Finish(ctx, a, in, d.caller())
}

func (d *desk) caller() oidc.Caller {
	return oidc.Caller{Address: fmt.Sprintf("192.0.2.%d", d.callers.Add(1)%250)}
}

// pass advances the clock.
func (d *desk) pass(t time.Duration) { d.off.Add(int64(t)) }

func open(t *testing.T, change func(*oidc.Config)) *desk {
	t.Helper()
	d := &desk{at: oidctest.New(t)}
	cfg := oidc.Config{
		Issuer: d.at.URL, ClientID: oidctest.ClientID, ClientSecret: oidctest.ClientSecret, Redirect: "http://here.test/callback",
		Allowed: []string{"*@example.org", "guest@elsewhere.test"}, Now: d.now,
	}
	if change != nil {
		change(&cfg)
	}
	d.Provider = oidc.New(cfg)
	return d
}

// begin signs in at the provider. It returns the attempt and the provider's response to the
// browser.
func (d *desk) begin(t *testing.T) (oidc.Attempt, oidc.Answer) {
	t.Helper()
	address, attempt, err := d.Begin(t.Context(), "/admin")
	if err != nil {
		t.Fatal(err)
	}
	back, err := url.Parse(d.at.Approve(address))
	if err != nil {
		t.Fatal(err)
	}
	return attempt, oidc.Answer{State: back.Query().Get("state"), Code: back.Query().Get("code")}
}

func (d *desk) signIn(t *testing.T) (oidc.Identity, error) {
	t.Helper()
	attempt, answer := d.begin(t)
	return d.Finish(t.Context(), attempt, answer)
}

func refused(t *testing.T, err error, why oidc.Reason) {
	t.Helper()
	var got oidc.Reason
	if !errors.As(err, &got) || got != why {
		t.Errorf("the error is %v, want %q", err, why)
	}
}

func TestAPersonSignsIn(t *testing.T) {
	d := open(t, func(c *oidc.Config) { c.Allowed = []string{"*@EXAMPLE.org"} })
	d.at.Person["email"] = "Ann@Example.ORG"
	id, err := d.signIn(t)
	if want := (oidc.Identity{Issuer: d.at.URL, Subject: "1", Email: "ann@example.org", Name: "Ann"}); err != nil || id != want {
		t.Errorf("the identity is %+v (%v), want %+v", id, err, want)
	}
	d.at.InfoOnly = true
	if id, err := d.signIn(t); err != nil || id.Email != "ann@example.org" || id.Name != "Ann" {
		t.Errorf("from the userinfo endpoint alone, the identity is %+v (%v)", id, err)
	}
}

func TestFalseClaimsAreRefused(t *testing.T) {
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	set := func(name string, value any) func(*oidctest.Provider) {
		return func(p *oidctest.Provider) { p.Lie = func(c oidctest.Claims) { c[name] = value } }
	}
	sign := func(f func(p *oidctest.Provider, c oidctest.Claims) string) func(*oidctest.Provider) {
		return func(p *oidctest.Provider) { p.Sign = func(c oidctest.Claims) string { return f(p, c) } }
	}
	answer := func(path string, f http.HandlerFunc) func(*oidctest.Provider) {
		return func(p *oidctest.Provider) { p.Answers[path] = f }
	}
	for name, c := range map[string]struct {
		lie func(*oidctest.Provider)
		why oidc.Reason
	}{
		"another issuer":          {set("iss", "https://elsewhere.test"), oidc.Invalid},
		"another audience":        {set("aud", "somebody else"), oidc.Invalid},
		"two audiences, no party": {set("aud", []string{oidctest.ClientID, "b"}), oidc.Invalid},
		"another party":           {set("azp", "somebody else"), oidc.Invalid},
		"another nonce":           {set("nonce", "of another sign-in"), oidc.Invalid},
		"no nonce":                {set("nonce", nil), oidc.Invalid},
		"expired":                 {set("exp", time.Now().Add(-time.Minute).Unix()), oidc.Invalid},
		"no expiry":               {set("exp", nil), oidc.Invalid},
		"not valid yet":           {set("nbf", time.Now().Add(time.Hour).Unix()), oidc.Invalid},
		"no subject":              {set("sub", ""), oidc.Invalid},
		"a long subject":          {set("sub", strings.Repeat("x", 300)), oidc.Invalid},
		"another key": {sign(func(p *oidctest.Provider, c oidctest.Claims) string {
			return p.Signed(jwt.SigningMethodRS256, oidctest.KeyID, c, other)
		}), oidc.Invalid},
		"a key that is not published": {sign(func(p *oidctest.Provider, c oidctest.Claims) string {
			return p.Signed(jwt.SigningMethodRS256, "two", c, other)
		}), oidc.Invalid},
		"no signature": {sign(func(p *oidctest.Provider, c oidctest.Claims) string {
			return p.Signed(jwt.SigningMethodNone, oidctest.KeyID, c, jwt.UnsafeAllowNoneSignatureType)
		}), oidc.Invalid},
		"signed with the public key": {sign(func(p *oidctest.Provider, c oidctest.Claims) string {
			return p.Signed(jwt.SigningMethodHS256, oidctest.KeyID, c, x509.MarshalPKCS1PublicKey(&p.Key().PublicKey))
		}), oidc.Invalid},
		"signed with the secret": {sign(func(p *oidctest.Provider, c oidctest.Claims) string {
			return p.Signed(jwt.SigningMethodHS256, oidctest.KeyID, c, []byte(oidctest.ClientSecret))
		}), oidc.Invalid},
		"a long token": {set("more", strings.Repeat("x", 16<<10)), oidc.Invalid},
		"no token":     {sign(func(*oidctest.Provider, oidctest.Claims) string { return "" }), oidc.Invalid},
		"not a token":  {sign(func(*oidctest.Provider, oidctest.Claims) string { return "a.b.c" }), oidc.Invalid},

		"not verified":                     {set("email_verified", false), oidc.Unverified},
		"verified, as a text":              {set("email_verified", "true"), oidc.Unverified},
		"verified, as a number":            {set("email_verified", 1), oidc.Unverified},
		"no email_verified":                {set("email_verified", nil), oidc.Unverified},
		"an invalid address":               {set("email", "ann"), oidc.Unverified},
		"two addresses":                    {set("email", "x@evil.test,ann@example.org"), oidc.Unverified},
		"an address that folds to another": {set("email", "guest@elsewhere.test"[:0]+"guest@el\u017fewhere.test"), oidc.Unverified},
		"another domain":                   {set("email", "ann@example.org.evil.test"), oidc.NotAllowed},
		"a domain with the same end":       {set("email", "ann@evilexample.org"), oidc.NotAllowed},
		"a subdomain":                      {set("email", "ann@sub.example.org"), oidc.NotAllowed},
		"another address":                  {set("email", "host@elsewhere.test"), oidc.NotAllowed},

		"a redirect of the token": {answer("/token", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/token2", http.StatusTemporaryRedirect)
		}), oidc.Invalid},
		"an endless token": {answer("/token", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.CopyN(w, rand.Reader, 2<<20)
		}), oidc.Away},
		"an endless list of keys": {answer("/keys", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.Copy(w, io.LimitReader(endless{}, 2<<20))
		}), oidc.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, nil)
			c.lie(d.at)
			_, err := d.signIn(t)
			refused(t, err, c.why)
		})
	}
}

// endless is a body of JSON that never ends.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '['
	}
	return len(b), nil
}

func TestAnAddressFromTheUserinfoMustBeVerified(t *testing.T) {
	d := open(t, nil)
	d.at.InfoOnly = true
	d.at.Person["email_verified"] = false
	_, err := d.signIn(t)
	refused(t, err, oidc.Unverified)
}

// If the token contains a name, that name is used.
func TestTheUserinfoAddsMissingClaims(t *testing.T) {
	for name, want := range map[any]string{"Ann": "Ann", nil: "A. Nother"} {
		d := open(t, nil)
		d.at.Lie = func(c oidctest.Claims) { delete(c, "email"); c["name"] = name }
		d.at.Answers["/userinfo"] = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"sub":"1","email":"ann@example.org","email_verified":true,"name":"A. Nother"}`)
		}
		if id, err := d.signIn(t); err != nil || id.Name != want || id.Email != "ann@example.org" {
			t.Errorf("with the name %v in the token, the identity is %+v (%v)", name, id, err)
		}
	}
}

func TestUserinfoOfAnotherSubjectIsRefused(t *testing.T) {
	d := open(t, nil)
	d.at.InfoOnly = true
	d.at.Answers["/userinfo"] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"sub":"2","email":"ann@example.org","email_verified":true}`)
	}
	_, err := d.signIn(t)
	refused(t, err, oidc.Unverified)
}

func TestDeniedAttemptsDoNotBlockSignIns(t *testing.T) {
	d := open(t, nil)
	_, first, err := d.Begin(t.Context(), "/")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20_005 {
		a := oidc.Attempt{State: fmt.Sprint("state ", i), Nonce: first.Nonce, Verifier: first.Verifier}
		_, err := d.Finish(t.Context(), a, oidc.Answer{State: a.State, Error: "access_denied"})
		refused(t, err, oidc.Denied)
	}
	if _, err := d.signIn(t); err != nil {
		t.Errorf("a sign-in after many denied ones: %v", err)
	}
}

func TestConcurrentCallbacksSignInOnce(t *testing.T) {
	d := open(t, nil)
	d.at.AgainAndAgain = true
	attempt, answer := d.begin(t)
	var in atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := d.Finish(t.Context(), attempt, answer); err == nil {
				in.Add(1)
			}
		})
	}
	all.Wait()
	if in.Load() != 1 {
		t.Errorf("%d callbacks of one attempt signed in, want 1", in.Load())
	}
}

func TestNamesOfClaimsAreCaseSensitive(t *testing.T) {
	d := open(t, nil)
	d.at.Person = oidctest.Claims{"sub": "1", "email": "eve@elsewhere.test", "email_verified": true, "EMAIL": "ann@example.org", "zEmail": 1}
	_, err := d.signIn(t)
	refused(t, err, oidc.NotAllowed)
	d.at.Person = oidctest.Claims{"sub": "1", "email": "ann@example.org", "email_verified": false, "Email_Verified": true}
	_, err = d.signIn(t)
	refused(t, err, oidc.Unverified)
}

func TestAHangingProviderIsNotAskedAgainAtOnce(t *testing.T) {
	d := open(t, nil)
	var asked atomic.Int32
	answer := make(chan struct{})
	d.at.Answers["/.well-known/openid-configuration"] = func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		<-answer
		d.pass(10 * time.Second) // the time limit of a response
		http.NotFound(w, r)
	}
	first := make(chan error)
	go func() {
		_, _, err := d.Begin(t.Context(), "/")
		first <- err
	}()
	for asked.Load() == 0 {
		runtime.Gosched()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := d.Begin(ctx, "/") // this call does not wait for the first one
	refused(t, err, oidc.Away)
	close(answer)
	refused(t, <-first, oidc.Away)
	_, _, err = d.Begin(t.Context(), "/")
	refused(t, err, oidc.Away)
	if asked.Load() != 1 {
		t.Errorf("the provider got %d requests, want 1", asked.Load())
	}
}

func TestAnAttemptSucceedsOnceAndOnlyUnchanged(t *testing.T) {
	d := open(t, nil)
	d.at.AgainAndAgain = true
	attempt, answer := d.begin(t)
	elsewhere, _ := d.begin(t)
	_, err := d.Finish(t.Context(), elsewhere, answer)
	refused(t, err, oidc.Expired)
	_, err = d.Finish(t.Context(), oidc.Attempt{}, oidc.Answer{Code: answer.Code})
	refused(t, err, oidc.Expired)
	stolen := attempt
	stolen.Verifier = elsewhere.Verifier
	if _, err := d.Finish(t.Context(), attempt, answer); err != nil {
		t.Fatal(err)
	}
	_, err = d.Finish(t.Context(), attempt, answer)
	refused(t, err, oidc.Expired)
	_, err = d.Finish(t.Context(), stolen, answer)
	refused(t, err, oidc.Invalid)

	attempt, answer = d.begin(t)
	attempt.Verifier = elsewhere.Verifier
	_, err = d.Finish(t.Context(), attempt, answer)
	refused(t, err, oidc.Invalid)
	attempt, answer = d.begin(t)
	answer.Code = ""
	_, err = d.Finish(t.Context(), attempt, answer)
	refused(t, err, oidc.Denied)
	attempt, answer = d.begin(t)
	answer.Error = "access_denied"
	_, err = d.Finish(t.Context(), attempt, answer)
	refused(t, err, oidc.Denied)
}

func TestAnUnavailableProviderIsAskedAgainLater(t *testing.T) {
	d := open(t, nil)
	d.at.Away.Store(true)
	_, _, err := d.Begin(t.Context(), "/")
	refused(t, err, oidc.Away)
	d.at.Away.Store(false)
	_, _, err = d.Begin(t.Context(), "/") // refused during the pause before the next request
	refused(t, err, oidc.Away)
	d.pass(6 * time.Second)
	if _, err := d.signIn(t); err != nil {
		t.Fatal(err)
	}
	// While discovery fails, the cached document is still used.
	d.pass(2 * time.Hour)
	d.at.Answers["/.well-known/openid-configuration"] = http.NotFound
	d.at.Lie = func(c oidctest.Claims) { c["exp"] = d.now().Add(time.Minute).Unix() }
	if _, err := d.signIn(t); err != nil {
		t.Errorf("a sign-in while discovery fails: %v", err)
	}
}

func TestTheProviderDocumentIsFetchedHourly(t *testing.T) {
	d := open(t, nil)
	var asked atomic.Int32
	path := "/.well-known/openid-configuration"
	genuine := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"issuer":"`+d.at.URL+`","authorization_endpoint":"`+d.at.URL+`/auth","token_endpoint":"`+d.at.URL+`/token","jwks_uri":"`+d.at.URL+`/keys"}`)
	}
	again := make(chan struct{})
	d.at.Answers[path] = func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 2 {
			defer close(again)
		}
		genuine(w, r)
	}
	for range 3 {
		if _, err := d.signIn(t); err != nil {
			t.Fatal(err)
		}
	}
	d.pass(59 * time.Minute)
	d.begin(t)
	if n := asked.Load(); n != 1 {
		t.Errorf("discovery was requested %d times within an hour, want 1", n)
	}
	d.pass(2 * time.Minute)
	d.begin(t)
	<-again
	// The server's own clock decides what has expired.
	_, err := d.signIn(t)
	refused(t, err, oidc.Invalid)
}

func TestInvalidDiscoveryDocumentsAreRefused(t *testing.T) {
	for name, f := range map[string]http.HandlerFunc{
		"another issuer": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"issuer":"https://elsewhere.test","authorization_endpoint":"https://elsewhere.test/a","token_endpoint":"https://elsewhere.test/t"}`)
		},
		"no endpoints": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"issuer":"http://`+r.Host+`","authorization_endpoint":"javascript:alert(1)","token_endpoint":""}`)
		},
		"an invalid address of the keys": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			at := "http://" + r.Host
			_, _ = io.WriteString(w, `{"issuer":"`+at+`","authorization_endpoint":"`+at+`/auth","token_endpoint":"`+at+`/token","jwks_uri":"file:///keys"}`)
		},
		"too long": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			at := "http://" + r.Host
			_, _ = io.WriteString(w, `{"issuer":"`+at+`","authorization_endpoint":"`+at+`/auth","token_endpoint":"`+at+`/token","jwks_uri":"`+at+`/keys","more":"`+strings.Repeat("x", 1<<20)+`"}`)
		},
		"endless": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.Copy(w, io.LimitReader(endless{}, 2<<20)) },
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.test/", http.StatusFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, nil)
			d.at.Answers["/.well-known/openid-configuration"] = f
			_, _, err := d.Begin(t.Context(), "/")
			refused(t, err, oidc.Away)
		})
	}
}

func TestAPublicClientSendsNoSecret(t *testing.T) {
	d := open(t, func(c *oidc.Config) { c.ClientSecret, c.TrustEmail = "", true })
	d.at.Person["email_verified"] = false
	d.at.Answers["/token"] = func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("client_id") != oidctest.ClientID || r.Header.Get("Authorization") != "" {
			t.Errorf("a public client sends %v", r.Form)
		}
		r.SetBasicAuth(oidctest.ClientID, url.QueryEscape(oidctest.ClientSecret))
		delete(d.at.Answers, "/token")
		d.at.ServeHTTP(w, r)
	}
	if id, err := d.signIn(t); err != nil || id.Email != "ann@example.org" {
		t.Errorf("the identity is %+v (%v)", id, err)
	}
}

func TestConcurrentSignInsAreBounded(t *testing.T) {
	d := open(t, nil)
	attempt, answer := d.begin(t)
	var there, gone sync.WaitGroup
	free := make(chan struct{})
	d.at.Answers["/token"] = func(w http.ResponseWriter, r *http.Request) {
		there.Done()
		<-free
		http.NotFound(w, r)
	}
	there.Add(16)
	for range 16 {
		a, b := d.begin(t)
		gone.Go(func() { _, _ = d.Finish(t.Context(), a, b) })
	}
	there.Wait()
	_, err := d.Finish(t.Context(), attempt, answer)
	refused(t, err, oidc.Busy)
	// A browser with an earlier login has a reserved place. Begin needs no place while the
	// provider's document is cached.
	address, attempt, err := d.Provider.Begin(t.Context(), "/", oidc.Caller{Device: "known"})
	if err != nil {
		t.Fatal(err)
	}
	back, _ := url.Parse(d.at.Approve(address))
	there.Add(1)
	gone.Go(func() {
		_, err := d.Finish(t.Context(), attempt, oidc.Answer{State: back.Query().Get("state"), Code: back.Query().Get("code")})
		refused(t, err, oidc.Invalid)
	})
	there.Wait()
	close(free)
	gone.Wait()
}

// One address sends 24 made-up codes at the same time. At most two of these attempts are in
// progress, and other addresses can still sign in.
func TestOneAddressHasTwoConcurrentSignIns(t *testing.T) {
	d := open(t, nil)
	var there, gone sync.WaitGroup
	free := make(chan struct{})
	d.at.Answers["/token"] = func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("code") == "made up" {
			there.Done()
			<-free
			http.NotFound(w, r)
			return
		}
		d.at.Genuine(w, r)
	}
	there.Add(2)
	var busy atomic.Int32
	for i := range 24 {
		a, _ := d.begin(t)
		gone.Go(func() {
			// For IPv6, the network counts and not the address.
			_, err := d.Provider.Finish(t.Context(), a, oidc.Answer{State: a.State, Code: "made up"}, oidc.Caller{Address: fmt.Sprintf("2001:db8::%x", i)})
			if errors.Is(err, oidc.Busy) {
				busy.Add(1)
			}
		})
	}
	there.Wait()
	if _, err := d.signIn(t); err != nil {
		t.Errorf("a sign-in from another address: %v", err)
	}
	for end := time.Now().Add(time.Minute); busy.Load() < 22 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		// A freed place must not be taken by an attempt that is not refused yet.
	}
	close(free)
	if gone.Wait(); busy.Load() != 22 {
		t.Errorf("%d of 24 attempts were refused, want 22", busy.Load())
	}
}

// A caller without remaining attempts is refused before a request to the provider.
func TestAnAttemptIsChargedBeforeTheProviderIsAsked(t *testing.T) {
	d := open(t, nil)
	d.at.Answers["/token"] = func(http.ResponseWriter, *http.Request) { t.Error("the provider got a request") }
	a, answer := d.begin(t)
	_, err := d.Provider.Finish(t.Context(), a, answer, oidc.Caller{Charge: func() bool { return false }})
	refused(t, err, oidc.Busy)
}

func TestAResponseWithAWrongOrMissingIssuerIsRefused(t *testing.T) {
	d := open(t, nil)
	a, answer := d.begin(t)
	answer.Issuer = "https://other.example"
	_, err := d.Finish(t.Context(), a, answer)
	refused(t, err, oidc.Invalid)
	answer.Issuer = d.at.URL
	if _, err := d.Finish(t.Context(), a, answer); err != nil {
		t.Error(err)
	}
	// A provider that announces an issuer must always send it.
	d = open(t, nil)
	d.at.Names = true
	_, err = d.signIn(t)
	refused(t, err, oidc.Invalid)
}

// A key is valid as long as the provider's cache header allows, and at least for a minute.
func TestAWithdrawnKeyIsRefusedAfterItsLifetime(t *testing.T) {
	for header, lives := range map[string]time.Duration{
		"public, max-age=600": 10 * time.Minute, "max-age=86400": time.Hour, "no-cache, max-age=600": time.Minute, "": time.Minute, `max-age="120"`: 2 * time.Minute,
	} {
		d := open(t, nil)
		d.at.KeysFor = header
		if _, err := d.signIn(t); err != nil {
			t.Fatal(err)
		}
		d.at.Withdrawn = true
		d.at.Valid = 3 * time.Hour
		d.pass(lives - time.Second)
		if _, err := d.signIn(t); err != nil {
			t.Errorf("%q: a sign-in %v later: %v", header, lives-time.Second, err)
		}
		d.pass(time.Second)
		_, err := d.signIn(t)
		refused(t, err, oidc.Invalid)
	}
}

// The time that a response has spent in caches (its Age header) shortens its lifetime.
func TestTheLifetimeOfAResponseSubtractsItsAge(t *testing.T) {
	for _, tc := range []struct {
		header, age string
		want        time.Duration
	}{
		{"max-age=600", "", 10 * time.Minute}, {"max-age=600", "300", 5 * time.Minute}, {"max-age=600", "590", time.Minute}, {"max-age=600", "9000", time.Minute},
		{"max-age=600", "-300", 10 * time.Minute}, {"max-age=86400", "1800", 30 * time.Minute}, {"no-store, max-age=600", "", time.Minute}, {"max-age=x", "", time.Minute},
	} {
		if got := oidc.Lifetime(http.Header{"Cache-Control": {tc.header}, "Age": {tc.age}}); got != tc.want {
			t.Errorf("with %q and the age %q, the lifetime is %v", tc.header, tc.age, got)
		}
	}
}

// A key that is not for signatures cannot sign anybody in.
func TestAKeyForAnotherUseIsRefused(t *testing.T) {
	for use, reason := range map[string]oidc.Reason{"sig": "", "enc": oidc.Invalid} {
		d := open(t, nil)
		d.at.Serve("/keys", func(w http.ResponseWriter, r *http.Request) {
			genuine := httptest.NewRecorder()
			d.at.Genuine(genuine, r)
			_, _ = io.WriteString(w, strings.Replace(genuine.Body.String(), `"use":"sig"`, `"use":"`+use+`"`, 1))
		})
		if _, err := d.signIn(t); reason == "" && err != nil {
			t.Errorf("a key for the use %s: %v", use, err)
		} else if reason != "" {
			refused(t, err, reason)
		}
	}
}

// An attempt can sign in only once during its lifetime, even if the list of attempts is full.
func TestUsedAttemptsAreRememberedForTheirLifetime(t *testing.T) {
	d := open(t, nil)
	for i := range oidc.MaxUsed {
		if err := d.Once(fmt.Sprint(i)); err != nil {
			t.Fatalf("attempt %d: %v", i, err)
		}
	}
	refused(t, d.Once("one more"), oidc.Busy)
	refused(t, d.Once("0"), oidc.Expired)
	d.pass(oidc.Life + time.Second)
	if err := d.Once("one more"); err != nil {
		t.Errorf("attempts after their time leave no room: %v", err)
	}
	refused(t, d.Once("one more"), oidc.Expired)
}

func TestReturnPathsMustBeLocal(t *testing.T) {
	for to, want := range map[string]string{
		"/admin/1?a=b": "/admin/1?a=b", "": "/x", "admin": "/x", "//evil.test": "/x", `/\evil.test`: "/x", "/\t/evil.test": "/x", "https://evil.test": "/x",
		"/a\r\nSet-Cookie: b": "/x", "/" + strings.Repeat("a", 300): "/x", "/é": "/x", "/a b": "/x", `/"`: "/x", "/<a>": "/x", "/" + strings.Repeat("&", 255): "/" + strings.Repeat("&", 255),
	} {
		if got := oidc.Path(to, "/x"); got != want {
			t.Errorf("Path(%q) = %q, want %q", to, got, want)
		}
	}
}

func TestCheckRule(t *testing.T) {
	for rule, want := range map[string]bool{
		"*@example.org": true, "ann@example.org": true, "*": false, "*@": false, "example.org": false, "@example.org": false,
		"*@*": false, "a*@example.org": false, "": false, "a@b@c": false,
	} {
		if got := oidc.CheckRule(rule); got != want {
			t.Errorf("CheckRule(%q) = %v", rule, got)
		}
	}
}

func TestProviderTextsAreNotKept(t *testing.T) {
	d := open(t, nil)
	attempt, answer := d.begin(t)
	answer.Code = "another"
	_, err := d.Finish(t.Context(), attempt, answer)
	if text := err.Error(); strings.Contains(text, "own words") || strings.Contains(text, oidctest.ClientSecret) || !strings.Contains(text, "invalid_grant") {
		t.Errorf("the error is %q", text)
	}
}

func TestAProviderOverHTTPSMustUseHTTPSEndpoints(t *testing.T) {
	var at string
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"issuer":"`+at+`","authorization_endpoint":"`+at+`/auth","token_endpoint":"`+at+`/token","jwks_uri":"http://elsewhere.test/keys"}`)
	}))
	defer srv.Close()
	at = srv.URL
	oidc.Trust(t, srv.Client().Transport)
	_, _, err := oidc.New(oidc.Config{Issuer: at, ClientID: "x", Redirect: "https://here.test/", Now: time.Now}).Begin(t.Context(), "/", oidc.Caller{})
	refused(t, err, oidc.Away)
	if err == nil || !strings.Contains(err.Error(), "invalid or not secure") {
		t.Errorf("the error is %v", err)
	}
}
