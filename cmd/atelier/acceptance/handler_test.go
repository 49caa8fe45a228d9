package acceptance

import (
	"bytes"
	"crypto"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

func TestAPaymentSucceedsThroughTheHandler(t *testing.T) {
	t.Parallel()
	for _, base := range []string{production, sandbox} {
		m := newMarket(t, common.get(t).Addr(), base)
		card := visa()
		card["unknown"] = map[string]any{"kept": []any{1.5, "ä", nil}}
		token := m.platform.post("/tokenize", record{"credential": card, "binding": m.binding("c1")}).object().text("token")
		prefix := map[string]string{production: "tok_live_", sandbox: "tok_test_"}[base]
		if !strings.HasPrefix(token, prefix) || len(token) != 9+43 {
			t.Fatalf("the token has %d characters, or does not begin with %s", len(token), prefix)
		}
		seen := m.business.post("/introspect", use(token, "c1")).object()
		if seen.text("policy") != "single_use" || seen.text("state") != "active" || seen.text("brand") != "visa" || seen.text("last_four") != "4242" || seen.text("type") != "card" {
			t.Errorf("the introspection returned %v", seen)
		}
		// The business's PSP acts for it.
		got := m.psp.post("/detokenize", record{"token": token, "binding": m.binding("c1")}).want(200)
		want, _ := json.Marshal(card)
		if !sameJSON(got.body, want) {
			t.Error("the credential differs from the stored one")
		}
		m.business.post("/detokenize", use(token, "c1")).wantError(410, "token_used")
		m.business.post("/introspect", use(token, "c1")).want(200)
		m.platform.post("/detokenize", use(token, "c1")).wantError(403, "insufficient_scope")
	}
}

func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}

// The test checks most lines of the table in transport/handler/RULES.md. Other tests cover the
// codes token_used, token_expired, idempotency_conflict and rate_limited.
func TestRequestsAreAnsweredAsInTheErrorTable(t *testing.T) {
	t.Parallel()
	m := newMarket(t, common.get(t).Addr(), production)
	both := m.add("platform", "tokenize", "detokenize")
	good := record{"credential": visa(), "binding": m.binding("c")}
	with := func(change func(card, binding record)) record {
		card, binding := visa(), m.binding("c")
		change(card, binding)
		return record{"credential": card, "binding": binding}
	}

	for name, body := range map[string]any{
		"invalid JSON": "{", "not an object": "[]", "invalid UTF-8": []byte("{\"credential\":\"\xff\"}"), "empty": "", "no credential": record{"binding": m.binding("c")},
		"no binding": record{"credential": visa()}, "no checkout": with(func(_, b record) { delete(b, "checkout_id") }),
		"empty checkout":               with(func(_, b record) { b["checkout_id"] = "" }),
		"long checkout":                with(func(_, b record) { b["checkout_id"] = strings.Repeat("ä", 128) }),
		"checkout is a number":         with(func(_, b record) { b["checkout_id"] = 7 }),
		"identity is a string":         with(func(_, b record) { b["identity"] = "x" }),
		"identity without token":       with(func(_, b record) { b["identity"] = record{} }),
		"type of something else":       with(func(_, b record) { b["type"], b["id"] = "dev.commerce.order", "c" }),
		"type of another checkout":     with(func(_, b record) { b["type"], b["id"] = "dev.commerce.checkout", "d" }),
		"type without id":              with(func(_, b record) { b["type"] = "dev.commerce.checkout" }),
		"no type":                      with(func(c, _ record) { delete(c, "type") }),
		"no number":                    with(func(c, _ record) { delete(c, "number") }),
		"number is a number":           with(func(c, _ record) { c["number"] = 4242424242424242 }),
		"month is a string":            with(func(c, _ record) { c["expiry_month"] = "12" }),
		"month is a fraction":          with(func(c, _ record) { c["expiry_month"] = 1.5 }),
		"no year":                      with(func(c, _ record) { delete(c, "expiry_year") }),
		"no number type":               with(func(c, _ record) { delete(c, "card_number_type") }),
		"cvc is a number":              with(func(c, _ record) { c["cvc"] = 737 }),
		"name is an object":            with(func(c, _ record) { c["name"] = record{} }),
		"network token, no cryptogram": record{"credential": record{"type": "network_token", "number": "4242424242424242", "expiry_month": 1, "expiry_year": 2031}, "binding": m.binding("c")},
	} {
		if a := m.platform.post("/tokenize", body); a.code(400) != "invalid_request" || strings.Contains(string(a.body), "42424242") {
			t.Errorf("%s: the response is %s", name, a.body)
		}
	}
	for name, change := range map[string]func(c, b record){
		"check digit":     func(c, _ record) { c["number"] = "4242424242424241" },
		"short":           func(c, _ record) { c["number"] = "42424242424" },
		"long":            func(c, _ record) { c["number"] = strings.Repeat("4", 20) },
		"letters":         func(c, _ record) { c["number"] = "4242x24242424242" },
		"empty number":    func(c, _ record) { c["number"] = "" },
		"month 0":         func(c, _ record) { c["expiry_month"] = 0 },
		"month 13":        func(c, _ record) { c["expiry_month"] = 13 },
		"year":            func(c, _ record) { c["expiry_year"] = 31 },
		"cvc":             func(c, _ record) { c["cvc"] = "12" },
		"cvc of letters":  func(c, _ record) { c["cvc"] = "abc" },
		"number type":     func(c, _ record) { c["card_number_type"] = "iban" },
		"unknown type":    func(c, _ record) { c["type"] = "bank_account" },
		"too large":       func(c, _ record) { c["extra"] = strings.Repeat("x", 17<<10) },
		"dpan must check": func(c, _ record) { c["card_number_type"], c["number"] = "dpan", "4242424242424241" },
	} {
		if a := m.platform.post("/tokenize", with(change)); a.code(422) != "credential_invalid" || strings.Contains(string(a.body), "42424242") {
			t.Errorf("%s: the response is %s", name, a.body)
		}
	}
	for name, change := range map[string]func(c, b record){
		"no cvc":                     func(c, _ record) { delete(c, "cvc") },
		"network token without Luhn": func(c, _ record) { c["card_number_type"], c["number"] = "network_token", "4242424242424241" },
		"expired, which is allowed":  func(c, _ record) { c["expiry_year"] = 2001 },
		"matching type and id":       func(_, b record) { b["type"], b["id"] = "dev.commerce.checkout", "c" },
		"unknown members":            func(_, b record) { b["more"] = 1 },
		"checkout of any bytes":      func(_, b record) { b["checkout_id"] = "a/b?c=%20 \u0000\u2028" },
		"a pan":                      func(c, _ record) { c["type"] = "pan" },
		"no identity":                func(_, b record) { delete(b, "identity") },
	} {
		if a := m.platform.post("/tokenize", with(change)); a.status != 200 {
			t.Errorf("%s: the response is %d %s", name, a.status, a.body)
		}
	}

	m.platform.post("/tokenize", good, header("Content-Type", "text/plain")).wantError(415, "invalid_request")
	m.platform.post("/tokenize", strings.Repeat(" ", 65<<10)).wantError(413, "invalid_request")
	for name, bearer := range map[string]string{
		"none": "", "nonsense": "x", "of the wrong form": "ak_live_x", "unknown key": "ak_live_0123456789abcdef_" + strings.Repeat("A", 43),
		"wrong secret": m.platform.secret[:len(m.platform.secret)-1] + "_", "sandbox secret": newMarket(t, m.addr, sandbox).platform.secret,
		"not an access token": "eyJhbGciOiJub25lIn0.e30.", "an admin's": m.admin.post("/admin/tokens", record{"name": "t"}).object().text("token"),
	} {
		p := *m.platform
		p.bearer = bearer
		a := p.post("/tokenize", good)
		if a.code(401) != "unauthorized" || !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("%s: the headers are %v", name, a.header)
		}
	}
	basic := *m.platform
	basic.bearer = ""
	basic.post("/tokenize", good, header("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(m.platform.id+":"+m.platform.secret)))).wantError(401, "unauthorized")

	m.business.post("/tokenize", good).wantError(403, "insufficient_scope")
	m.platform.post("/introspect", use("x", "c")).wantError(403, "insufficient_scope")
	m.platform.post("/tokenize", with(func(_, b record) { b["identity"] = record{"access_token": "id_live_unknown"} })).wantError(403, "participant_not_authorized")
	m.platform.post("/tokenize", with(func(_, b record) { b["identity"] = record{"access_token": m.business.secret} })).wantError(403, "participant_not_authorized")

	token := m.tokenize("c")
	stranger := m.add("psp", "detokenize")
	stranger.post("/detokenize", record{"token": token, "binding": m.binding("c")}).wantError(403, "participant_not_authorized")
	stranger.post("/detokenize", use(token, "c")).wantError(403, "participant_not_authorized") // the stranger has not acknowledged the security duties
	m.acknowledge(stranger)
	foreign := stranger.post("/detokenize", use(token, "c")).wantError(404, "token_not_found")
	unknown := stranger.post("/detokenize", use("tok_live_"+strings.Repeat("A", 43), "c")).wantError(404, "token_not_found")
	if string(foreign.body) != string(unknown.body) {
		t.Error("the responses for an unknown and a foreign token differ")
	}
	m.business.post("/detokenize", use("not a token", "c")).wantError(404, "token_not_found")
	stranger.post("/detokenize", record{"token": "x", "binding": m.binding("c")}).wantError(403, "participant_not_authorized")
	both.post("/detokenize", record{"token": token, "binding": m.binding("c")}).wantError(403, "participant_not_authorized")
	// The platform that tokenized a credential cannot read it back.
	m.acknowledge(both)
	issued := both.post("/tokenize", record{"credential": visa(), "binding": m.binding("c")}).object().text("token")
	both.post("/detokenize", record{"token": issued, "binding": m.binding("c")}).wantError(403, "participant_not_authorized")
	both.post("/detokenize", use(issued, "c")).wantError(404, "token_not_found")

	m.business.post("/detokenize", use(token, "d")).wantError(403, "binding_mismatch")
	m.business.post("/detokenize", use(token, "c")).want(200)
	m.business.post("/detokenize", use(token, "d")).wantError(403, "binding_mismatch")

	locked := m.tokenize("c")
	for range 5 {
		m.business.post("/detokenize", use(locked, "d")).wantError(403, "binding_mismatch")
	}
	m.business.post("/detokenize", use(locked, "c")).wantError(410, "token_revoked")
	if s := m.business.post("/introspect", use(locked, "c")).object(); s.text("state") != "locked" {
		t.Errorf("the locked token is %v", s)
	}
	revoked := m.tokenize("c")
	for range 2 {
		m.psp.post("/revoke", record{"token": revoked, "binding": m.binding("c")}).want(204)
	}
	m.business.post("/detokenize", use(revoked, "c")).wantError(410, "token_revoked")

	m.policy(m.business, "session", 0)
	lasting := m.tokenize("basket/1 ä")
	for range 2 {
		m.business.post("/detokenize", use(lasting, "basket/1 ä")).want(200)
	}
	end := "/sessions/" + url.PathEscape("basket/1 ä") + "/end"
	stranger.post(end, record{"identity": record{"access_token": m.business.identity}}).wantError(403, "participant_not_authorized")
	m.psp.post(end, record{"identity": record{"access_token": m.business.identity}}).want(204)
	m.business.post(end, nil).want(204)
	m.business.post("/detokenize", use(lasting, "basket/1 ä")).wantError(410, "token_revoked")
	m.platform.post("/tokenize", record{"credential": visa(), "binding": m.binding("basket/1 ä")}).wantError(409, "session_ended")
	m.business.post("/sessions/"+strings.Repeat("x", 256)+"/end", nil).wantError(400, "invalid_request")

	m.admin.post("/admin/participants/"+m.business.id+"/disable", nil).want(200)
	m.business.post("/introspect", use(token, "c")).wantError(401, "unauthorized")
	m.psp.post("/introspect", record{"token": token, "binding": m.binding("c")}).wantError(403, "participant_not_authorized")
	m.platform.post("/tokenize", good).wantError(403, "participant_not_authorized")

	if a := m.platform.send("GET", "/tokenize", nil); a.code(405) == "" || a.header.Get("Allow") != "POST" {
		t.Errorf("the headers for GET /tokenize are %v", a.header)
	}
	m.platform.send("POST", "/nothing", nil).wantError(404, "not_found")
	m.platform.send("POST", "/sessions//end", nil).wantError(404, "not_found")
}

func TestIdempotencyKeysReturnTheSameToken(t *testing.T) {
	t.Parallel()
	m := newMarket(t, common.get(t).Addr(), production)
	const key = "a-key-of-22-characters"
	first := m.tokenize("c", header("Idempotency-Key", key))
	if again := m.tokenize("c", header("Idempotency-Key", key)); again != first {
		t.Error("the repeated request returned another token")
	}
	m.platform.post("/tokenize", record{"credential": visa(), "binding": m.binding("d")}, header("Idempotency-Key", key)).wantError(409, "idempotency_conflict")
	good := record{"credential": visa(), "binding": m.binding("c")}
	// A request with the same data counts as the same request, even if order, spaces and escapes
	// differ.
	card, err := json.Marshal(visa())
	if err != nil {
		t.Fatal(err)
	}
	bound, err := json.Marshal(m.binding("c"))
	if err != nil {
		t.Fatal(err)
	}
	as := strings.Replace(string(card), `"type"`, `"t\u0079pe"`, 1)
	for _, body := range []string{`{"credential":` + as + `, "binding" :` + string(bound) + "}", ` {"binding":` + string(bound) + `,"credential":` + string(card) + `}`} {
		if again := m.platform.post("/tokenize", body, header("Idempotency-Key", key)).want(200).object().text("token"); again != first {
			t.Errorf("another token was returned for %s", body)
		}
	}
	// A body with a repeated field is refused, because it is ambiguous.
	for _, body := range []string{
		`{"credential":` + string(card) + `,"binding":` + string(bound) + `,"bind\u0069ng":` + string(bound) + `}`,
		`{"credential":` + strings.TrimSuffix(string(card), "}") + `,"x":{"y":[{"z":1,"z":2}]}},"binding":` + string(bound) + `}`,
	} {
		m.platform.post("/tokenize", body).wantError(400, "invalid_request")
	}
	for _, bad := range [][]string{{""}, {"short"}, {key[:21]}, {strings.Repeat("x", 256)}, {key, key}, {key, ""}} {
		m.platform.post("/tokenize", good, func(r *http.Request) { r.Header["Idempotency-Key"] = bad }).wantError(400, "invalid_request")
	}
	m.business.post("/detokenize", use(first, "c")).want(200)
	// The token has ended, so the key is free again, even for a different request.
	if next := m.tokenize("d", header("Idempotency-Key", key)); next == first {
		t.Error("tokenize with the key returned a redeemed token")
	}
}

func TestOAuthClientsGetAccessTokens(t *testing.T) {
	t.Parallel()
	m := newMarket(t, common.get(t).Addr(), production)
	form := func(id, secret string, more ...string) url.Values {
		v := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}}
		for i := 0; i+1 < len(more); i += 2 {
			v[more[i]] = []string{more[i+1]}
		}
		return v
	}
	anybody := *m.business
	anybody.bearer = ""
	got := anybody.post("/oauth/token", form(m.business.id, m.business.secret)).object()
	if got.text("token_type") != "Bearer" || got.number("expires_in") != 600 || got.text("scope") != "detokenize" {
		t.Errorf("the token response is %v", got)
	}
	client := *m.business
	client.bearer = got.text("access_token")
	client.post("/introspect", use(m.tokenize("c"), "c")).want(200)
	client.post("/tokenize", record{}).wantError(403, "insufficient_scope")

	basic := header("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(m.business.id+":"+m.business.secret)))
	anybody.post("/oauth/token", url.Values{"grant_type": {"client_credentials"}}, basic).want(200)
	for name, c := range map[string]struct {
		form   url.Values
		status int
		err    string
	}{
		"wrong secret":     {form(m.business.id, m.psp.secret), 401, "invalid_client"},
		"wrong id":         {form(m.psp.id, m.business.secret), 401, "invalid_client"},
		"no secret":        {form(m.business.id, ""), 401, "invalid_client"},
		"another grant":    {form(m.business.id, m.business.secret, "grant_type", "password"), 400, "unsupported_grant_type"},
		"no grant":         {form(m.business.id, m.business.secret, "grant_type", ""), 400, "invalid_request"},
		"too wide a scope": {form(m.business.id, m.business.secret, "scope", "tokenize"), 400, "invalid_scope"},
	} {
		a := anybody.post("/oauth/token", c.form).want(c.status)
		var body record
		if err := json.Unmarshal(a.body, &body); err != nil || body.text("error") != c.err || body.text("code") == "" || body.text("content") == "" {
			t.Errorf("%s: the response is %s", name, a.body)
		}
	}
	anybody.post("/oauth/token", record{"grant_type": "client_credentials"}).wantError(415, "invalid_request")

	// An access token is valid in one environment, and becomes invalid with its key.
	elsewhere := newMarket(t, m.addr, sandbox)
	foreign := *elsewhere.business
	foreign.bearer = client.bearer
	foreign.post("/introspect", use("x", "c")).wantError(401, "unauthorized")
	changed := client
	parts := strings.Split(client.bearer, ".")
	changed.bearer = parts[0] + "." + parts[1] + "." + strings.Repeat("A", len(parts[2]))
	changed.post("/introspect", use("x", "c")).wantError(401, "unauthorized")
	m.admin.delete("/admin/participants/" + m.business.id + "/keys/" + m.business.keyID).want(204)
	client.post("/introspect", use("x", "c")).wantError(401, "unauthorized")
	m.business.post("/introspect", use("x", "c")).wantError(401, "unauthorized")
	next := m.admin.post("/admin/participants/"+m.business.id+"/keys", nil).object()
	m.business.bearer = next.text("secret")
	m.business.post("/introspect", use(m.tokenize("c"), "c")).want(200)
}

func TestEachParticipantHasItsOwnLimit(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Handler.RatePerSecond = 1
	m := newMarket(t, startServer(t, cfg).Addr(), production)
	limited := 0
	for n := 0; n < 100 && limited < 5; n++ {
		if a := m.platform.post("/tokenize", record{}); a.status == 429 {
			a.wantError(429, "rate_limited")
			if a.header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
			limited++
		}
	}
	if limited < 5 {
		t.Errorf("only %d of 100 requests were limited", limited)
	}
	m.business.post("/introspect", use("x", "c")).wantError(404, "token_not_found")
}

func TestTheSpecificationDocumentIsServed(t *testing.T) {
	t.Parallel()
	m := newMarket(t, common.get(t).Addr(), production)
	for _, base := range []string{production, sandbox} {
		p := *m.platform
		p.base, p.bearer = "http://"+m.addr+base, ""
		doc := p.do("GET", "", nil).object()
		urls := record(doc["base_urls"].(map[string]any))
		if doc.text("name") != "com.atelier.tokenization" || urls.text("production") != "http://"+m.addr+production || urls.text("sandbox") != "http://"+m.addr+sandbox {
			t.Errorf("the document is %v", doc)
		}
		for _, part := range []string{"authentication", "onboarding", "accepted_credentials", "lifecycle", "acknowledgement", "operations", "errors"} {
			if doc[part] == nil {
				t.Errorf("the document lacks %s", part)
			}
		}
		page := p.do("GET", "/", nil, header("Accept", "text/html,*/*"))
		if !strings.HasPrefix(page.header.Get("Content-Type"), "text/html") || !strings.Contains(string(page.body), "com.atelier.tokenization") ||
			!strings.Contains(string(page.body), urls.text("sandbox")) {
			t.Errorf("the page is %.200s", page.body)
		}
		api := p.do("GET", "/openapi.json", nil).object()
		if servers := fmt.Sprint(api["servers"]); !strings.Contains(servers, "http://"+m.addr+base) {
			t.Errorf("the servers in openapi.json are %s", servers)
		}
	}
	// The OpenAPI description contains every error code of the document.
	codes := map[string]bool{}
	v, _ := handlerAPI.at(pointer{"components", "schemas", "Error", "properties", "code", "enum"})
	for _, c := range v.([]any) {
		codes[c.(string)] = true
	}
	for _, e := range m.platform.do("GET", "", nil).object()["errors"].([]any) {
		if c := record(e.(map[string]any)).text("code"); !codes[c] {
			t.Errorf("%s is not in the description", c)
		}
	}
}

func TestEachOperationCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	for _, off := range []string{"tokenize", "detokenize"} {
		cfg := testConfig(t)
		cfg.Handler.Tokenize, cfg.Handler.Detokenize = off != "tokenize", off != "detokenize"
		m := newMarket(t, startServer(t, cfg).Addr(), production)
		m.platform.send("POST", "/"+off, record{}).wantError(404, "not_found")
		on := map[string]string{"tokenize": "detokenize", "detokenize": "tokenize"}[off]
		if a := m.platform.send("POST", "/"+on, record{}); a.status == 404 {
			t.Errorf("%s is switched off too", on)
		}
		doc := string(m.platform.do("GET", "", nil).body)
		if strings.Contains(doc, production+"/"+off+`"`) || !strings.Contains(doc, production+"/"+on+`"`) {
			t.Errorf("the document lists %s, or lacks the other operation", off)
		}
		api := record(m.platform.do("GET", "/openapi.json", nil).object()["paths"].(map[string]any))
		if api["/"+off] != nil || api["/"+on] == nil {
			t.Errorf("the description lists %s, or lacks the other operation", off)
		}
	}
}

func TestCredentialsOfOpaqueTypesAreReturnedUnchanged(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Handler.OpaqueTypes = []string{"bank_account"}
	cfg.Handler.RefuseExpired = true
	m := newMarket(t, startServer(t, cfg).Addr(), production)
	account := record{"type": "bank_account", "iban": "XX00", "nested": map[string]any{"number": 4242}}
	token := m.platform.post("/tokenize", record{"credential": account, "binding": m.binding("c")}).object().text("token")
	got := m.business.post("/detokenize", use(token, "c")).object()
	if got.text("iban") != "XX00" || fmt.Sprint(got["nested"]) != "map[number:4242]" {
		t.Errorf("the credential is %v", got)
	}
	old := visa()
	old["expiry_year"] = 2020
	m.platform.post("/tokenize", record{"credential": old, "binding": m.binding("c")}).wantError(422, "credential_invalid")
}

func TestABusinessPublishesItsEncryptionKey(t *testing.T) {
	t.Parallel()
	m := newMarket(t, common.get(t).Addr(), production)
	anybody := *m.platform
	anybody.bearer = ""
	anybody.do("GET", "/keys/"+m.business.identity, nil).wantError(404, "not_found")
	anybody.do("PUT", "/keys", record{}).wantError(401, "unauthorized")
	public, private := encryptionKeys(t)
	m.business.do("PUT", "/keys", private).wantError(400, "invalid_request")
	m.business.do("PUT", "/keys", `{"kty":"EC"}`).wantError(400, "invalid_request")
	m.business.do("PUT", "/keys", public).want(200)
	got := anybody.do("GET", "/keys/"+m.business.identity, nil).want(200)
	if !sameJSON(got.body, public) {
		t.Errorf("the published key is %s", got.body)
	}
	anybody.do("GET", "/keys/nobody", nil).wantError(404, "not_found")
	m.business.do("DELETE", "/keys", nil).want(204)
	anybody.do("GET", "/keys/"+m.business.identity, nil).wantError(404, "not_found")
}

// A participant that sets a business's encryption key can read every card that is encrypted to it.
// Setting the key therefore needs the same permission as detokenize. The audit record contains the
// thumbprints of the old and the new key.
func TestSettingAnEncryptionKeyNeedsThePermissionToReadTokens(t *testing.T) {
	t.Parallel()
	m := newMarket(t, common.get(t).Addr(), production)
	shop := m.add("business", "tokenize", "detokenize")
	public, _ := encryptionKeys(t)
	other, _ := encryptionKeys(t)
	narrow, platform := *shop, m.platform
	narrow.bearer = shop.post("/oauth/token", url.Values{
		"grant_type": {"client_credentials"}, "client_id": {shop.id}, "client_secret": {shop.secret}, "scope": {"tokenize"},
	}).object().text("access_token")
	for _, method := range []string{"PUT", "POST", "DELETE"} {
		body := any(public)
		if method == "DELETE" {
			body = nil
		}
		platform.do(method, "/keys", body).wantError(403, "insufficient_scope")
		narrow.do(method, "/keys", body).wantError(403, "insufficient_scope")
		shop.do(method, "/keys", body).wantError(403, "participant_not_authorized")
	}
	m.acknowledge(shop)
	narrow.do("PUT", "/keys", public).wantError(403, "insufficient_scope")
	shop.do("PUT", "/keys", public).want(200)
	shop.do("POST", "/keys", other).want(200)
	shop.do("DELETE", "/keys", nil).want(204)
	thumbprint := func(jwk []byte) string {
		var k jose.JSONWebKey
		sum, err := []byte(nil), k.UnmarshalJSON(jwk)
		if err == nil {
			sum, err = k.Thumbprint(crypto.SHA256)
		}
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(sum)
	}
	a, b := thumbprint(public), thumbprint(other)
	var trail []string
	for _, r := range m.admin.get("/admin/audit-logs?limit=1000&action=participant_encryption_key").list() {
		if more := r["metadata"].(map[string]any); r.text("target_id") == shop.id {
			trail = append(trail, fmt.Sprint(r.text("actor_id") == shop.id, more["security"], more["old_thumbprint"], more["new_thumbprint"]))
		}
	}
	want := []string{fmt.Sprint(true, "true", b, nil), fmt.Sprint(true, "true", a, b), fmt.Sprint(true, "true", nil, a)}
	if !slices.Equal(trail, want) {
		t.Errorf("the audit trail has %q, want %q", trail, want)
	}
}

// A delegate must acknowledge the security duties before it acts for another participant. It can
// introspect and revoke its own tokens without an acknowledgement.
func TestADelegateMustAcknowledgeFirst(t *testing.T) {
	t.Parallel()
	m := newMarket(t, common.get(t).Addr(), production)
	delegate := m.add("psp", "detokenize")
	m.admin.post("/admin/participants/"+delegate.id+"/grants", record{"participant_id": m.business.id}).want(200)
	token := m.tokenize("c")
	for _, path := range []string{"/introspect", "/revoke", "/detokenize"} {
		delegate.post(path, record{"token": token, "binding": m.binding("c")}).wantError(403, "participant_not_authorized")
		delegate.post(path, record{"token": "tok_live_" + strings.Repeat("A", 43), "binding": m.binding("c")}).wantError(403, "participant_not_authorized")
	}
	own := m.platform.post("/tokenize", record{
		"credential": visa(), "binding": record{"checkout_id": "c", "identity": record{"access_token": delegate.identity}},
	}).object().text("token")
	delegate.post("/introspect", use(own, "c")).want(200)
	delegate.post("/revoke", use(own, "c")).want(204)
	m.acknowledge(delegate)
	delegate.post("/introspect", record{"token": token, "binding": m.binding("c")}).want(200)
	delegate.post("/revoke", record{"token": token, "binding": m.binding("c")}).want(204)
}

// The documents are the same bytes in each response, so clients need not download them again.
func TestTheHandlersDocumentsAreStable(t *testing.T) {
	t.Parallel()
	m := newMarket(t, common.get(t).Addr(), production)
	html := header("Accept", "text/html")
	for name, get := range map[string]func(...option) answer{
		"openapi":  func(o ...option) answer { return m.platform.do("GET", "/openapi.json", nil, o...) },
		"document": func(o ...option) answer { return m.platform.do("GET", "", nil, o...) },
		"page":     func(o ...option) answer { return m.platform.do("GET", "", nil, append(o, html)...) },
	} {
		first := get().want(200)
		tag := first.header.Get("ETag")
		for range 20 {
			if again := get().want(200); !bytes.Equal(again.body, first.body) || again.header.Get("ETag") != tag || tag == "" {
				t.Fatalf("%s: the bytes or the tag %s changed", name, tag)
			}
		}
		for _, has := range []string{tag, "W/" + tag, `"x", ` + tag, "*"} {
			if a := get(header("If-None-Match", has)).want(304); len(a.body) != 0 || a.header.Get("ETag") != tag {
				t.Errorf("%s: If-None-Match %s returned %d bytes", name, has, len(a.body))
			}
		}
		get(header("If-None-Match", `"x"`)).want(200)
	}
}

// Many callers detokenize the same token concurrently over HTTP, and only one of them succeeds.
func TestOnlyOneConcurrentDetokenizeSucceeds(t *testing.T) {
	t.Parallel()
	m := newMarket(t, common.get(t).Addr(), production)
	for range 20 {
		token := m.tokenize("c")
		var won atomic.Int64
		var wg sync.WaitGroup
		for i := range 8 {
			p, body := m.business, any(use(token, "c"))
			if i%2 == 0 {
				p, body = m.psp, record{"token": token, "binding": m.binding("c")}
			}
			wg.Go(func() {
				if p.post("/detokenize", body).status == 200 {
					won.Add(1)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d callers got the credential, want 1", won.Load())
		}
	}
}

func TestEveryTokenOperationIsInTheAuditTrail(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	m := newMarket(t, startServer(t, cfg).Addr(), production)
	m.policy(m.business, "session", 0)
	token := m.tokenize("c")
	m.business.post("/introspect", use(token, "c")).want(200)
	m.business.post("/detokenize", use(token, "c")).want(200)
	m.business.post("/detokenize", use(token, "d")).want(403)
	m.business.post("/revoke", use(token, "c")).want(204)
	m.business.post("/sessions/c/end", nil).want(204)
	m.policy(m.business, "single_use", 0)
	used := m.tokenize("e")
	m.psp.post("/detokenize", record{"token": used, "binding": m.binding("e")}).want(200)
	m.psp.post("/detokenize", record{"token": used, "binding": m.binding("e")}).want(410)
	m.psp.post("/detokenize", record{"token": used, "binding": m.binding("f")}).wantError(403, "binding_mismatch")
	count := map[string]int{}
	for _, r := range m.admin.get("/admin/audit-logs?limit=1000").list() {
		count[r.text("action")]++
		if more, _ := r["metadata"].(map[string]any); r.text("action") == "token_reuse" && (more["security"] != "true" || more["participant"] != m.business.id) {
			t.Errorf("the audit record of a reuse has %v", more)
		}
	}
	for action, n := range map[string]int{
		"participant_add": 3, "participant_acknowledge": 2, "participant_grant": 1, "participant_policy": 2,
		"token_create": 2, "token_introspect": 1, "token_detokenize": 2, "token_mismatch": 1, "token_revoke": 1, "token_session_end": 1, "token_reuse": 2,
	} {
		if count[action] != n {
			t.Errorf("%s: %d audit records, want %d", action, count[action], n)
		}
	}
}

func TestTokensSurviveAShutdownButNotARestore(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	s := startUntilStopped(t, cfg)
	m := newMarket(t, s.Addr(), production)
	m.policy(m.business, "ttl", 0)
	token := m.tokenize("c")
	saved := backup(t, cfg.Server.Data)
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	again := startUntilStopped(t, cfg)
	m.move(again.Addr())
	m.business.post("/detokenize", use(token, "c")).want(200)
	if err := again.Stop(); err != nil {
		t.Fatal(err)
	}
	restored := configOn(t.TempDir() + "/restored")
	restore(t, restored, saved)
	m.move(startServer(t, restored).Addr())
	m.business.post("/detokenize", use(token, "c")).wantError(404, "token_not_found")
	m.business.post("/detokenize", use(m.tokenize("c"), "c")).want(200)
}

// move continues with a server at another address.
func (m *market) move(addr string) {
	m.addr, m.admin.base = addr, "http://"+addr
	for _, p := range []*member{m.platform, m.business, m.psp} {
		p.base = "http://" + addr + m.path
		p.http.CloseIdleConnections()
	}
}
