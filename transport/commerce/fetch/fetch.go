package fetch

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

	"atelier/transport/commerce/brief"
)

// Limits of one fetch.
const (
	MaxBytes = 1 << 20
	Timeout  = 5 * time.Second
)

// Client fetches. Safe for concurrent use; the zero Client is not usable.
type Client struct {
	http    *http.Client
	allowed func(netip.AddrPort) error
}

// New makes a client.
func New() *Client {
	c := &Client{allowed: public}
	dialer := &net.Dialer{Timeout: Timeout, Control: c.control}
	c.http = &http.Client{
		Timeout: Timeout,
		Transport: &http.Transport{
			// No Proxy: a proxy would resolve the name, out of our sight.
			DialContext:            dialer.DialContext,
			TLSHandshakeTimeout:    Timeout,
			ResponseHeaderTimeout:  Timeout,
			MaxResponseHeaderBytes: 64 << 10,
			DisableKeepAlives:      true,
			ForceAttemptHTTP2:      true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// control runs after the name has been resolved and before the connection.
func (c *Client) control(_, address string, _ syscall.RawConn) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("address %q: %w", address, err)
	}
	return c.allowed(a)
}

// Fetch gets the body at an address. Errors are in words fit for whoever gave
// the address: they tell nothing of our network but that it is not reached.
func (c *Client) Fetch(ctx context.Context, address string) ([]byte, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "":
		return nil, fmt.Errorf("%q is not a URL", brief.Text(address))
	case u.Scheme != "https":
		return nil, fmt.Errorf("%s: only https is fetched", brief.Text(address))
	case u.User != nil:
		return nil, errors.New("a URL with credentials is not fetched")
	}
	u.Fragment, u.RawFragment = "", ""
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%q is not a URL", brief.Text(address))
	}
	request.Header.Set("Accept", "application/json, application/schema+json")
	request.Header.Set("User-Agent", "atelier-commerce")
	shown := brief.Text(address)
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", shown, plain(err))
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
		return nil, fmt.Errorf("fetch %s: %w", address, plain(err))
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("fetch %s: larger than %d bytes", address, MaxBytes)
	}
	return data, nil
}

// plain says what went wrong in words of our own. What the network says names
// our resolver and our addresses; what a stranger's server says is its text.
func plain(err error) error {
	var (
		name        *net.DNSError
		certificate *tls.CertificateVerificationError
		timeout     interface{ Timeout() bool }
	)
	switch {
	case errors.Is(err, errInside):
		return errInside
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.As(err, &name) && name.IsNotFound:
		return errors.New("no such host")
	case errors.As(err, &timeout) && timeout.Timeout():
		return errors.New("it takes too long")
	case errors.As(err, &name):
		return errors.New("the name of the host cannot be resolved")
	case errors.As(err, &certificate):
		return errors.New("its certificate is not valid for it")
	}
	return errors.New("the connection failed")
}
