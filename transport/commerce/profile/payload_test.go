package profile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"atelier/transport/commerce/profile"
	"atelier/transport/commerce/schema"
)

func open(t *testing.T) *schema.Library {
	t.Helper()
	set, err := schema.Published("")
	if err != nil {
		t.Fatal(err)
	}
	return schema.NewLibrary(t.Context(), schema.LibraryOptions{Published: set})
}

func value(t *testing.T, text string) any {
	t.Helper()
	doc, err := schema.Parse("payload", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc.Value
}

// payload returns a payload that declares capabilities of the shopping service, each given as its
// short name or as name=version.
func payload(more string, capabilities ...string) string {
	var list []string
	for _, c := range capabilities {
		name, version, ok := strings.Cut(c, "=")
		if !ok {
			version = "2026-01-23"
		}
		list = append(list, fmt.Sprintf(`"dev.commerce.shopping.%s": [{"version": %q}]`, name, version))
	}
	return fmt.Sprintf(`{"ucp": {"version": "2026-01-23", "capabilities": {%s}}, %s}`, strings.Join(list, ","), more)
}

const (
	checkout = `"id": "c", "line_items": [], "status": "open", "currency": "EUR", "totals": {}, "links": {}`
	order    = `"id": "o", "checkout_id": "c", "line_items": [], "currency": "EUR", "totals": {}, "links": {}`
)

func TestAPayloadIsCheckedAgainstItsSchemas(t *testing.T) {
	cases := map[string]struct {
		text     string
		problems int
	}{
		"a checkout":                               {payload(checkout, "checkout"), 0},
		"a checkout without currency":              {payload(strings.Replace(checkout, `"currency": "EUR", `, "", 1), "checkout"), 1},
		"an extension that is declared is checked": {payload(checkout+`, "discounts": 1`, "checkout", "discount"), 1},
		"an undeclared extension is not checked":   {payload(checkout+`, "discounts": 1`, "checkout"), 0},
		"an order among checkouts":                 {payload(order, "checkout", "order", "discount"), 0},
		"neither order nor checkout":               {payload(`"id": "x"`, "checkout", "order"), 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			lib := open(t)
			v := value(t, tc.text)
			described, err := profile.Follow(lib, v)
			if err != nil {
				t.Fatal(err)
			}
			problems, err := described.Check(lib, v, schema.View{Direction: schema.Response})
			if err != nil || len(problems) != tc.problems {
				t.Errorf("Check returned the problems %v, %v", problems, err)
			}
		})
	}
}

func TestPayloadsWithoutUsableSchemasAreRefused(t *testing.T) {
	lib := open(t)
	for text, want := range map[string]string{
		`{}`:                                     "no ucp.capabilities",
		`{"ucp": {"capabilities": []}}`:          "version",
		payload(checkout, "checkout=2020-01-01"): "not published here",
		payload(checkout, "discount"):            "",
		`{"ucp": {"version": "2026-01-23", "capabilities": {"dev.commerce.shopping.discount": [{"version": "2026-01-23", "extends": "dev.commerce.shopping.checkout"}]}}}`:                 "extends no capability",
		`{"ucp": {"version": "2026-01-23", "capabilities": {"com.vendor.x": [{"version": "2026-01-23", "schema": "https://atelier.example/schemas/2026-01-23/shopping/checkout.json"}]}}}`: "states name",
		`{"ucp": {"version": "2026-01-23", "capabilities": {"com.vendor.x": [{"version": "2026-01-23", "schema": "https://vendor.com/x.json"}]}}}`:                                         "no document with this address",
	} {
		_, err := profile.Follow(lib, value(t, text))
		if want == "" {
			if err != nil {
				t.Errorf("Follow(%s) = %v, want no error", text, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Follow(%s) = %v", text, err)
		}
	}
	for _, text := range []string{`null`, `{"ucp":{}}`, `{"ucp":{"version":"2026-01-23","capabilities":{}}}`} {
		if _, err := profile.Follow(lib, value(t, text)); !errors.Is(err, profile.ErrSilent) {
			t.Errorf("Follow(%s) = %v", text, err)
		}
	}
}
