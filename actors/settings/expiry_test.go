package settings

import (
	"testing"
	"time"
)

// A token is valid until its expiry or its revocation. Connections that were opened with it check
// this, because otherwise they would keep rights that no longer exist.
func TestAnAPITokenIsValidUntilItsEnd(t *testing.T) {
	end := time.UnixMilli(1_800_000_000_000)
	v := &View{Tokens: []*ApiToken{{Id: "for a while", ExpiresAt: end.UnixMilli()}, {Id: "for ever"}}}
	for _, c := range []struct {
		id   string
		at   time.Time
		want bool
	}{
		{"for a while", end.Add(-time.Millisecond), true}, {"for a while", end, false}, {"for a while", end.Add(time.Hour), false},
		{"for ever", end.Add(time.Hour), true}, {"revoked", end, false}, {"", end, false},
	} {
		if got := v.Has(c.id, c.at); got != c.want {
			t.Errorf("token %q is valid %v after its end: %v", c.id, c.at.Sub(end), got)
		}
	}
}
