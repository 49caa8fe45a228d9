package acceptance

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"atelier/transport/handler"
)

var handlerAPI = load("handler.openapi.json", handler.OpenAPI())

// member calls the tokenization handler as a participant's program does. It verifies every response
// against the handler's description.
type member struct {
	t             testing.TB
	base          string // address of the handler
	http          *http.Client
	id, identity  string
	keyID, secret string
	bearer        string // the bearer token that is sent; the secret unless a test changes it
}

const (
	production = "/handler"
	sandbox    = "/sandbox/handler"
)

// market is a server with a platform, a business, and the business's PSP. They and the admin use
// the same node, because a change reaches the other nodes up to a second later. See
// TestDisablingTakesEffectOnEveryNode.
type market struct {
	t                       testing.TB
	addr                    string
	admin                   *browser
	platform, business, psp *member
	path                    string
}

func newMarket(t testing.TB, addr, path string) *market {
	t.Helper()
	m := &market{t: t, addr: addr, admin: open(t, addr), path: path}
	m.admin.stays = true
	m.admin.post("/login", record{"admin_id": adminID, "admin_pw": adminPW}).want(200)
	m.platform = m.add("platform", "tokenize")
	m.business = m.add("business", "detokenize")
	m.psp = m.add("psp", "detokenize")
	m.acknowledge(m.business)
	m.acknowledge(m.psp)
	m.admin.post("/admin/participants/"+m.psp.id+"/grants", record{"participant_id": m.business.id}).want(200)
	return m
}

func (m *market) add(kind string, scopes ...string) *member {
	m.t.Helper()
	environment := "production"
	if m.path == sandbox {
		environment = "sandbox"
	}
	p := m.admin.post("/admin/participants", record{"name": "A " + kind, "kind": kind, "scopes": scopes, "environment": environment}).object()
	key := record(p["key"].(map[string]any))
	returnedSecrets.add(key.text("secret"))
	transport := &http.Transport{}
	m.t.Cleanup(transport.CloseIdleConnections)
	return &member{
		t: m.t, base: "http://" + m.addr + m.path, http: &http.Client{Transport: transport, Timeout: testTimeout},
		id: p.text("id"), identity: p.text("identity"), keyID: key.text("id"), secret: key.text("secret"), bearer: key.text("secret"),
	}
}

func (m *market) acknowledge(p *member) {
	m.t.Helper()
	m.admin.post("/admin/participants/"+p.id+"/acknowledge", record{"version": "1"}).want(200)
}

func (m *market) policy(p *member, policy string, seconds int) {
	m.t.Helper()
	m.admin.post("/admin/participants/"+p.id+"/policy", record{"policy": policy, "ttl_seconds": seconds}).want(200)
}

// binding identifies a checkout of the business.
func (m *market) binding(checkout string) record {
	return record{"checkout_id": checkout, "identity": record{"access_token": m.business.identity}}
}

// tokenize creates a token for the business.
func (m *market) tokenize(checkout string, opts ...option) string {
	m.t.Helper()
	return m.platform.post("/tokenize", record{"credential": visa(), "binding": m.binding(checkout)}, opts...).object().text("token")
}

// use returns the body of an operation on one of the caller's tokens.
func use(token, checkout string) record {
	return record{"token": token, "binding": record{"checkout_id": checkout}}
}

func visa() record {
	return record{"type": "card", "card_number_type": "fpan", "number": cardNumber, "expiry_month": 12, "expiry_year": 2031, "cvc": "737", "name": cardName}
}

func (p *member) post(path string, body any, opts ...option) answer {
	p.t.Helper()
	return p.do(http.MethodPost, path, body, opts...)
}

// do sends a request below the base and verifies the response against the document.
func (p *member) do(method, path string, body any, opts ...option) answer {
	p.t.Helper()
	a := p.send(method, path, body, opts...)
	template, _, _ := strings.Cut(path, "?")
	if rest, ok := strings.CutPrefix(path, "/sessions/"); ok && strings.HasSuffix(rest, "/end") {
		template = "/sessions/{checkout_id}/end"
	} else if strings.HasPrefix(path, "/keys/") {
		template = "/keys/{identity}"
	} else if path == "" {
		template = "/"
	}
	if err := handlerAPI.verifyAnswer(method, template, a.status, a.header, a.body); err != nil {
		p.t.Errorf("undocumented: %v", err)
	}
	return a
}

func (p *member) send(method, path string, body any, opts ...option) answer {
	p.t.Helper()
	var raw []byte
	contentType := "application/json"
	switch v := body.(type) {
	case nil:
		contentType = ""
	case []byte:
		raw = v
	case string:
		raw = []byte(v)
	case url.Values:
		raw, contentType = []byte(v.Encode()), "application/x-www-form-urlencoded"
	default:
		var err error
		if raw, err = json.Marshal(v); err != nil {
			p.t.Fatal(err)
		}
	}
	req, err := http.NewRequest(method, p.base+path, bytes.NewReader(raw))
	if err != nil {
		p.t.Fatal(err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if p.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+p.bearer)
	}
	for _, o := range opts {
		o(req)
	}
	res, err := p.http.Do(req)
	if err != nil {
		p.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatalf("%s %s: %v", method, path, err)
	}
	var secrets struct {
		Token       string `json:"token"`
		AccessToken string `json:"access_token"`
	}
	if res.StatusCode == http.StatusOK && json.Unmarshal(got, &secrets) == nil {
		returnedSecrets.add(secrets.Token)
		returnedSecrets.add(secrets.AccessToken)
	}
	return answer{p.t, method + " " + path, res.StatusCode, res.Header, got}
}

// code returns the code of an error response with this status. The response must have exactly
// code and content.
func (a answer) code(status int) string {
	a.t.Helper()
	var fields map[string]string
	if err := json.Unmarshal(a.want(status).body, &fields); err != nil || len(fields) != 2 || fields["content"] == "" {
		a.t.Fatalf("%s: the response with status %d has no error body: %.300s", a.what, a.status, a.body)
	}
	return fields["code"]
}

// wantError fails unless the response is this error.
func (a answer) wantError(status int, code string) answer {
	a.t.Helper()
	if got := a.code(status); got != code {
		a.t.Errorf("%s: code %q, want %q", a.what, got, code)
	}
	return a
}

// encryptionKeys creates the keys of a business as JWKs.
func encryptionKeys(t testing.TB) (public, private []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if public, err = (&jose.JSONWebKey{Key: key.Public(), KeyID: "k1", Use: "enc"}).MarshalJSON(); err != nil {
		t.Fatal(err)
	}
	if private, err = (&jose.JSONWebKey{Key: key, KeyID: "k1"}).MarshalJSON(); err != nil {
		t.Fatal(err)
	}
	return public, private
}
