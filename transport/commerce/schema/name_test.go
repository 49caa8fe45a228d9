package schema

import (
	"testing"
)

func TestCheckName(t *testing.T) {
	for _, name := range []string{"com.vendor", "dev.commerce.shopping.checkout", "a.b", "com.v2.x_y-z"} {
		if err := CheckName(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "com", "Com.vendor", "com.Vendor", "com..x", ".com.x", "com.x.", "com.1x", "com._x", "com.x y", "com.é"} {
		if IsName(name) {
			t.Errorf("IsName(%q) is true", name)
		}
	}
}

func TestIsVersion(t *testing.T) {
	for version, want := range map[string]bool{"2026-01-23": true, "2024-02-29": true, "2023-02-29": false, "2026-13-01": false, "2026-1-1": false,
		"20260123": false, "2026-01-23T": false, "": false, "2026-04-31": false} {
		if IsVersion(version) != want {
			t.Errorf("IsVersion(%q) is not %v", version, want)
		}
	}
}

func TestCheckAuthority(t *testing.T) {
	cases := []struct {
		name, host string
		ok         bool
	}{
		{"com.vendor.loyalty", "vendor.com", true},
		{"com.vendor.loyalty", "schemas.vendor.com", true},
		{"com.vendor.loyalty", "VENDOR.com.", true},
		{"com.vendor", "vendor.com", true},
		{"com.vendor.loyalty", "evil.com", false},
		{"com.vendor.loyalty", "vendor.com.evil.org", false},
		{"com.vendorx.loyalty", "vendor.com", false},
		{"com.vendor.loyalty", "com", false},
		{"uk.co.vendor.loyalty", "vendor.co.uk", true},
		{"uk.co.vendor.loyalty", "evil.co.uk", false},
		{"dev.commerce.shopping.checkout", "commerce.dev", true},
		{"dev.commerce.shopping.checkout", "vendor.com", false},
		{"com.vendor.loyalty", "", false},
	}
	for _, tc := range cases {
		if err := CheckAuthority(tc.name, tc.host); (err == nil) != tc.ok {
			t.Errorf("CheckAuthority(%s, %s) = %v", tc.name, tc.host, err)
		}
	}
}

func TestRangesIncludeTheirEnds(t *testing.T) {
	r := Range{"2026-01-01", "2026-02-01"}
	for version, want := range map[string]bool{"2025-12-31": false, "2026-01-01": true, "2026-01-15": true, "2026-02-01": true, "2026-02-02": false} {
		if r.Holds(version) != want {
			t.Errorf("Holds(%s) is not %v", version, want)
		}
	}
}
