package httpapi

import "github.com/valyala/fasthttp"

// A client that sends "Expect: 100-continue" asks before it sends its body. The client gets 100
// only if the request can succeed. A request that must fail because of its header, for example with
// 401, 404 or 413, gets this response immediately.

// expectKey marks a request if only its header has arrived.
type expectKey struct{}

// expectation is the state of such a request. met means that the client can send the body.
type expectation struct{ met bool }

// Expect checks a request's header and returns 100, or the status of the final response.
func (a *API) Expect(ctx *fasthttp.RequestCtx) int {
	e := &expectation{}
	ctx.SetUserValue(expectKey{}, e)
	a.router.Handler(ctx)
	if !e.met {
		return ctx.Response.StatusCode()
	}
	ctx.ResetUserValues()
	ctx.Response.Reset()
	return fasthttp.StatusContinue
}

// Expecting reports whether only the request's header has arrived.
func (r *Exchange) Expecting() bool { return r.UserValue(expectKey{}) != nil }

// expected ends the check of a header: the client can send the body, unless the announced length is
// too large.
func (r *Exchange) expected() error {
	limit := r.endpoint.Body
	if r.endpoint.File > 0 {
		limit = r.endpoint.File + FormOverhead
	}
	if r.Request.Header.ContentLength() > limit {
		return ErrTooLarge
	}
	r.UserValue(expectKey{}).(*expectation).met = true
	return nil
}

// FormOverhead bounds the size of a form without its file, in bytes.
const FormOverhead = 1 << 20
