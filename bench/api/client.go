package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"
)

// maxConns bounds the connections to the server. If all connections are busy, a request waits, and
// the wait counts towards its latency.
const maxConns = 1024

// maxAnswer bounds a response body, in bytes, because the tested server can send an endless body.
// The largest expected responses, the lists of a large workshop, are far smaller.
const maxAnswer = 64 << 20

// idleFor is the time after which an unused connection is closed. It is shorter than the usual idle
// timeouts of servers (5 s and more). Otherwise a request could be lost on a connection that the
// server is just closing.
const idleFor = 4 * time.Second

// Client sends requests to one server.
type Client struct {
	host *fasthttp.HostClient
	base string
}

// New returns a client for a server's URL. For an https URL, via is the plain address of the tunnel
// to the server; otherwise it is "". timeout bounds each of the three phases of a request: the wait
// for a free connection, the sending, and the response.
func New(server, via string, timeout time.Duration) (*Client, error) {
	u, err := ParseURL(server)
	if err != nil {
		return nil, err
	}
	address, err := Address(u)
	if err != nil {
		return nil, err
	}
	if u.Scheme == "https" {
		if address = via; via == "" {
			return nil, fmt.Errorf("server URL https://%s: https needs a tunnel", u.Host)
		}
	}
	return &Client{
		base: "http://" + u.Host + strings.TrimSuffix(u.Path, "/"),
		host: &fasthttp.HostClient{
			Addr:                      address,
			Dial:                      dial,
			MaxConns:                  maxConns,
			MaxConnWaitTimeout:        timeout,
			MaxIdleConnDuration:       idleFor,
			ReadTimeout:               timeout,
			WriteTimeout:              timeout,
			MaxResponseBodySize:       maxAnswer,
			MaxIdemponentCallAttempts: 1,
			RetryIfErr:                func(*fasthttp.Request, int, error) (bool, bool) { return false, false },
			NoDefaultUserAgentHeader:  true,
		},
	}, nil
}

// ParseURL parses a server's URL. Its error contains no part of the URL, which can contain a
// password or a token.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("server URL: want scheme://host:port")
	}
	return u, nil
}

// Address returns the host and port of a server's URL. Without a port in the URL, the port is 80 for
// http and 443 for https.
func Address(u *url.URL) (string, error) {
	port := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	if port == "" || u.Host == "" {
		return "", fmt.Errorf("server URL %s: want http://host:port or https://host:port", u.Scheme+"://"+u.Host)
	}
	if u.Port() != "" {
		return u.Host, nil
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

var errClosed = errors.New("server closed the connection without an answer")

// silentError means that a server accepted a connection but did not respond in time.
type silentError struct {
	within time.Duration
	err    error
}

func (e *silentError) Error() string {
	return fmt.Sprintf("no answer within %s, from a server that accepts connections", e.within)
}
func (e *silentError) Unwrap() error { return e.err }

// dialError marks a failure before anything was sent.
type dialError struct{ error }

func (e dialError) Unwrap() error { return e.error }

func dial(addr string) (net.Conn, error) {
	// fasthttp's own dialler is not used, because it resolves names in the background forever.
	conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, dialError{err}
	}
	return conn, nil
}

// Unsent reports whether an error of Do guarantees that the server did not receive the request.
func Unsent(err error) bool {
	var d dialError
	return errors.As(err, &d) || errors.Is(err, fasthttp.ErrNoFreeConns)
}

// Address returns the host and port that the client connects to.
func (c *Client) Address() string { return c.host.Addr }

// Host returns the value for a Host header.
func (c *Client) Host() string {
	u, _ := url.Parse(c.base)
	return u.Host
}

// Path returns the path of the server's URL before /api.
func (c *Client) Path() string {
	u, _ := url.Parse(c.base)
	return u.Path
}

// Request is one call. Path is the part after /api, such as /login.
type Request struct {
	Method, Path string
	Session      Session
	// Bearer, if set, is sent instead of the session.
	Bearer string
	// Body is sent as ContentType, or as JSON if that is empty; nil sends no body.
	Body        []byte
	ContentType string
	// Stream, if set, is sent instead of Body. It contains Size bytes.
	Stream io.Reader
	Size   int
	// Again means that the request is idempotent, so that Spread can retry it. GET and HEAD requests
	// count as idempotent without it.
	Again bool
}

// Answer is the server's response.
type Answer struct {
	Status int
	// Body is a copy of the response body.
	Body []byte
	// Session is the session that the response issued, or else the request's session.
	Session Session
	// RetryAfter is the Retry-After header, or 0 if it is absent or not a number of seconds.
	RetryAfter time.Duration
}

// OK reports whether the status is 2xx.
func (a *Answer) OK() bool { return a.Status >= 200 && a.Status < 300 }

// Err returns an error with the status and up to 200 bytes of the body, or nil for 2xx.
func (a *Answer) Err() error {
	if a.OK() {
		return nil
	}
	return fmt.Errorf("status %d: %s", a.Status, a.Body[:min(len(a.Body), 200)])
}

// Decode decodes the JSON body of a 2xx response into v. For other responses it returns Err.
func (a *Answer) Decode(v any) error {
	if err := a.Err(); err != nil {
		return err
	}
	if err := json.Unmarshal(a.Body, v); err != nil {
		return fmt.Errorf("answer of status %d: %w", a.Status, err)
	}
	return nil
}

// Do makes one request. An error means that no complete response was received. See Unsent.
func (c *Client) Do(r *Request) (*Answer, error) {
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	req.SetRequestURI(c.base + "/api" + r.Path)
	req.Header.SetMethod(r.Method)
	if r.Bearer == "" {
		r.Session.sign(req)
	} else {
		req.Header.Set(fasthttp.HeaderAuthorization, "Bearer "+r.Bearer)
	}
	if r.Body != nil || r.Stream != nil {
		req.Header.SetContentType("application/json")
		if r.ContentType != "" {
			req.Header.SetContentType(r.ContentType)
		}
		req.SetBodyRaw(r.Body)
	}
	if r.Stream != nil {
		req.SetBodyStream(r.Stream, r.Size)
	}
	if err := c.host.Do(req, resp); err != nil {
		switch {
		case errors.Is(err, fasthttp.ErrConnectionClosed):
			err = errClosed // the library's text gives advice to authors of servers
		case errors.Is(err, fasthttp.ErrTimeout):
			err = &silentError{c.host.ReadTimeout, err}
		case errors.Is(err, fasthttp.ErrBodyTooLarge):
			err = errLarge
		}
		return nil, fmt.Errorf("%s %s: %w", r.Method, r.Path, err)
	}
	a := &Answer{Status: resp.StatusCode(), Body: append([]byte(nil), resp.Body()...), Session: r.Session.renewed(resp)}
	if seconds, err := strconv.Atoi(string(resp.Header.Peek("Retry-After"))); err == nil {
		a.RetryAfter = time.Duration(seconds) * time.Second
	}
	return a, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.host.CloseIdleConnections() }
