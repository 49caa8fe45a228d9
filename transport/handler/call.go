package handler

import (
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/participant"
	"atelier/actors/token"
	"atelier/transport/httpapi"
	"atelier/transport/wire"
)

// call is one request. The call and everything that it points to are valid only until its handler
// returns.
type call struct {
	*httpapi.Exchange
	*base
	handle func(*call) error
	view   *participant.View // nil until it is needed
	who    *participant.Participant
	scopes []string // permitted scopes of the bearer
	result string   // the code of a refusal for metrics, or ""
	owned  [][]byte // wiped at the end
}

// Admit implements httpapi.Call. It admits every request, because each operation that needs a
// caller authenticates the caller itself.
func (c *call) Admit() error { return nil }

// Serve implements httpapi.Call.
func (c *call) Serve() error { return c.handle(c) }

// End implements httpapi.Call.
func (c *call) End(took time.Duration) {
	c.wipe()
	result := c.result
	if result == "" {
		result = "ok"
	}
	c.Observe(c.environment, c.Operation(), result, took)
}

// caller returns the caller for the audit trail.
func (c *call) caller() token.Caller {
	ua := c.Request.Header.UserAgent()
	return token.Caller{Participant: c.who.Id, IP: c.ClientIP(c.RequestCtx), UserAgent: string(ua[:min(len(ua), 256)])}
}

// decode decodes a JSON body, and returns the body's bytes. It refuses duplicate members. optional
// permits an empty body.
func (c *call) decode(into any, optional bool) ([]byte, error) {
	if !c.Type("application/json") {
		return nil, httpapi.ErrMediaType
	}
	b, err := c.readBody()
	if err != nil || optional && len(b) == 0 {
		return nil, err
	}
	if err := wire.DecodeQuietly(b, into); err != nil {
		return b, err
	}
	return b, wire.Once(b)
}

func (c *call) readBody() ([]byte, error) {
	b, err := c.ReadSecret(maxBody)
	c.own(b)
	return b, err
}

// Refuse implements httpapi.Call.
func (c *call) Refuse(err error) httpapi.Problem {
	r, known := refusalOf(err)
	c.result = r.code
	if r.status == fasthttp.StatusUnauthorized {
		scheme := "Bearer"
		if r.oauth != "" {
			scheme = "Basic"
		}
		c.Response.Header.Set("WWW-Authenticate", scheme+` realm="`+c.Document.Name+`"`)
	}
	switch r.status {
	case fasthttp.StatusUnauthorized, fasthttp.StatusForbidden, fasthttp.StatusNotFound, fasthttp.StatusGone:
		kind, id := "anonymous", ""
		if c.who != nil {
			kind, id = "participant", c.who.Id
		}
		c.Denied(r.status, kind, id, "", c.ClientIP(c.RequestCtx))
	}
	return httpapi.Problem{
		Status: r.status, Retry: r.retry,
		// The error's text could contain anything, so it is not logged.
		Unexpected: !known,
		Body:       r.body(),
	}
}
