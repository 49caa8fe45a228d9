package rest

import (
	"fmt"
	"io"
	"strings"

	"github.com/valyala/fasthttp"

	"atelier/actors/codelab"
	"atelier/actors/ids"
	"atelier/transport/auth"
	"atelier/transport/limit"
)

// Request is one call on its way through the pipeline. It and everything it
// points to is valid only until its handler returns.
type Request struct {
	*fasthttp.RequestCtx
	api *API
	op  *operation
	id  string // request id
	who auth.Identity
	// Caller is who acts, for actors. Set when the operation needs somebody.
	Caller *codelab.Caller
	// Lab is the codelab of the path, for operations on one.
	Lab codelab.Workshop
	// detached: the answer comes from elsewhere, see Detach.
	detached bool
}

func (r *Request) operation() string {
	if r.op == nil {
		return "none"
	}
	return r.op.name
}

// Identity is who is calling.
func (r *Request) Identity() *auth.Identity { return &r.who }

// IsAdmin says whether the admin grant acts.
func (r *Request) IsAdmin() bool { return r.Caller.IsAdmin() }

// Param returns a copy of a path parameter.
func (r *Request) Param(name string) string {
	s, _ := r.UserValue(name).(string)
	return strings.Clone(s)
}

// Query returns a copy of a query parameter.
func (r *Request) Query(name string) string { return string(r.QueryArgs().Peek(name)) }

func (r *Request) ip() string { return r.api.ClientIP(r.RequestCtx) }

// bucket names whose requests are counted together: those of a session or API
// token; without one those of a browser in which an admin has logged in, which
// others behind its address must not lock out; else those of the address.
func (r *Request) bucket() string {
	if key := r.who.Key(); key != "" {
		return key
	}
	if id := r.device(); id != "" {
		return "device " + id
	}
	return limit.Address(r.ip())
}

// device is the browser in which an admin has logged in; "" when none has.
func (r *Request) device() string {
	cookie := r.Request.Header.Cookie(auth.DeviceCookie)
	if len(cookie) == 0 {
		return ""
	}
	return r.api.Auth.Signer.DeviceID(string(cookie))
}

func (r *Request) begin() {
	r.id = ids.New()
	dress(&r.Response.Header, r.id)
}

// dress sets the headers of every answer.
func dress(h *fasthttp.ResponseHeader, id string) {
	h.Set("X-Request-Id", id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
}

// serve wraps an operation in the pipeline.
func (a *API) serve(op *operation) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		began := a.Now()
		r := &Request{RequestCtx: ctx, api: a, op: op}
		r.begin()
		defer func() {
			if p := recover(); p != nil {
				// The value may hold what a person wrote, so only its type is
				// told.
				a.Logger.Error("handler panicked", "request_id", r.id, "operation", op.name, "panic", fmt.Sprintf("%T", p))
				r.fail(io.ErrUnexpectedEOF)
			}
			if r.expecting() {
				return
			}
			r.discardBody()
			if !r.detached {
				a.observe(op.name, r, began)
			}
		}()
		err := r.admit()
		switch {
		case err == nil && r.expecting():
			err = r.expected()
		case err == nil:
			err = op.handle(r)
		}
		if err != nil {
			r.fail(err)
		}
	}
}

// admit does everything that comes before the handler.
func (r *Request) admit() error {
	a, op := r.api, r.op
	cookie := string(r.Request.Header.Cookie(auth.SessionCookie))
	var badToken bool
	r.who, badToken = a.Auth.Identify(cookie, string(r.Request.Header.Peek("Authorization")))
	limiter, key := a.Limits.Writes, r.bucket
	switch {
	case op.joins:
		limiter, key = a.Limits.Joins, func() string { return limit.Address(r.ip()) }
	case op.method == fasthttp.MethodGet:
		limiter = a.Limits.Reads
	case op.upload:
		limiter = a.Limits.Uploads
	}
	// A whole class registers from one address; registration has buckets of its
	// own.
	if (op.access != register || r.who.Known()) && !r.expecting() {
		if wait := limiter.Allow(key()); wait > 0 {
			return errTooMany(wait)
		}
	}
	if op.method != fasthttp.MethodGet && r.who.SessionID != "" {
		h := &r.Request.Header
		if !a.Auth.Signer.CheckCSRF(r.who.SessionID, string(h.Peek(auth.CSRFHeader)), string(h.Cookie(auth.CSRFCookie))) {
			return errCSRF
		}
	}
	if badToken && op.access != anyone {
		return errLogin
	}
	err := r.authorize()
	if err != nil && op.access == register {
		return r.wasted(err)
	}
	return err
}

// do sends a command to the codelab of the path. The uploads that it mentions
// stay until it is recorded that they are needed.
func (r *Request) do(b codelab.Body) (any, error) { return r.ask(codelab.Command{Body: b}) }

func (r *Request) ask(cmd codelab.Command) (any, error) {
	if names := codelab.Mentions(cmd.Body); len(names) > 0 {
		release, err := r.api.Files.ClaimKnown(names...)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	cmd.Caller = r.Caller
	v, _, err := r.Lab.Ask(cmd)
	return v, err
}

// edit is do for a command that replaces what somebody has read: only when it
// is still what the client says it was (If-Match), and with the tag of the new.
func (r *Request) edit(b codelab.Body) (codelab.Edited, error) {
	v, err := r.ask(codelab.Command{Body: b, IfMatch: r.ifMatch()})
	if err != nil {
		return codelab.Edited{}, err
	}
	made := v.(codelab.Edited)
	r.madeEdition(made)
	return made, nil
}
