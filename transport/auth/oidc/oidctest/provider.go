// Package oidctest provides an identity provider for tests, which can send forged responses.
package oidctest

import (
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// ClientID and ClientSecret belong to the only client of the provider.
const (
	ClientID     = "atelier"
	ClientSecret = "a secret of the provider's"
)

// Claims are the claims of an ID token.
type Claims = jwt.MapClaims

// Provider is an identity provider. A test can change its fields between sign-ins.
type Provider struct {
	// URL is the issuer.
	URL string
	// Person contains the claims about the person who signs in: sub, email, email_verified, name.
	Person Claims
	// Lie changes the claims of each ID token. Nil means no changes.
	Lie func(Claims)
	// Sign signs the ID token. If it is nil, the published key signs.
	Sign func(Claims) string
	// Answers contains, by path, the handlers that replace the provider's own responses.
	Answers map[string]http.HandlerFunc
	// Away makes the provider unreachable.
	Away atomic.Bool
	// AgainAndAgain makes the provider accept a code repeatedly.
	AgainAndAgain bool
	// InfoOnly omits all claims about the person except sub from the ID token. Only the userinfo
	// endpoint then returns them.
	InfoOnly bool
	// Names makes the provider announce that each response contains its issuer (RFC 9207), but the
	// responses do not contain it.
	Names bool
	// KeysFor is the Cache-Control header of the keys. With Withdrawn, the provider publishes no
	// keys, but still signs with the earlier one.
	KeysFor   string
	Withdrawn bool
	// Valid is the lifetime of the tokens. 0 means one minute.
	Valid time.Duration

	t   *testing.T
	key *rsa.PrivateKey

	mu    sync.Mutex
	codes map[string]url.Values // guarded by mu; the browser's parameters, by code
}

// KeyID identifies the published key.
const KeyID = "one"

// New starts a provider that is closed at the end of the test.
func New(t *testing.T) *Provider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &Provider{
		t: t, key: key, codes: map[string]url.Values{}, Answers: map[string]http.HandlerFunc{},
		Person: Claims{"sub": "1", "email": "ann@example.org", "email_verified": true, "name": "Ann"},
	}
	srv := httptest.NewServer(p)
	t.Cleanup(srv.Close)
	p.URL = srv.URL
	return p
}

// Serve replaces the response of a path, even during requests. nil restores the genuine response.
func (p *Provider) Serve(path string, answer http.HandlerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Answers[path] = answer
}

// Key returns the private part of the published key.
func (p *Provider) Key() *rsa.PrivateKey { return p.key }

// ServeHTTP implements http.Handler.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	answer := p.Answers[r.URL.Path]
	p.mu.Unlock()
	switch {
	case p.Away.Load():
		panic(http.ErrAbortHandler)
	case answer != nil:
		answer(w, r)
		return
	}
	p.Genuine(w, r)
}

// Genuine sends the provider's own response, without replacements.
func (p *Provider) Genuine(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		p.answer(w, map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"userinfo_endpoint": p.URL + "/userinfo", "id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
			"authorization_response_iss_parameter_supported": p.Names,
		})
	case "/keys":
		w.Header().Set("Cache-Control", p.KeysFor)
		if p.Withdrawn {
			p.answer(w, map[string]any{"keys": []any{}})
			return
		}
		n := base64.RawURLEncoding.EncodeToString(p.key.N.Bytes())
		e := base64.RawURLEncoding.EncodeToString(big.NewInt(int64(p.key.E)).Bytes())
		p.answer(w, map[string]any{"keys": []any{map[string]string{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": KeyID, "n": n, "e": e}}})
	case "/auth":
		http.Redirect(w, r, p.Approve(r.URL.String()), http.StatusFound)
	case "/token":
		p.token(w, r)
	case "/userinfo":
		p.answer(w, p.Person)
	default:
		http.NotFound(w, r)
	}
}

// Approve signs in at an address of the provider and returns the address to which the browser is
// redirected.
func (p *Provider) Approve(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		p.t.Errorf("%s: %v", address, err)
		return ""
	}
	asked := u.Query()
	code := rand.Text()
	p.mu.Lock()
	p.codes[code] = asked
	p.mu.Unlock()
	return asked.Get("redirect_uri") + "?" + url.Values{"code": {code}, "state": {asked.Get("state")}}.Encode()
}

func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	if err := r.ParseForm(); err != nil || id != ClientID || secret != url.QueryEscape(ClientSecret) {
		http.Error(w, `{"error":"invalid_client"}`, http.StatusUnauthorized)
		return
	}
	p.mu.Lock()
	asked := p.codes[r.Form.Get("code")]
	if !p.AgainAndAgain {
		delete(p.codes, r.Form.Get("code"))
	}
	p.mu.Unlock()
	challenge := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
	if asked == nil || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(challenge[:]) ||
		asked.Get("code_challenge_method") != "S256" || asked.Get("redirect_uri") != r.Form.Get("redirect_uri") {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant","error_description":"the provider's own words"}`))
		return
	}
	now := time.Now()
	c := Claims{"iss": p.URL, "aud": ClientID, "iat": now.Unix(), "exp": now.Add(cmp.Or(p.Valid, time.Minute)).Unix(), "nonce": asked.Get("nonce"), "sub": p.Person["sub"]}
	if !p.InfoOnly {
		for name, value := range p.Person {
			c[name] = value
		}
	}
	if p.Lie != nil {
		p.Lie(c)
	}
	raw := ""
	if p.Sign != nil {
		raw = p.Sign(c)
	} else {
		raw = p.Signed(jwt.SigningMethodRS256, KeyID, c, p.key)
	}
	p.answer(w, map[string]any{"access_token": "access", "token_type": "Bearer", "expires_in": 60, "id_token": raw})
}

// Signed returns a token with any claims, signed with any method and key.
func (p *Provider) Signed(method jwt.SigningMethod, kid string, c Claims, key any) string {
	t := jwt.NewWithClaims(method, c)
	t.Header["kid"] = kid
	raw, err := t.SignedString(key)
	if err != nil {
		p.t.Error(err)
	}
	return raw
}

func (p *Provider) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil && !strings.Contains(err.Error(), "broken pipe") {
		p.t.Error(err)
	}
}
