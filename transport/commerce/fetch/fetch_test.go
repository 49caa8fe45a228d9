package fetch

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAddressesInsideAreRefused(t *testing.T) {
	for _, ip := range []string{"127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
		"255.255.255.255", "224.0.0.1", "::1", "::", "fe80::1", "fd00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "fe80::1%eth0"} {
		if public(netip.AddrPortFrom(netip.MustParseAddr(ip), 443)) == nil {
			t.Errorf("%s is allowed", ip)
		}
	}
	for _, ip := range []string{"1.1.1.1", "93.184.216.34", "2606:4700::1111"} {
		if err := public(netip.AddrPortFrom(netip.MustParseAddr(ip), 443)); err != nil {
			t.Errorf("%s: %v", ip, err)
		}
	}
}

// local is a client that may reach the test server, and trusts it.
func local(t *testing.T, handler http.HandlerFunc) (*Client, string) {
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	c := New()
	c.allowed = func(netip.AddrPort) error { return nil }
	c.http.Transport.(*http.Transport).TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig
	return c, server.URL
}

func TestFetchGetsABody(t *testing.T) {
	c, address := local(t, func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(`{}`)) })
	data, err := c.Fetch(t.Context(), address+"/x.json#/$defs/a")
	if err != nil || string(data) != `{}` {
		t.Errorf("got %q, %v", data, err)
	}
}

func TestFetchRefuses(t *testing.T) {
	cases := []struct {
		name, want string
		handler    http.HandlerFunc
	}{
		{"a redirect", "redirects", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://example.com", http.StatusFound)
		}},
		{"a failure", "status 500", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusInternalServerError) }},
		{"a web page", "web page", func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Content-Type", "text/html") }},
		{"too much, announced", "larger", func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Content-Length", "2000000") }},
		{"too much, streamed", "larger", func(w http.ResponseWriter, r *http.Request) {
			chunk := []byte(strings.Repeat(" ", 1<<16))
			for range 40 {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c, address := local(t, tc.handler)
			if _, err := c.Fetch(t.Context(), address); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestFetchEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c, address := local(t, func(w http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
	if _, err := c.Fetch(ctx, address); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestNamesAreCheckedWhenDialled has a server on loopback behind a name and
// behind its address; neither is reached.
func TestNamesAreCheckedWhenDialled(t *testing.T) {
	called := false
	c, address := local(t, func(http.ResponseWriter, *http.Request) { called = true })
	c.allowed = public
	for _, a := range []string{address, strings.Replace(address, "127.0.0.1", "localhost", 1), strings.Replace(address, "127.0.0.1", "[::ffff:7f00:1]", 1)} {
		if _, err := c.Fetch(t.Context(), a); !errors.Is(err, errInside) {
			t.Errorf("%s: %v", a, err)
		}
	}
	if called {
		t.Error("the server was reached")
	}
}

func TestOnlyPlainHTTPSIsFetched(t *testing.T) {
	for _, address := range []string{"http://example.com/x", "file:///etc/passwd", "https://user:pw@example.com/", "x", "", "https://", "ftp://example.com"} {
		if _, err := New().Fetch(t.Context(), address); err == nil || strings.Contains(err.Error(), "pw") {
			t.Errorf("%q: %v", address, err)
		}
	}
}
