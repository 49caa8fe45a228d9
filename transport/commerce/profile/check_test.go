package profile_test

import (
	"maps"
	"slices"
	"testing"

	"atelier/transport/commerce/profile"
	"atelier/transport/commerce/schema"
)

func TestOnlyPlatformProfilesNeedSpecAndSchema(t *testing.T) {
	set, err := schema.Published("")
	if err != nil {
		t.Fatal(err)
	}
	profiles, err := profile.NewChecker(set)
	if err != nil {
		t.Fatal(err)
	}
	business := value(t, `{"ucp": {"version": "2026-01-23", "services": {}, "capabilities": {"dev.commerce.shopping.checkout": [{"version": "2026-01-23"}]}, "payment_handlers": {}}}`)
	if p := profiles.Business(business); len(p) > 0 {
		t.Errorf("a valid business profile has the problems %v", p)
	}
	p := profiles.Platform(business)
	if len(p) != 1 || p[0].Pointer != "/ucp/capabilities/dev.commerce.shopping.checkout/0" || p[0].Message != `misses "spec", "schema"` {
		t.Errorf("the problems as a platform profile are %v, want 1", p)
	}
}

// An entry with the fields that its transport needs is valid. Without any one of these fields it is
// invalid.
func TestTheProfileSchemaCoversTheTransports(t *testing.T) {
	set, err := schema.Published("")
	if err != nil {
		t.Fatal(err)
	}
	checker, err := profile.NewChecker(set)
	if err != nil {
		t.Fatal(err)
	}
	check := func(transport string, members []string) []schema.Problem {
		entry := map[string]any{"version": schema.Release, "transport": transport}
		for _, m := range members {
			entry[m] = "https://shop.example/" + m
		}
		return checker.Business(map[string]any{"ucp": map[string]any{
			"version": schema.Release, schema.Services: map[string]any{"com.vendor.shop": []any{entry}},
			schema.Capabilities: map[string]any{}, schema.PaymentHandlers: map[string]any{},
		}})
	}
	needed := map[string]bool{}
	for _, tr := range schema.Transports {
		for _, m := range tr.Needs {
			needed[m] = true
		}
	}
	for _, tr := range schema.Transports {
		if p := check(tr.Name, tr.Needs); len(p) > 0 {
			t.Errorf("an entry for %s is invalid: %v", tr.Name, p)
		}
		for m := range maps.Keys(needed) {
			without := slices.DeleteFunc(slices.Sorted(maps.Keys(needed)), func(n string) bool { return n == m })
			if fits := len(check(tr.Name, without)) == 0; fits == slices.Contains(tr.Needs, m) {
				t.Errorf("an entry for %s without %s is valid: %t", tr.Name, m, fits)
			}
		}
	}
}
