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
