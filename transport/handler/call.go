package handler

import (
	"bytes"
	"errors"
	"net/url"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	pb "atelier/actors/participant/participantpb"
	"atelier/actors/token"
	"atelier/transport/body"
	"atelier/transport/wire"
)

// call is one request. It and what it points to is valid only until its
// handler returns.
type call struct {
	*fasthttp.RequestCtx
	*base
	id     string // of the request
	param  string // of the path, escaped
	who    *pb.Participant
	scopes []string // what who may do with this bearer
	result string   // for the metrics: "ok" or a code
	owned  [][]byte // wiped at the end
}

// errPanic stands for whatever panicked.
var errPanic = errors.New("panic")

// caller is who is calling, for the audit trail.
func (c *call) caller() token.Caller {
	ua := c.Request.Header.UserAgent()
	return token.Caller{Participant: c.who.Id, IP: c.ClientIP(c.RequestCtx), UserAgent: string(ua[:min(len(ua), 256)])}
}

// parameter returns the path's parameter.
func (c *call) parameter() (string, error) {
	s, err := url.PathUnescape(c.param)
	if err != nil {
		return "", invalid("the path is not well escaped")
	}
	return s, nil
}

// decode reads a JSON body. optional allows none.
func (c *call) decode(into any, optional bool) ([]byte, error) {
	ct := c.Request.Header.ContentType()
	if i := bytes.IndexByte(ct, ';'); i >= 0 {
		ct = ct[:i]
	}
	if ct = bytes.TrimSpace(ct); len(ct) > 0 && !bytes.EqualFold(ct, []byte("application/json")) {
		return nil, errMediaType
	}
	b, err := c.readBody()
	if err != nil || optional && len(b) == 0 {
		return nil, err
	}
	return b, wire.DecodeQuietly(b, into)
}

func (c *call) readBody() ([]byte, error) {
	b, err := body.ReadSecret(c.RequestCtx, maxBody)
	c.own(b)
	switch {
	case errors.Is(err, body.ErrTooLarge):
		return nil, errTooLarge
	case err != nil:
		return nil, invalid("the body broke off")
	}
	return b, nil
}

func (c *call) json(v any) error {
	b, err := wire.Codec.Marshal(v)
	if err != nil {
		return err
	}
	c.raw(b)
	return nil
}

func (c *call) raw(b []byte) {
	c.SetContentType("application/json")
	c.Response.SetBodyRaw(b)
}

func (c *call) noContent() error {
	c.SetStatusCode(fasthttp.StatusNoContent)
	return nil
}

// refuse answers an error.
func (c *call) refuse(err error) {
	r, known := refusalOf(err)
	if !known {
		// Its text could hold anything, so it stays out of the log too.
		c.base.Logger.Error("request failed", "request_id", c.id, "environment", c.environment)
	}
	c.result = r.code
	c.Response.ResetBody()
	c.SetStatusCode(r.status)
	h := &c.Response.Header
	if r.retry > 0 {
		h.Set("Retry-After", strconv.Itoa(int((r.retry+time.Second-1)/time.Second)))
	}
	if r.status == fasthttp.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="`+c.Document.Name+`"`)
	}
	switch r.status {
	case fasthttp.StatusUnauthorized, fasthttp.StatusForbidden, fasthttp.StatusNotFound, fasthttp.StatusGone:
		kind, id := "anonymous", ""
		if c.who != nil {
			kind, id = "participant", c.who.Id
		}
		c.Denied(r.status, kind, id, "", c.ClientIP(c.RequestCtx))
	}
	b, _ := wire.Codec.Marshal(struct {
		Code    string `json:"code"`
		Content string `json:"content"`
	}{r.code, r.content})
	c.SetContentType("application/json")
	c.Response.SetBody(b)
}
