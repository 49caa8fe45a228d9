//go:build linux

package fanout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"atelier/bench/api"
	"atelier/bench/broadcast"
	"atelier/bench/server"
)

// Peer is a server other than Atelier, as the command line describes it.
type Peer struct {
	// URL is the URL of the connection. Its scheme is ws or wss, or http or https for an event
	// stream.
	URL string
	// Publish is the URL to which messages are posted, for an event stream; "" for URL itself.
	Publish string
	Trust   server.Trust
	// Dialect has no columns; Clients have them.
	Dialect broadcast.Dialect
	// Clients contains the values for the dialect, and for path and query of the URLs. The rows of
	// the subscribers are first, then the rows of the publishers. It is nil if there are no values.
	Clients *Clients
	// Elsewhere means that the workers are on other machines, so this machine does not need to
	// reach the server.
	Elsewhere bool
}

// Check refuses an invalid peer.
func (p *Peer) Check() error {
	u, _, err := p.parse(p.URL)
	if err == nil && p.Publish != "" {
		var to *url.URL
		if to, _, err = p.parse(p.Publish); err == nil && to.Host != u.Host {
			err = errors.New("--publish: want the host of --url, because messages are posted to the server of the streams")
		}
	}
	d := p.dialect()
	problems := []error{err, d.Check(), d.CheckPlaces("--url", p.URL), d.CheckPlaces("--publish", p.Publish)}
	if p.Clients != nil {
		for _, line := range d.Headers {
			problems = append(problems, p.Clients.checkHeader(line))
		}
	}
	return errors.Join(problems...)
}

// dialect returns the dialect of the peer, with the columns of its clients.
func (p *Peer) dialect() broadcast.Dialect {
	d := p.Dialect
	if p.Clients != nil {
		d.Columns = p.Clients.Columns
	}
	return d
}

// parse parses a URL and returns the address to connect to.
func (p *Peer) parse(text string) (u *url.URL, address string, err error) {
	if u, err = api.ParseURL(text); err != nil {
		return nil, "", err
	}
	port := map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443"}[u.Scheme]
	if port == "" || u.Hostname() == "" {
		return nil, "", fmt.Errorf("server URL %s: want ws, wss, http or https", u.Scheme+"://"+u.Host)
	}
	if u.Port() != "" {
		port = u.Port()
	}
	return u, net.JoinHostPort(u.Hostname(), port), nil
}

// thereWithin is the timeout of the connection that checks whether the server exists.
const thereWithin = 10 * time.Second

// Generic returns a function for Config.Prepare. The function makes the endpoint of any server from
// the flags.
func Generic(p *Peer) func(context.Context, int, int) (*Endpoint, error) {
	return func(ctx context.Context, subscribers, publishers int) (*Endpoint, error) {
		if err := p.Check(); err != nil {
			return nil, err
		}
		u, address, err := p.parse(p.URL)
		if err != nil {
			return nil, err
		}
		// First check whether the server exists, because clients would retry for a long time.
		if !p.Elsewhere {
			conn, err := (&net.Dialer{Timeout: thereWithin}).DialContext(ctx, "tcp", address)
			if err != nil {
				return nil, fmt.Errorf("connect to the server: %w", err)
			}
			_ = conn.Close()
		}
		d := &Endpoint{Address: address, Host: u.Host, Stream: u.Scheme == "http" || u.Scheme == "https", Dialect: p.dialect(), Secrets: p.Clients.secrets()}
		seats := make([]broadcast.Seat, subscribers+publishers)
		for n := range seats {
			if seats[n], err = p.seat(n, d.Stream && n >= subscribers); err != nil {
				return nil, err
			}
		}
		d.Subscribers, d.Publishers = seats[:subscribers], seats[subscribers:]
		if u.Scheme == "https" || u.Scheme == "wss" {
			trust := p.Trust
			if err := trust.Load(); err != nil {
				return nil, err
			}
			d.TLS = &trust
		}
		return d, nil
	}
}

// seat returns client number n. posts means that it is a publisher that posts its messages.
func (p *Peer) seat(n int, posts bool) (broadcast.Seat, error) {
	seat := broadcast.Seat{Values: p.Clients.row(n)}
	u, _, err := p.parse(p.Clients.url(p.URL, n))
	if err != nil {
		return seat, err
	}
	seat.Path = u.RequestURI()
	if !posts {
		return seat, nil
	}
	to, _, err := p.parse(p.Clients.url(cmp.Or(p.Publish, p.URL), n))
	if err != nil {
		return seat, err
	}
	// Posts are plaintext up to the tunnel, which adds TLS.
	to.Scheme = "http"
	seat.Publish = to.String()
	return seat, nil
}
