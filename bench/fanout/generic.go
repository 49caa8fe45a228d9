//go:build linux

package fanout

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"atelier/bench/broadcast"
	"atelier/bench/tunnel"
)

// Peer is a server that is not ours, as the command line describes it.
type Peer struct {
	// URL of the connection: ws, wss, or http and https for an event stream.
	URL string
	// Publish is the URL that messages are posted to, for an event stream; "" for
	// URL itself.
	Publish string
	Trust   tunnel.Trust
	Dialect broadcast.Dialect
	// Elsewhere says that its workers are on other machines, which may reach a
	// server that this one does not.
	Elsewhere bool
}

// Check refuses a peer that cannot be spoken with.
func (p *Peer) Check() error {
	u, _, err := p.parse(p.URL)
	if err == nil && p.Publish != "" {
		var to *url.URL
		if to, _, err = p.parse(p.Publish); err == nil && to.Host != u.Host {
			err = errors.New("messages are posted to the server of the streams")
		}
	}
	return errors.Join(err, p.Dialect.Check())
}

// parse reads a URL and says which address it leads to.
func (p *Peer) parse(text string) (u *url.URL, address string, err error) {
	if u, err = url.Parse(text); err != nil {
		return nil, "", fmt.Errorf("server URL: %w", err)
	}
	port := map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443"}[u.Scheme]
	if port == "" || u.Hostname() == "" {
		return nil, "", fmt.Errorf("server URL %q: want ws, wss, http or https", text)
	}
	if u.Port() != "" {
		port = u.Port()
	}
	return u, net.JoinHostPort(u.Hostname(), port), nil
}

// thereWithin is how long a server has to take the first connection.
const thereWithin = 10 * time.Second

// Generic is the door into any server.
func Generic(p *Peer) func(context.Context, int, int) (*Door, error) {
	return func(ctx context.Context, subscribers, publishers int) (*Door, error) {
		if err := p.Check(); err != nil {
			return nil, err
		}
		u, address, err := p.parse(p.URL)
		if err != nil {
			return nil, err
		}
		// Is it there at all? Clients would try for a long time.
		if !p.Elsewhere {
			conn, err := (&net.Dialer{Timeout: thereWithin}).DialContext(ctx, "tcp", address)
			if err != nil {
				return nil, fmt.Errorf("connect to the server: %w", err)
			}
			_ = conn.Close()
		}
		d := &Door{Address: address, Host: u.Host, Stream: u.Scheme == "http" || u.Scheme == "https", Dialect: p.Dialect}
		seat := broadcast.Seat{Path: u.RequestURI()}
		for range subscribers {
			d.Subscribers = append(d.Subscribers, seat)
		}
		for range publishers {
			d.Publishers = append(d.Publishers, seat)
		}
		if u.Scheme == "https" || u.Scheme == "wss" {
			trust := p.Trust
			if err := trust.Load(); err != nil {
				return nil, err
			}
			d.TLS = &trust
		}
		if d.Stream {
			to := *u
			if p.Publish != "" {
				given, _, err := p.parse(p.Publish)
				if err != nil {
					return nil, err
				}
				to = *given
			}
			// Behind the tunnel everything is plain.
			to.Scheme = "http"
			d.Publish = to.String()
		}
		return d, nil
	}
}
