package acceptance

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/service"
)

// shop calls the commerce endpoints, whose errors have a different format.
type shop struct {
	t    *testing.T
	base string
}

func (s shop) ask(method, path, body string, header ...string) (int, http.Header, string) {
	s.t.Helper()
	req, err := http.NewRequest(method, s.base+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if resp.Header.Get("X-Request-Id") == "" {
		s.t.Errorf("%s %s has no X-Request-Id", method, path)
	}
	s.described(method, path, resp.StatusCode, b)
	return resp.StatusCode, resp.Header, string(b)
}

// commerceOperations contains the operations of the commerce protocol that the document describes.
// The document lists the first operation relative to /api.
var commerceOperations = map[string]pointer{
	"POST /api/commerce/negotiate": {"paths", "/commerce/negotiate", "post"},
	"GET /.well-known/commerce":    {"paths", "/.well-known/commerce", "get"},
}

// described verifies a response against the document, if the document describes the operation.
func (s shop) described(method, path string, status int, body []byte) {
	s.t.Helper()
	at, known := commerceOperations[method+" "+path]
	if !known {
		return
	}
	answer, place := openAPI.at(at.to("responses", strconv.Itoa(status)))
	if answer == nil {
		s.t.Errorf("%s %s returned the undocumented status %d", method, path, status)
		return
	}
	if status == http.StatusNotModified {
		return
	}
	if err := openAPI.validate(place.to("content", "application/json", "schema"), body); err != nil {
		s.t.Errorf("%s %s returned %s: %v", method, path, body, err)
	}
}

// refused expects an error of the commerce protocol, which has exactly the fields code and content.
func (s shop) refused(status int, code string, got int, body string) {
	s.t.Helper()
	var e map[string]string
	if err := json.Unmarshal([]byte(body), &e); err != nil || len(e) != 2 || e["content"] == "" || e["code"] != code || got != status {
		s.t.Errorf("got %d %s, want %d %s", got, body, status, code)
	}
}

func newShop(t *testing.T) shop {
	return shop{t, "http://" + startServer(t, testConfig(t)).Addr()}
}

func TestTheBusinessProfileIsServedAndCacheable(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	status, h, body := s.ask("GET", "/.well-known/commerce", "")
	var p struct {
		UCP struct {
			Version      string
			Capabilities map[string][]map[string]any
		}
	}
	if err := json.Unmarshal([]byte(body), &p); err != nil || status != 200 {
		t.Fatalf("the profile returned %d %s", status, body)
	}
	for _, name := range []string{"checkout", "fulfillment", "discount", "order"} {
		if e := p.UCP.Capabilities["dev.commerce.shopping."+name]; p.UCP.Version != "2026-01-23" || len(e) != 1 || e[0]["version"] != "2026-01-23" {
			t.Errorf("%s is offered as %v", name, e)
		}
	}
	if h.Get("Cache-Control") != "public, max-age=300" || h.Get("Content-Type") != "application/json" {
		t.Errorf("the headers are %v", h)
	}
	if status, _, body := s.ask("GET", "/.well-known/commerce", "", "If-None-Match", h.Get("ETag")); status != 304 || body != "" {
		t.Errorf("an unchanged profile returned %d %q", status, body)
	}
	status, _, body = s.ask("POST", "/.well-known/commerce", "")
	s.refused(405, "method_not_allowed", status, body)
}

func TestTheSchemasOfTheProfileAreServed(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Server.PublicURL = "https://shop.example"
	s := shop{t, "http://" + startServer(t, cfg).Addr()}
	_, _, profile := s.ask("GET", "/.well-known/commerce", "")
	n := 0
	for part := range strings.SplitSeq(profile, `"`) {
		path, ok := strings.CutPrefix(part, "https://shop.example")
		if !ok && strings.Contains(part, "://") {
			t.Errorf("the profile contains %s, which is not served here", part)
		}
		if !ok || !strings.HasPrefix(path, "/schemas/") {
			continue
		}
		n++
		status, h, body := s.ask("GET", path, "")
		if status != 200 || !json.Valid([]byte(body)) || h.Get("ETag") == "" {
			t.Errorf("%s returned %d", path, status)
		}
	}
	if n == 0 {
		t.Error("the profile contains no schema")
	}
	for _, path := range []string{"/schemas/", "/schemas/2020-01-01/types/buyer.json", "/schemas/2026-01-23/../../config.toml", "/schemas/2026-01-23/types"} {
		status, _, body := s.ask("GET", path, "")
		if status == 200 {
			t.Errorf("%s returned %s", path, body)
		}
	}
}

// One of the operator's schemas needs a later protocol. Only the schema itself states this, not the
// profile.
func TestSchemasOfTheOperatorAreServedAndNegotiated(t *testing.T) {
	t.Parallel()
	const later = `{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://atelier.example/schemas/2026-02-01/later.json",
		"title": "Later", "description": "Needs a later protocol.", "name": "com.vendor.later", "version": "2026-02-01", "requires": {"protocol": {"min": "2027-01-01"}},
		"$defs": {
			"platform_schema": {"allOf": [{"$ref": "https://atelier.example/schemas/2026-01-23/meta/capability.json#/$defs/platform_schema"}]},
			"business_schema": {"allOf": [{"$ref": "https://atelier.example/schemas/2026-01-23/meta/capability.json#/$defs/business_schema"}]},
			"response_schema": {"allOf": [{"$ref": "https://atelier.example/schemas/2026-01-23/meta/capability.json#/$defs/response_schema"}]}}}`
	cfg := testConfig(t)
	cfg.Server.PublicURL = "https://shop.example"
	cfg.Commerce.Schemas = t.TempDir()
	if err := os.Mkdir(filepath.Join(cfg.Commerce.Schemas, "2026-02-01"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(cfg.Commerce.Schemas, "2026-02-01", "later.json")
	if err := os.WriteFile(file, []byte(later), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.Commerce.Capabilities = []config.CommerceCapability{
		{Name: "dev.commerce.shopping.checkout", Version: "2026-01-23"},
		{Name: "com.vendor.later", Version: "2026-02-01", Schema: "https://shop.example/schemas/2026-02-01/later.json"},
	}
	s := shop{t, "http://" + startServer(t, cfg).Addr()}
	// The server serves the files that it read at the start.
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	_, ours, _ := s.ask("GET", "/schemas/2026-01-23/types/buyer.json", "")
	status, h, body := s.ask("GET", "/schemas/2026-02-01/later.json", "")
	if status != 200 || body != strings.ReplaceAll(later, "https://atelier.example", "https://shop.example") {
		t.Errorf("the operator's schema returned %d %s", status, body)
	}
	for _, name := range []string{"Content-Type", "Cache-Control", "Access-Control-Allow-Origin"} {
		if h.Get(name) != ours.Get(name) || h.Get(name) == "" {
			t.Errorf("%s is %q, for a schema of the server %q", name, h.Get(name), ours.Get(name))
		}
	}
	if status, _, body := s.ask("GET", "/schemas/2026-02-01/later.json", "", "If-None-Match", h.Get("ETag")); status != 304 || body != "" {
		t.Errorf("an unchanged schema returned %d %q", status, body)
	}
	status, _, body = s.ask("POST", "/api/commerce/negotiate", `{"profile":{"ucp":{"version":"2026-01-23","services":{},"payment_handlers":{},"capabilities":{
		"dev.commerce.shopping.checkout":[{"version":"2026-01-23","spec":"https://p.example/c","schema":"https://p.example/c.json"}],
		"com.vendor.later":[{"version":"2026-02-01","spec":"https://p.example/l","schema":"https://p.example/l.json"}]}}}}`, "Content-Type", "application/json")
	if status != 200 || !strings.Contains(body, "requires protocol 2027-01-01 or later") {
		t.Errorf("the negotiation returned %d %s", status, body)
	}
}

// Without a public address, the server still declares its capabilities, but no endpoint that needs
// the address.
func TestAServerWithoutAPublicURLOffersNoEndpoints(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	_, _, profile := s.ask("GET", "/.well-known/commerce", "")
	var p struct {
		UCP struct {
			Services        map[string]any              `json:"services"`
			Capabilities    map[string][]map[string]any `json:"capabilities"`
			PaymentHandlers map[string]any              `json:"payment_handlers"`
		} `json:"ucp"`
	}
	if err := json.Unmarshal([]byte(profile), &p); err != nil {
		t.Fatal(err)
	}
	if p.UCP.Services == nil || len(p.UCP.Services) > 0 || p.UCP.PaymentHandlers == nil || len(p.UCP.PaymentHandlers) > 0 || len(p.UCP.Capabilities) != 4 || strings.Contains(profile, "://") {
		t.Errorf("the profile is %s", profile)
	}
}

func TestNegotiationReturnsTheCommonCapabilities(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	const jsonBody = "application/json"
	offer := `{"ucp":{"version":"2026-01-23","services":{},"payment_handlers":{},"capabilities":{
		"dev.commerce.shopping.checkout":[{"version":"2026-01-23","spec":"https://p.example/c","schema":"https://atelier.example/schemas/2026-01-23/shopping/checkout.json"}],
		"com.example.extra":[{"version":"2026-01-23","spec":"https://p.example/e","schema":"https://p.example/e.json"}]}}}`
	status, _, body := s.ask("POST", "/api/commerce/negotiate", `{"profile":`+offer+`}`, "Content-Type", jsonBody)
	var got struct {
		Version      string
		Capabilities map[string][]struct{ Version string }
		Dropped      []struct{ Name, Reason string }
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 {
		t.Fatalf("the negotiation returned %d %s", status, body)
	}
	if got.Version != "2026-01-23" || len(got.Capabilities) != 1 || got.Capabilities["dev.commerce.shopping.checkout"][0].Version != "2026-01-23" {
		t.Errorf("the negotiation agreed on %s", body)
	}
	if len(got.Dropped) != 1 || got.Dropped[0].Name != "com.example.extra" || got.Dropped[0].Reason == "" {
		t.Errorf("the dropped capabilities are %+v", got.Dropped)
	}

	for _, tc := range []struct {
		name, body, kind, agent string
		status                  int
		code                    string
	}{
		{"another version", `{"profile":` + strings.Replace(offer, `"version":"2026-01-23","services"`, `"version":"2025-01-01","services"`, 1) + `}`, jsonBody, "", 422, "version_unsupported"},
		{"nothing in common", `{"profile":{"ucp":{"version":"2026-01-23","services":{},"capabilities":{},"payment_handlers":{}}}}`, jsonBody, "", 422, "capabilities_incompatible"},
		{"no profile", `{}`, jsonBody, "", 422, "profile_malformed"},
		{"registry as a list", `{"profile":{"ucp":{"version":"2026-01-23","capabilities":[]}}}`, jsonBody, "", 422, "profile_malformed"},
		{"invalid JSON", `{`, jsonBody, "", 422, "profile_malformed"},
		{"other media type", `x`, "text/plain", "", 415, "invalid_request"},
		{"too large", strings.Repeat(" ", 1<<20+1), jsonBody, "", 413, "invalid_request"},
		{"an address inside", ``, "", `profile="https://127.0.0.1/p"`, 424, "profile_unreachable"},
		{"not HTTPS", ``, "", `profile="http://platform.example/p"`, 424, "profile_unreachable"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, _, body := s.ask("POST", "/api/commerce/negotiate", tc.body, "Content-Type", tc.kind, "UCP-Agent", tc.agent)
			shop{t, s.base}.refused(tc.status, tc.code, status, body)
		})
	}
	status, _, body = s.ask("GET", "/api/commerce/negotiate", "")
	s.refused(405, "method_not_allowed", status, body)
	status, _, body = s.ask("POST", "/api/commerce/other", "")
	s.refused(404, "not_found", status, body)
}

func TestAServerWithABadProfileDoesNotStart(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*config.Commerce){
		"name": func(c *config.Commerce) {
			c.Capabilities = []config.CommerceCapability{{Name: "Checkout", Version: "2026-01-23"}}
		},
		"version": func(c *config.Commerce) {
			c.Capabilities = []config.CommerceCapability{{Name: "com.example.a", Version: "2026-02-30"}}
		},
		"declaration-config": func(c *config.Commerce) {
			c.Capabilities = []config.CommerceCapability{
				{Name: "dev.commerce.shopping.checkout", Version: "2026-01-23"},
				{Name: "dev.commerce.shopping.fulfillment", Version: "2026-01-23", Extends: []string{"dev.commerce.shopping.checkout"},
					Config: map[string]any{"allows_multi_destination": map[string]any{"shipping": "yes"}}},
			}
		},
		"/description": func(c *config.Commerce) {
			c.Schemas = t.TempDir()
			if err := os.Mkdir(filepath.Join(c.Schemas, "2026-02-01"), 0o755); err != nil {
				t.Fatal(err)
			}
			text := `{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://atelier.example/schemas/2026-02-01/a.json", "title": "A", "description": 1}`
			if err := os.WriteFile(filepath.Join(c.Schemas, "2026-02-01", "a.json"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"DATE=URL": func(c *config.Commerce) { c.SupportedVersions = []string{"2025-01-01"} },
	} {
		c := testConfig(t)
		change(&c.Commerce)
		s, err := service.Start(c, service.Options{}, slog.New(slog.DiscardHandler))
		if err == nil {
			_ = s.Stop()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}
