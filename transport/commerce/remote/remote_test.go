package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestInternalAddressesAreRefused(t *testing.T) {
	for _, ip := range []string{"127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
		"255.255.255.255", "224.0.0.1", "::1", "::", "fe80::1", "fd00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "fe80::1%eth0",
		"0.1.2.3", "100.127.255.255", "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "240.0.0.1",
		"::127.0.0.1", "::10.0.0.1", "::ffff:0:127.0.0.1", "::ffff:100.64.0.1", "3fff::1", "5f00::1", "4000::1", "64:ff9b:1::1", "100::1", "2001::1", "2001:1ff:ffff::1", "2001:db8::1", "fec0::1", "fc00::1", "ff02::1"} {
		if public(netip.AddrPortFrom(netip.MustParseAddr(ip), 443)) == nil {
			t.Errorf("the address %s is allowed", ip)
		}
	}
	for _, ip := range []string{"1.1.1.1", "93.184.216.34", "100.63.255.255", "100.128.0.1", "198.20.0.1", "::ffff:1.1.1.1", "2001:200::1", "2606:4700::1111"} {
		if err := public(netip.AddrPortFrom(netip.MustParseAddr(ip), 443)); err != nil {
			t.Errorf("the address %s is refused: %v", ip, err)
		}
	}
}

// local returns a client that is allowed to reach the test server, and trusts its certificate.
func local(t *testing.T, handler http.HandlerFunc) (*Client, string) {
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	c := New()
	c.egress.allowed = func(netip.AddrPort) error { return nil }
	c.http.Transport.(*http.Transport).TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig
	return c, server.URL
}

func TestFetchGetsABody(t *testing.T) {
	c, address := local(t, func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(`{}`)) })
	data, err := c.Fetch(t.Context(), address+"/x.json#/$defs/a")
	if err != nil || string(data) != `{}` {
		t.Errorf("Fetch returned %q, %v", data, err)
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
				t.Errorf("Fetch returned %v, want %q", err, tc.want)
			}
		})
	}
}

// In an earlier version, errors contained the address of the resolver and the source address of the
// connection. Every client that requested a negotiation could read them.
func TestErrorsRevealNothingAboutTheNetwork(t *testing.T) {
	resolver := "10.11.12.13:53"
	dial := func(err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Source: &net.TCPAddr{IP: net.IPv4(10, 9, 8, 7), Port: 41}, Addr: &net.TCPAddr{IP: net.IPv4(10, 11, 12, 14), Port: 443}, Err: err}
	}
	for want, err := range map[string]error{
		"the host does not exist or": dial(&net.DNSError{Err: "no such host", Name: "x.example", Server: resolver, IsNotFound: true}),
		"cannot be resolved":         dial(&net.DNSError{Err: "server misbehaving", Name: "x.example", Server: resolver, IsTemporary: true}),
		"the request timed out":      dial(&net.DNSError{Err: "i/o timeout", Name: "x.example", Server: resolver, IsTimeout: true}),
		"the connection failed":      dial(syscall.ECONNREFUSED),
		"request timed out":          context.DeadlineExceeded,
		"the connection":             errors.New("malformed HTTP response from 10.11.12.13"),
		"not on the public internet": dial(errInside),
		"certificate is not valid":   &tls.CertificateVerificationError{Err: errors.New("10.11.12.13")},
	} {
		c := New()
		c.http.Transport = failing{err}
		_, got := c.Fetch(t.Context(), "https://x.example/profile.json")
		if got == nil || !strings.Contains(got.Error(), want) || strings.Contains(got.Error(), "10.") || !strings.HasPrefix(got.Error(), "fetch https://x.example/profile.json: ") {
			t.Errorf("the error for %v is %v", err, got)
		}
	}
}

// failing is a network that fails.
type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

func TestLongAddressesAreNotRepeated(t *testing.T) {
	long := strings.Repeat("x", 50_000)
	for _, address := range []string{"https://x.example/" + long, "http://" + long, long, "https://x.example/%zz" + long} {
		c := New()
		c.http.Transport = failing{io.EOF}
		if _, err := c.Fetch(t.Context(), address); err == nil || len(err.Error()) > 400 {
			t.Errorf("the error for %.30s has %d bytes", address, len(err.Error()))
		}
	}
}

func TestFetchEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	// The handler does not respond before the end of the test, because Fetch could also return a
	// response that arrives when the context ends.
	over := make(chan struct{})
	defer close(over)
	c, address := local(t, func(http.ResponseWriter, *http.Request) { cancel(); <-over })
	if _, err := c.Fetch(ctx, address); !errors.Is(err, context.Canceled) {
		t.Errorf("Fetch returned %v, want Canceled", err)
	}
}

// A server on the loopback address is not reached, neither by its name nor by its address.
func TestNamesAreCheckedWhenDialled(t *testing.T) {
	called := false
	c, address := local(t, func(http.ResponseWriter, *http.Request) { called = true })
	c.egress.allowed = public
	for _, a := range []string{address, strings.Replace(address, "127.0.0.1", "localhost", 1), strings.Replace(address, "127.0.0.1", "[::ffff:7f00:1]", 1)} {
		if _, err := c.Fetch(t.Context(), a); !errors.Is(err, errInside) {
			t.Errorf("fetching %s: %v, want errInside", a, err)
		}
	}
	if called {
		t.Error("the server received a request")
	}
}

func TestOnlyHTTPSWithoutCredentialsIsFetched(t *testing.T) {
	for _, address := range []string{"http://example.com/x", "file:///etc/passwd", "https://user:pw@example.com/", "x", "", "https://", "ftp://example.com"} {
		if _, err := New().Fetch(t.Context(), address); err == nil || strings.Contains(err.Error(), "pw") {
			t.Errorf("Fetch(%q) returned %v, want an error without the password", address, err)
		}
	}
}
