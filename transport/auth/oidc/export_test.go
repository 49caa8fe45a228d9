package oidc

import (
	"net/http"
	"testing"
)

// Trust has the client go through next, which trusts a test's certificate, until the
// test ends.
func Trust(t *testing.T, next http.RoundTripper) {
	before := client.Transport
	client.Transport = bounded{next}
	t.Cleanup(func() { client.Transport = before })
}

// Lifetime is how long an answer with these headers counts.
var Lifetime = lifetime

// MaxUsed is how many attempts are remembered, and Once remembers one.
const MaxUsed = maxUsed

func (p *Provider) Once(state string) bool { return p.once(state) }
