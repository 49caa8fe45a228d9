package negotiate_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"atelier/transport/commerce/negotiate"
	"atelier/transport/commerce/profile"
	"atelier/transport/commerce/publish"
	"atelier/transport/commerce/schema"
)

const day = "2026-01-23"

func tree(t *testing.T, text string) any {
	t.Helper()
	doc, err := schema.Parse("profile", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc.Value
}

func parsed(t *testing.T, text string) *profile.Profile {
	t.Helper()
	p, err := profile.Parse(tree(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func withVersion(version, more string) string {
	return fmt.Sprintf(`{"ucp": {"version": %q, "capabilities": {"com.a.x": [{"version": %q}]}%s}}`, version, day, more)
}

func TestProtocolVersion(t *testing.T) {
	old := `, "supported_versions": {"2025-01-01": "https://x.example/2025-01-01/profile"}`
	cases := map[string]struct{ platform, business, want string }{
		"equal": {withVersion(day, ""), withVersion(day, ""), day},
		"the business supports the older version": {withVersion("2025-01-01", ""), withVersion(day, old), "2025-01-01"},
		"the platform supports the older version": {withVersion(day, old), withVersion("2025-01-01", ""), "2025-01-01"},
		"different":                             {withVersion("2025-01-01", ""), withVersion(day, ""), ""},
		"both support only a third version":     {withVersion("2025-06-01", old), withVersion(day, old), ""},
		"a date in an address is not a version": {withVersion("2025-01-01", ""), withVersion(day, `, "supported_versions": {"2024-01-01": "https://x.example/2025-01-01/profile"}`), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := negotiate.Profiles(parsed(t, tc.platform), parsed(t, tc.business), nil, nil)
			var refused *negotiate.Error
			if tc.want == "" {
				if !errors.As(err, &refused) || refused.Code != negotiate.VersionUnsupported || refused.Status() != 422 {
					t.Errorf("Profiles returned %v, want VersionUnsupported", err)
				}
				return
			}
			if err != nil || r.Version != tc.want {
				t.Errorf("Profiles returned %v, %v", r, err)
			}
		})
	}
}

// The test negotiates with the profile of a server without configuration.
func TestAPlatformAgreesWithTheDefaultProfile(t *testing.T) {
	business, err := publish.NewBusiness(t.Context(), publish.DefaultBusiness("", "https://shop.example"))
	if err != nil {
		t.Fatal(err)
	}
	platform := `{"ucp": {"version": "2026-01-23",
		"services": {"dev.commerce.shopping": [{"version": "2026-01-23", "transport": "rest"}, {"version": "2026-01-23", "transport": "mcp"}]},
		"capabilities": {
			"dev.commerce.shopping.checkout": [{"version": "2026-01-23"}],
			"dev.commerce.shopping.discount": [{"version": "2026-01-23", "extends": "dev.commerce.shopping.checkout"}],
			"com.vendor.points": [{"version": "2026-01-23", "extends": "dev.commerce.shopping.checkout"}]},
		"payment_handlers": {"com.atelier.tokenization": [{"id": "mine", "version": "2026-01-23"}]}}}`
	r, err := negotiate.Agree(t.Context(), tree(t, platform), business.Profile, nil, negotiate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	one := []negotiate.Chosen{{Version: day}}
	if want := map[string][]negotiate.Chosen{"dev.commerce.shopping.checkout": one, "dev.commerce.shopping.discount": one}; !reflect.DeepEqual(r.Capabilities, want) {
		t.Errorf("the agreed capabilities are %v", r.Capabilities)
	}
	if s := r.Services["dev.commerce.shopping"]; len(s) != 1 || s[0].Transport != "rest" || s[0].Endpoint != "https://shop.example/api/commerce" {
		t.Errorf("the services are %v", r.Services)
	}
	if h := r.PaymentHandlers["com.atelier.tokenization"]; len(h) != 2 || h[0].ID != "tokenization" {
		t.Errorf("the payment handlers are %v", r.PaymentHandlers)
	}
	if len(r.Dropped) != 1 || r.Dropped[0].Name != "com.vendor.points" {
		t.Errorf("the dropped capabilities are %v, want com.vendor.points", r.Dropped)
	}
}

func TestInvalidProfilesAreRefused(t *testing.T) {
	business := parsed(t, withVersion(day, ""))
	cases := map[string]struct{ platform, code, content string }{
		"not an object":             {`[]`, negotiate.ProfileMalformed, "object"},
		"a list as a registry":      {`{"ucp": {"version": "2026-01-23", "capabilities": []}}`, negotiate.ProfileMalformed, "/ucp/capabilities"},
		"an impossible date":        {`{"ucp": {"version": "2026-02-30"}}`, negotiate.ProfileMalformed, "calendar"},
		"an empty array":            {`{"ucp": {"version": "2026-01-23", "capabilities": {"com.a.x": []}}}`, negotiate.ProfileMalformed, "com.a.x"},
		"a handler without id":      {`{"ucp": {"version": "2026-01-23", "payment_handlers": {"com.a.x": [{"version": "2026-01-23"}]}}}`, negotiate.ProfileMalformed, "id"},
		"nothing in common":         {`{"ucp": {"version": "2026-01-23", "capabilities": {"com.a.y": [{"version": "2026-01-23"}]}}}`, negotiate.CapabilitiesIncompatible, "com.a.y"},
		"no version in common":      {`{"ucp": {"version": "2026-01-23", "capabilities": {"com.a.x": [{"version": "2026-01-24"}]}}}`, negotiate.CapabilitiesIncompatible, "no version in common"},
		"a later protocol required": {`{"ucp": {"version": "2026-01-23", "capabilities": {"com.a.x": [{"version": "2026-01-23", "requires": {"protocol": {"min": "2026-02-01"}}}]}}}`, negotiate.CapabilitiesIncompatible, "requires protocol"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := negotiate.Agree(t.Context(), tree(t, tc.platform), business, nil, negotiate.Options{})
			var refused *negotiate.Error
			if !errors.As(err, &refused) || refused.Code != tc.code || !strings.Contains(refused.Content, tc.content) {
				t.Errorf("Agree returned %v", err)
			}
		})
	}
}

// Errors must be short. In an earlier version, the content of one error repeated 689 kB of the
// request.
func TestErrorsRepeatOnlyABoundedPartOfTheInput(t *testing.T) {
	business := parsed(t, withVersion(day, ""))
	long := strings.Repeat("x", 600_000)
	names := func(n int, format string) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(format, i, strings.Repeat("y", 200)))
		}
		return strings.Join(list, ",")
	}
	many := map[string]string{
		"a version":               `{"ucp": {"version": "` + long + `"}}`,
		"a name":                  `{"ucp": {"version": "2026-01-23", "capabilities": {"` + long + `": []}}}`,
		"an entry's version":      `{"ucp": {"version": "2026-01-23", "capabilities": {"com.a.x": [{"version": "` + long + `"}]}}}`,
		"a supported version":     `{"ucp": {"version": "2026-01-23", "supported_versions": {"` + long + `": ""}}}`,
		"a requirement":           `{"ucp": {"version": "2026-01-23", "capabilities": {"com.a.x": [{"version": "2026-01-23", "requires": {"protocol": {"min": "` + long + `"}}}]}}}`,
		"a required name":         `{"ucp": {"version": "2026-01-23", "capabilities": {"com.a.x": [{"version": "2026-01-23", "requires": {"capabilities": {"` + long + `": 1}}}]}}}`,
		"an id":                   `{"ucp": {"version": "2026-01-23", "payment_handlers": {"com.a.x": [{"version": "2026-01-23", "id": "` + long + `"}, {"version": "2026-01-23", "id": "` + long + `"}]}}}`,
		"many parents":            `{"ucp": {"version": "2026-01-23", "capabilities": {"com.a.x": [{"version": "2026-01-23", "extends": [` + names(2000, `"com.p%d.%s"`) + `]}]}}}`,
		"many names":              `{"ucp": {"version": "2026-01-23", "capabilities": {` + names(900, `"com.p%d.%s": [{"version": "2026-01-23"}]`) + `}}}`,
		"many supported versions": `{"ucp": {"version": "2020-01-01", "supported_versions": {"2019-01-01": "` + long + `"}}}`,
	}
	for name, text := range many {
		_, err := negotiate.Agree(t.Context(), tree(t, text), business, nil, negotiate.Options{})
		var refused *negotiate.Error
		if !errors.As(err, &refused) || len(refused.Content) > 1100 {
			t.Errorf("%s: the error is not bounded: %.200v", name, err)
		}
	}
	for _, text := range []string{`{"` + long + `": 1, "` + long + `": 2}`, `{"want": {"` + long + `": "x"}, "profile": {}}`, `{"want": {"com.a.x": "` + long + `"}}`} {
		_, err := negotiate.ReadRequest([]byte(text), "")
		if err == nil || len(err.Error()) > 1200 {
			t.Errorf("the error for %.30s is not bounded: %.200v", text, err)
		}
	}
}

// internet is a Fetcher with a few documents.
type internet map[string]string

func (i internet) Fetch(_ context.Context, address string) ([]byte, error) {
	if text, ok := i[address]; ok {
		return []byte(text), nil
	}
	return nil, errors.New("fetch " + address + ": no such host")
}

func TestCapabilitiesWithUnmetSchemaRequirementsAreDropped(t *testing.T) {
	set, err := schema.Published("")
	if err != nil {
		t.Fatal(err)
	}
	entry := func(address string) string {
		return fmt.Sprintf(`{"ucp": {"version": "2026-01-23", "capabilities": {
			"com.a.x": [{"version": "2026-01-23"}], "com.vendor.points": [{"version": "2026-01-23", "extends": "com.a.x", "schema": %q}]}}}`, address)
	}
	net := internet{
		"https://vendor.com/points.json": `{"name": "com.vendor.points", "requires": {"capabilities": {"com.a.x": {"min": "2026-06-01"}}}}`,
		"https://evil.com/points.json":   `{}`,
		"https://vendor.com/fine.json":   `{"requires": {"protocol": {"min": "2026-01-01"}}}`,
	}
	for address, reason := range map[string]string{
		"https://vendor.com/points.json": "requires com.a.x 2026-06-01 or later",
		"https://evil.com/points.json":   "has no authority over",
		"https://vendor.com/gone.json":   "no such host",
		"https://vendor.com/fine.json":   "",
	} {
		text := entry(address)
		r, err := negotiate.Agree(t.Context(), tree(t, text), parsed(t, text), nil, negotiate.Options{Published: set, Fetcher: net})
		if err != nil {
			t.Fatal(err)
		}
		if reason == "" != (len(r.Dropped) == 0) || len(r.Dropped) > 0 && !strings.Contains(r.Dropped[0].Reason, reason) {
			t.Errorf("%s: the dropped capabilities are %v", address, r.Dropped)
		}
	}
}

func TestTheProfileForAnOlderVersionIsFetched(t *testing.T) {
	business := parsed(t, withVersion(day, `, "supported_versions": {"2025-01-01": "https://b.example/old"}`))
	platform := tree(t, withVersion("2025-01-01", ""))
	r, err := negotiate.Agree(t.Context(), platform, business, nil, negotiate.Options{Fetcher: internet{"https://b.example/old": withVersion("2025-01-01", "")}})
	if err != nil || r.Version != "2025-01-01" {
		t.Errorf("Agree returned %v, %v", r, err)
	}
	for text, code := range map[string]string{"": negotiate.ProfileUnreachable, withVersion(day, ""): negotiate.ProfileMalformed, "{": negotiate.ProfileMalformed} {
		net := internet{}
		if text != "" {
			net["https://b.example/old"] = text
		}
		_, err := negotiate.Agree(t.Context(), platform, business, nil, negotiate.Options{Fetcher: net})
		var refused *negotiate.Error
		if !errors.As(err, &refused) || refused.Code != code {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Of several faults always the same one is reported, so that a platform sees progress.
func TestTheFirstFaultIsReported(t *testing.T) {
	for range 30 {
		var malformed *profile.MalformedError
		_, err := profile.Parse(tree(t, `{"ucp": {"version": "2026-01-23", "services": 1, "capabilities": 2, "payment_handlers": 3}}`))
		if !errors.As(err, &malformed) || malformed.Pointer != "/ucp/services" {
			t.Fatalf("Parse returned %v", err)
		}
		_, err = profile.Parse(tree(t, `{"ucp": {"version": "2026-01-23", "supported_versions": {"2025-01-03": 3, "2025-01-02": 2, "2025-01-01": 1}}}`))
		if !errors.As(err, &malformed) || malformed.Pointer != "/ucp/supported_versions/2025-01-01" {
			t.Fatalf("Parse returned %v", err)
		}
		_, err = negotiate.ReadRequest([]byte(`{"want": {"com.a.z": "z", "com.a.y": "y", "com.a.x": "x"}}`), "")
		if err == nil || !strings.Contains(err.Error(), `"x"`) {
			t.Fatalf("ReadRequest returned %v", err)
		}
	}
}

func TestReadRequest(t *testing.T) {
	r, err := negotiate.ReadRequest([]byte(`{"profile": {"ucp": {}}, "want": {"com.a.x": "2026-01-23"}}`), `profile="https://p.example"`)
	if err != nil || r.Profile == nil || r.Address != "" || r.Want["com.a.x"] != day {
		t.Errorf("ReadRequest returned %+v, %v", r, err)
	}
	r, err = negotiate.ReadRequest(nil, `profile="https://p.example/c.json"`)
	if err != nil || r.Address != "https://p.example/c.json" {
		t.Errorf("ReadRequest returned %+v, %v", r, err)
	}
	for _, tc := range [][2]string{{"", ""}, {"{", ""}, {"[]", ""}, {"{}", "x"}, {`{"profile": {}, "want": []}`, ""}, {`{"profile": {}, "want": {"com.a.x": "soon"}}`, ""}, {`{"profile": {}, "want": {"X": "2026-01-23"}}`, ""}} {
		if _, err := negotiate.ReadRequest([]byte(tc[0]), tc[1]); err == nil {
			t.Errorf("the request %q is accepted", tc)
		}
	}
}
