package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"atelier/transport/commerce/schema"
)

// Limits of one fetch, in bytes and time.
const (
	MaxBytes = 1 << 20
	Timeout  = 5 * time.Second
)

// Client fetches documents. It is safe for concurrent use. The zero Client is not usable.
type Client struct {
	http   *http.Client
	egress *egress
}

// New returns a client.
func New() *Client {
	d := &egress{allowed: public}
	return &Client{d.client(Timeout), d}
}

// NewHTTP returns a client for other requests to untrusted servers, such as webhooks. timeout
// bounds each request in total. The client follows no redirects and uses no proxy. It connects only
// to the public internet, or to any address if inside is set.
func NewHTTP(timeout time.Duration, inside bool) *http.Client {
	d := &egress{allowed: public}
	if inside {
		d.allowed = func(netip.AddrPort) error { return nil }
	}
	return d.client(timeout)
}

// egress dials only allowed addresses.
type egress struct{ allowed func(netip.AddrPort) error }

func (d *egress) client(timeout time.Duration) *http.Client {
	dialer := &net.Dialer{Timeout: timeout, Control: d.control}
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			// No Proxy: a proxy would resolve the name itself, without this check.
			DialContext:            dialer.DialContext,
			TLSHandshakeTimeout:    timeout,
			ResponseHeaderTimeout:  timeout,
			MaxResponseHeaderBytes: 64 << 10,
			// Connections are not reused, because a reused connection would skip the check: the
			// name can have another address now.
			DisableKeepAlives: true,
			ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// control runs after the name has been resolved and before the connection is made, so it checks the
// address that is dialed.
func (d *egress) control(_, address string, _ syscall.RawConn) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("address %q: %w", address, err)
	}
	return d.allowed(a)
}

// Fetch returns the body at an address. Its errors can be shown to the person who provided the
// address, because they reveal nothing about our network.
func (c *Client) Fetch(ctx context.Context, address string) ([]byte, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "":
		return nil, fmt.Errorf("%q is not a URL", schema.Brief(address))
	case u.Scheme != "https":
		return nil, fmt.Errorf("%s: only https URLs are allowed", schema.Brief(address))
	case u.User != nil:
		return nil, errors.New("a URL must not contain credentials")
	}
	u.Fragment, u.RawFragment = "", ""
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%q is not a URL", schema.Brief(address))
	}
	request.Header.Set("Accept", "application/json, application/schema+json")
	request.Header.Set("User-Agent", "atelier-commerce")
	shown := schema.Brief(address)
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", shown, Plain(err))
	}
	defer response.Body.Close()
	return body(shown, response)
}

func body(address string, response *http.Response) ([]byte, error) {
	switch {
	case response.StatusCode >= 300 && response.StatusCode < 400:
		return nil, fmt.Errorf("fetch %s: it redirects, and redirects are not followed", address)
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("fetch %s: status %d", address, response.StatusCode)
	case response.ContentLength > MaxBytes:
		return nil, fmt.Errorf("fetch %s: larger than %d bytes", address, MaxBytes)
	}
	if media, _, err := mime.ParseMediaType(response.Header.Get("Content-Type")); err == nil && strings.HasPrefix(media, "text/html") {
		return nil, fmt.Errorf("fetch %s: it is a web page, not JSON", address)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", address, Plain(err))
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("fetch %s: larger than %d bytes", address, MaxBytes)
	}
	return data, nil
}

// Kind is the kind of an error.
type Kind uint8

// The kinds of errors.
const (
	Broken    Kind = iota // any other
	Inside                // address in our own network
	Ended                 // canceled by the caller
	Slow                  // timeout
	Untrusted             // TLS failed
)

// KindOf returns the kind of an error of a client of this package.
func KindOf(err error) Kind {
	var (
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		alert       tls.AlertError
		timeout     interface{ Timeout() bool }
	)
	switch {
	case errors.Is(err, errInside):
		return Inside
	case errors.Is(err, context.Canceled):
		return Ended
	case errors.As(err, &timeout) && timeout.Timeout():
		return Slow
	case errors.As(err, &certificate), errors.As(err, &record), errors.As(err, &alert), errors.Is(err, http.ErrSchemeMismatch):
		return Untrusted
	}
	return Broken
}

// Plain returns an error in our own words. The original errors can contain the address of our
// resolver, other addresses, or text chosen by an untrusted server.
func Plain(err error) error {
	var (
		name        *net.DNSError
		certificate *tls.CertificateVerificationError
	)
	kind := KindOf(err)
	switch {
	case kind == Inside, errors.As(err, &name) && name.IsNotFound:
		return errInside
	case kind == Ended:
		return context.Canceled
	case kind == Slow:
		return errors.New("the request timed out")
	case errors.As(err, &name):
		return errors.New("the host name cannot be resolved")
	case errors.As(err, &certificate):
		return errors.New("the server's certificate is not valid for this host")
	}
	return errors.New("the connection failed")
}

// errInside is the only error for addresses in our own network and for unknown names, so that the
// caller learns neither addresses nor names in our network.
var errInside = errors.New("the host does not exist or is not on the public internet")

// inside lists ranges that package netip does not classify as private.
var inside = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),       // this network
	netip.MustParsePrefix("100.64.0.0/10"),   // carrier-grade NAT
	netip.MustParsePrefix("192.0.0.0/24"),    // protocol assignments
	netip.MustParsePrefix("192.0.2.0/24"),    // documentation
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"), // documentation
	netip.MustParsePrefix("203.0.113.0/24"),  // documentation
	netip.MustParsePrefix("240.0.0.0/4"),     // reserved, and broadcast
	netip.MustParsePrefix("2001::/23"),       // protocol assignments, Teredo
	netip.MustParsePrefix("2001:db8::/32"),   // documentation
	netip.MustParsePrefix("2002::/16"),       // 6to4 can embed any of these
	netip.MustParsePrefix("3fff::/20"),       // documentation
}

// publicIPv6 is the IPv6 range that is assigned to the public internet. Other ranges can embed an
// address of our network, for example NAT64 and the obsolete IPv4 mappings.
var publicIPv6 = netip.MustParsePrefix("2000::/3")

// public refuses addresses outside the public internet.
func public(a netip.AddrPort) error {
	ip := a.Addr().WithZone("").Unmap()
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() {
		return errInside
	}
	if ip.Is6() && !publicIPv6.Contains(ip) {
		return errInside
	}
	for _, p := range inside {
		if p.Contains(ip) {
			return errInside
		}
	}
	return nil
}
