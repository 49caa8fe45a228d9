package acceptance

import (
	"net/http"
	"strings"
	"testing"
)

// asks sends a request as a page of an origin does, and returns the response.
func (b *browser) asks(method, path, origin string, more http.Header) *http.Response {
	b.t.Helper()
	req, err := http.NewRequest(method, b.base+"/api"+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header = more.Clone()
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header.Set("Origin", origin)
	resp, err := b.http.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp
}

// Pages of the same site read responses with cookies. Pages of other allowed origins read them
// without cookies. All other pages read nothing.
func TestPagesOfAllowedOriginsCanReadResponses(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Server.PublicURL = "http://workshop.example.org"
	cfg.Server.AllowedOrigins = []string{"http://app.example.org", "https://app.example.org", "http://other.example"}
	admin := facilitator(t, startServer(t, cfg).Addr(), "")
	for origin, want := range map[string]struct{ origin, credentials string }{
		"http://app.example.org":  {"http://app.example.org", "true"},
		"https://app.example.org": {"https://app.example.org", ""}, // another scheme is another site
		"http://other.example":    {"http://other.example", ""},
		"http://evil.example":     {"", ""},
		"http://app.example.org.": {"", ""},
		"null":                    {"", ""},
	} {
		ask := http.Header{"Access-Control-Request-Method": {"PUT"}, "Access-Control-Request-Headers": {"x-csrf-token"}}
		preflight, answer := admin.asks("OPTIONS", "/codelabs/import", origin, ask), admin.asks("GET", "/session", origin, nil)
		for _, resp := range []*http.Response{preflight, answer} {
			if got := resp.Header; got.Get("Access-Control-Allow-Origin") != want.origin || got.Get("Access-Control-Allow-Credentials") != want.credentials || !strings.Contains(strings.Join(got.Values("Vary"), ","), "Origin") {
				t.Errorf("%s: headers %v", origin, got)
			}
		}
		if answer.StatusCode != 200 || answer.Header.Get("X-CSRF-Token") == "" {
			t.Errorf("%s: status %d, or no CSRF token", origin, answer.StatusCode)
		}
		status := 405
		if want.origin != "" {
			status = 204
			if h := preflight.Header; h.Get("Access-Control-Allow-Methods") != "POST" || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "X-CSRF-Token") {
				t.Errorf("%s: preflight headers %v", origin, h)
			}
		}
		if preflight.StatusCode != status {
			t.Errorf("%s: the preflight returned %d, want %d", origin, preflight.StatusCode, status)
		}
	}
	// Error responses have the headers, too: 404 for an unknown path, and 405 for a wrong method.
	for _, path := range []string{"/nothing", "/codelabs/import"} {
		if h := admin.asks("GET", path, "http://app.example.org", nil).Header; h.Get("Access-Control-Allow-Origin") == "" || h.Get("Access-Control-Expose-Headers") == "" {
			t.Errorf("%s: headers %v", path, h)
		}
	}
	if plain := admin.asks("OPTIONS", "/codelabs", "http://app.example.org", nil); plain.StatusCode != 405 {
		t.Errorf("OPTIONS without a requested method returned %d, want 405", plain.StatusCode)
	}
}

func TestOtherOriginsCanReadNothingByDefault(t *testing.T) {
	t.Parallel()
	admin := facilitator(t, startServer(t, testConfig(t)).Addr(), "")
	for _, method := range []string{"GET", "OPTIONS"} {
		resp := admin.asks(method, "/session", "http://app.example.org", http.Header{"Access-Control-Request-Method": {"GET"}})
		for name := range resp.Header {
			if strings.HasPrefix(name, "Access-Control") {
				t.Errorf("%s returned the header %s", method, name)
			}
		}
	}
}

func TestTheImportPathIsNotReadAsACodelabID(t *testing.T) {
	t.Parallel()
	admin := facilitator(t, startServer(t, testConfig(t)).Addr(), "")
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		a := admin.send(method, "/codelabs/import", nil).want(405)
		if got := a.header.Get("Allow"); got != "POST" {
			t.Errorf("%s: Allow is %q, want \"POST\"", method, got)
		}
	}
}

func TestTheAsParameterMustBeAKnownRole(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	for _, path := range []string{c.path + "/chat", c.path, "/session", "/ws/" + c.id} {
		lin.get(path+"?as=AAA").refused(400, "as must be")
	}
	lin.get(c.path + "/chat?as=attendee").want(200)
	lin.get(c.path + "/chat?as=").want(200)
}
