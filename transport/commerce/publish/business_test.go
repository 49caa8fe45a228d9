package publish_test

import (
	"strings"
	"testing"

	"atelier/transport/commerce/publish"
)

func TestTheDefaultProfileIsValid(t *testing.T) {
	for _, base := range []string{"", "https://shop.example/schemas"} {
		b, err := publish.NewBusiness(t.Context(), publish.DefaultBusiness(base, "https://shop.example/"))
		if err != nil {
			t.Fatal(err)
		}
		if b.Profile.Version != "2026-01-23" || len(b.Profile.Capabilities) != 4 {
			t.Errorf("the profile is %+v", b.Profile)
		}
		again, err := publish.NewBusiness(t.Context(), publish.DefaultBusiness(base, "https://shop.example/"))
		if err != nil || again.ETag != b.ETag || len(b.ETag) < 10 {
			t.Errorf("one document has the tags %s and %s", b.ETag, again.ETag)
		}
		addresses := 0
		for part := range strings.SplitSeq(string(b.JSON), `"`) {
			if !strings.Contains(part, "://") {
				continue
			}
			if addresses++; !strings.HasPrefix(part, "https://shop.example/") {
				t.Errorf("the profile contains %s, which is not served here", part)
			}
		}
		if addresses != 10 {
			t.Errorf("the profile contains %d addresses, want 10", addresses)
		}
	}
}

// A server without an address must declare no handler. In an earlier version, such a profile
// declared a payment handler of another server.
func TestWithoutAnAddressTheProfileContainsNone(t *testing.T) {
	for _, base := range []string{"", "https://shop.example/schemas"} {
		b, err := publish.NewBusiness(t.Context(), publish.DefaultBusiness(base, ""))
		if err != nil {
			t.Fatal(err)
		}
		p := b.Profile
		if len(p.Services) > 0 || len(p.PaymentHandlers) > 0 || len(p.Capabilities) != 4 || strings.Contains(string(b.JSON), "://") {
			t.Errorf("the profile is %s", b.JSON)
		}
		if e := p.Capabilities["dev.commerce.shopping.fulfillment"]; len(e) != 1 || len(e[0].Extends) != 1 {
			t.Errorf("fulfillment is %+v", e)
		}
	}
}

func TestTheErrorForABadConfigurationContainsTheRule(t *testing.T) {
	cases := map[string]struct {
		change func(*publish.BusinessConfig)
		rule   string
	}{
		"an impossible version":        {func(c *publish.BusinessConfig) { c.Version = "2026-02-30" }, "[version-malformed]"},
		"a name in capitals":           {func(c *publish.BusinessConfig) { c.Capabilities[0].Name = "Checkout" }, "[name-malformed]"},
		"another version than schema":  {func(c *publish.BusinessConfig) { c.Capabilities[3].Version = "2026-02-01" }, "[declaration-version]"},
		"another name than the schema": {func(c *publish.BusinessConfig) { c.Capabilities[3].Name = "com.vendor.order" }, "[declaration-name]"},
		"a missing schema":             {func(c *publish.BusinessConfig) { c.Capabilities[3].Schema = "orders" }, "[profile-malformed]"},
		"a capability twice":           {func(c *publish.BusinessConfig) { c.Capabilities = append(c.Capabilities, c.Capabilities[0]) }, "[registry-duplicate]"},
		"an unknown transport":         {func(c *publish.BusinessConfig) { c.Services[0].Transport = "smtp" }, "[transport-unknown]"},
		"no endpoint":                  {func(c *publish.BusinessConfig) { c.Services[0].Endpoint = "" }, "[transport-field]"},
		"a handler id twice":           {func(c *publish.BusinessConfig) { c.PaymentHandlers[1].ID = c.PaymentHandlers[0].ID }, "[handler-id-duplicate]"},
		"a handler without id":         {func(c *publish.BusinessConfig) { c.PaymentHandlers[0].ID = "" }, "[handler-id]"},
		"a wrong parent": {func(c *publish.BusinessConfig) {
			c.Capabilities[3].Extends = []string{"dev.commerce.shopping.checkout"}
		}, "[extension-parent]"},
		"an id too long": {func(c *publish.BusinessConfig) { c.PaymentHandlers[0].ID = strings.Repeat("x", 300) }, "[declaration-config]"},
		"an id too long, without a schema": {func(c *publish.BusinessConfig) {
			c.PaymentHandlers[0] = publish.Handler{ID: strings.Repeat("x", 300), Name: "com.vendor.pay", Version: "2026-01-23"}
		}, "[meta/profile.json]"},
		"a config of the wrong type": {func(c *publish.BusinessConfig) {
			c.Capabilities[1].Config = map[string]any{"allows_multi_destination": map[string]any{"shipping": "yes"}}
		}, "[declaration-config]"},
		"a config of the wrong type, without an address": {func(c *publish.BusinessConfig) {
			c.Capabilities[1].Schema = ""
			c.Capabilities[1].Config = map[string]any{"allows_multi_destination": map[string]any{"shipping": "yes"}}
		}, "[declaration-config]"},
		"a handler's config": {func(c *publish.BusinessConfig) { c.PaymentHandlers[0].Config["ttl_seconds"] = 5 }, "[declaration-config]"},
		"an invalid base":    {func(c *publish.BusinessConfig) { c.SchemaBase = "schemas" }, "schema base"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := publish.DefaultBusiness("", "https://shop.example")
			tc.change(&c)
			if _, err := publish.NewBusiness(t.Context(), c); err == nil || !strings.Contains(err.Error(), tc.rule) {
				t.Errorf("NewBusiness returned %v, want %s", err, tc.rule)
			}
		})
	}
}
