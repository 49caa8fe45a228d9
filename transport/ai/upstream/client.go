package upstream

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"atelier/transport/ai/keys"
	"atelier/transport/wire"
)

// The supported protocols of an upstream.
const (
	Gemini = "gemini"
	OpenAI = "openai"
)

// Defaults contains the addresses that are used if no address is configured.
var Defaults = map[string]string{
	Gemini: "https://generativelanguage.googleapis.com/v1beta",
	OpenAI: "https://api.openai.com/v1",
}

// Options of a Client. Provider, FirstByte, Idle and Total are required.
type Options struct {
	Provider string
	// BaseURL is the address that precedes the protocol's paths, or "" for the default.
	BaseURL string
	// Connect bounds the time of the TCP connection, and again the time of the TLS handshake. 0
	// means no bound. FirstByte bounds the time from the call of Ask until the first event, Idle
	// the time between two events, and Total the time of the whole answer.
	Connect, FirstByte, Idle, Total time.Duration
	// MaxConnections bounds the connections to the upstream; 0 means no bound.
	MaxConnections int
}

// Client sends queries to one upstream. It is safe for concurrent use.
type Client struct {
	Options
	protocol  protocol
	http      *http.Client
	transport *http.Transport
}

// protocol has the functions for one kind of upstream.
type protocol interface {
	// request returns a request's address, headers and body.
	request(base string, key keys.Key, q *Query) (url string, h http.Header, body any, err error)
	// answer returns a reader for one answer.
	answer() reader
	// blocked reports whether the body of a 400 means that the question was blocked for safety,
	// which counts as an answer.
	blocked(body []byte) bool
}

// reader reads the events of one answer, in order.
type reader interface {
	// chunk decodes an event. last means that no event follows.
	chunk(data []byte) (c Chunk, last bool, err error)
	// reasoned reports whether every complete answer has a finish reason, so that an answer without
	// one was cut off.
	reasoned() bool
}

// done reports whether data is the marker that ends a stream in OpenAI's protocol. Some servers and
// proxies also end streams of Gemini's protocol with this marker.
func done(data []byte) bool { return string(bytes.TrimSpace(data)) == "[DONE]" }

// New returns a client. Close ends its idle connections.
func New(o Options) (*Client, error) {
	c := &Client{Options: o}
	switch o.Provider {
	case Gemini:
		c.protocol = gemini{}
	case OpenAI:
		c.protocol = openAI{}
	default:
		return nil, fmt.Errorf("unknown AI provider %q", o.Provider)
	}
	if c.BaseURL == "" {
		c.BaseURL = Defaults[o.Provider]
	}
	c.transport = &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: o.Connect, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    o.Connect,
		ForceAttemptHTTP2:      true,
		MaxConnsPerHost:        o.MaxConnections,
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		// Compression could hide a stream's size, and would delay the stream.
		DisableCompression: true,
	}
	c.http = &http.Client{
		Transport:     c.transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// Close ends idle connections.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// maxRefusal bounds how much of a 400 response is read, in bytes.
const maxRefusal = 64 << 10

// Check returns an error if a query has a parameter of the wrong type or out of range, or content
// or tools that the provider's protocol does not support. It does not ask the upstream.
func (c *Client) Check(q *Query) error {
	if err := q.Check(); err != nil {
		return err
	}
	_, _, _, err := c.protocol.request(c.BaseURL, keys.Key{}, q)
	return err
}

// Ask sends a query and calls emit for each part of the answer when the part arrives. It returns
// nil when the answer is complete, and otherwise emit's error or a *Failure. Ask blocks until then;
// ctx cancels it.
func (c *Client) Ask(ctx context.Context, key keys.Key, q *Query, emit func(Chunk) error) error {
	ctx, cancelTotal := context.WithTimeoutCause(ctx, c.Total, errTimeout)
	defer cancelTotal()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(c.FirstByte, func() { cancel(errTimeout) })
	defer watch.Stop()

	res, err := c.send(ctx, key, q)
	if err != nil {
		return explain(ctx, err, errConnect)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		if res.StatusCode == http.StatusBadRequest {
			body, err := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
			if err == nil && c.protocol.blocked(body) {
				return emit(Chunk{Finish: Safety})
			}
		}
		return refused(res, time.Now())
	}
	if media, _, err := mime.ParseMediaType(res.Header.Get("Content-Type")); err != nil || media != "text/event-stream" {
		return errBroken
	}
	answer := c.protocol.answer()
	whole, some := false, false
	for in := newEvents(res.Body); ; {
		data, err := in.next()
		// If the protocol does not require a finish reason, a stream whose HTTP body ends correctly
		// after an answer is complete without one.
		if err == io.EOF && (whole || some && !answer.reasoned()) {
			return nil
		}
		if err != nil {
			return explain(ctx, err, errBroken)
		}
		// The idle time does not include the time spent in emit, because the upstream is not the
		// cause.
		watch.Stop()
		chunk, last, err := answer.chunk(data)
		if err != nil {
			return explain(ctx, err, errBroken)
		}
		whole = whole || last || chunk.Finish != ""
		some = some || len(chunk.Parts) > 0
		if len(chunk.Parts) > 0 || chunk.Finish != "" || chunk.Usage != nil || chunk.Grounding != nil {
			if err := emit(chunk); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
		watch.Reset(c.Idle)
	}
}

func (c *Client) send(ctx context.Context, key keys.Key, q *Query) (*http.Response, error) {
	url, header, body, err := c.protocol.request(c.BaseURL, key, q)
	if err != nil {
		return nil, err
	}
	text, err := encode(body)
	if err != nil {
		return nil, fmt.Errorf("encode query: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("make query: %w", err)
	}
	req.Header = header
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("User-Agent", "Atelier")
	return c.http.Do(req)
}

// decode decodes the JSON of an event or of a refusal. It returns errBroken for invalid JSON and
// for text that is not UTF-8.
func decode(data []byte, into any) error {
	if !utf8.Valid(data) || wire.Codec.Unmarshal(data, into) != nil {
		return errBroken
	}
	return nil
}

// word returns a finish reason of the upstream unchanged. It returns OTHER for a reason of more
// than 40 bytes, or with characters other than ASCII letters and _.
func word(s string) string {
	if len(s) > 40 || strings.ContainsFunc(s, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '_' }) {
		return "OTHER"
	}
	return s
}
