package profile_test

import (
	"testing"

	"atelier/transport/commerce/profile"
	"atelier/transport/commerce/schema"
)

func TestProfiles(t *testing.T) {
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
		t.Error(p)
	}
	p := profiles.Platform(business)
	if len(p) != 1 || p[0].Pointer != "/ucp/capabilities/dev.commerce.shopping.checkout/0" || p[0].Message != `misses "spec", "schema"` {
		t.Error(p)
	}
}
