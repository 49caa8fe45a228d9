package oidc

import (
	"net/http"
	"testing"
)

// Trust makes the client use next, which trusts a test certificate, until the test ends.
func Trust(t *testing.T, next http.RoundTripper) {
	before := client.Transport
	client.Transport = bounded{next}
	t.Cleanup(func() { client.Transport = before })
}

// Lifetime returns the cache lifetime of a response with these headers.
var Lifetime = lifetime

// MaxUsed is the maximum number of remembered attempts. Once records one.
const MaxUsed = maxUsed

func (p *Provider) Once(state string) error { return p.once(state) }
