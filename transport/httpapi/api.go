package httpapi

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"atelier/actors/naming"
	"atelier/transport/wire"
)

// Endpoint is one operation of an API.
type Endpoint struct {
	// Method and Path identify the endpoint. {name} in the path is a parameter, see Exchange.Param.
	Method, Path string
	// Name is the endpoint's name in logs and metrics.
	Name string
	// Body bounds the body, and File an uploaded file, in bytes.
	Body, File int
	// Open means that Admit does not identify the caller; see wire.BodyShare.
	Open bool
	// Gzip accepts bodies compressed with gzip; the call decompresses them.
	Gzip bool
	// Begin creates the call.
	Begin func(*Exchange) Call
}

// Call is one request to an API. It is used by one goroutine, and valid until End returns.
type Call interface {
	// Admit returns an error if the request must not be executed. It checks the caller, the rate,
	// and the existence of the objects in the path. The body has not been read yet.
	Admit() error
	// Serve executes the request and writes the response.
	Serve() error
	// Refuse returns the response to an error from Admit or Serve.
	Refuse(err error) Problem
	// End is called when the response is complete, with the request's duration. It is not called
	// after Detach, or if only the request's header was checked.
	End(took time.Duration)
}

// Problem is the response to a request that failed.
type Problem struct {
	Status int
	// Body is encoded as JSON, except a Text.
	Body any
	// Retry is the value of Retry-After; 0 omits it.
	Retry time.Duration
	// Unexpected errors are logged, with Hint if it is set.
	Unexpected bool
	Hint       error
}

// Text is a plain-text body, for clients that show it to their user.
type Text string

// Config configures an API. All fields except Valid, Bodies and Origins are required.
type Config struct {
	Endpoints []Endpoint
	// Stray creates the call for a request without an endpoint. Only two of its methods are
	// called: Refuse, with ErrNoOperation or ErrMethod, and End.
	Stray func(*Exchange) Call
	// Drain bounds how much of an unwanted body is read, in bytes, so that the client can read the
	// response.
	Drain int64
	// Bodies is the memory budget for the bodies of all APIs together, or nil for no limit.
	Bodies *wire.BodyBudget
	// Origins lists the origins with pages that may read responses.
	Origins Origins
	// Valid is called after a successful operation, before its response is sent. An error means
	// that the data in the response can be stale, so the error is sent instead. A nil function
	// means that data is always valid.
	Valid  func() error
	Logger *slog.Logger
	Now    func() time.Time
}

// API serves the endpoints of its configuration. It is safe for concurrent use.
type API struct {
	Config
	router *router.Router
	turns  *turns
}

// New returns an API with the endpoints of the configuration.
func New(cfg Config) *API {
	a := &API{Config: cfg, router: router.New(), turns: newTurns()}
	a.router.RedirectTrailingSlash = false
	a.router.RedirectFixedPath = false
	a.router.HandleOPTIONS = false
	a.router.NotFound = func(ctx *fasthttp.RequestCtx) { a.stray(ctx, ErrNoOperation) }
	a.router.MethodNotAllowed = func(ctx *fasthttp.RequestCtx) { a.stray(ctx, ErrMethod) }
	methods := map[string][]string{} // by path
	for i := range cfg.Endpoints {
		e := &a.Endpoints[i]
		methods[e.Path] = append(methods[e.Path], e.Method)
		serve := func(ctx *fasthttp.RequestCtx) { a.serve(ctx, e) }
		a.router.Handle(e.Method, e.Path, serve)
		if e.Method == fasthttp.MethodGet { // RFC 9110, 9.1: every GET endpoint must support HEAD
			methods[e.Path] = append(methods[e.Path], fasthttp.MethodHead)
			a.router.Handle(fasthttp.MethodHead, e.Path, serve)
		}
	}
	a.refuseOthers(methods)
	return a
}

// refuseOthers responds 405 to methods that a path does not have, if a parameter of another path
// would match this path. For example, GET /codelabs/import must not read a codelab "import".
func (a *API) refuseOthers(methods map[string][]string) {
	paths := slices.Collect(maps.Keys(methods))
	for path, own := range methods {
		if !slices.ContainsFunc(paths, func(other string) bool { return takes(other, path) }) {
			continue
		}
		allow := strings.Join(own, ", ")
		for _, method := range []string{fasthttp.MethodGet, fasthttp.MethodHead, fasthttp.MethodPost, fasthttp.MethodPut, fasthttp.MethodPatch, fasthttp.MethodDelete, fasthttp.MethodOptions} {
			if slices.Contains(own, method) {
				continue
			}
			a.router.Handle(method, path, func(ctx *fasthttp.RequestCtx) {
				ctx.Response.Header.Set("Allow", allow)
				a.stray(ctx, ErrMethod)
			})
		}
	}
}

// takes reports whether a pattern matches another path, because the path has a fixed part where the
// pattern has a parameter.
func takes(pattern, path string) bool {
	a, b := strings.Split(pattern, "/"), strings.Split(path, "/")
	wider := false
	for i := range a {
		switch all := strings.HasSuffix(a[i], ":*}"); {
		case i >= len(b):
			return false
		case all:
			return wider || !strings.HasSuffix(b[i], ":*}")
		case strings.HasPrefix(a[i], "{"):
			wider = wider || !strings.HasPrefix(b[i], "{")
		case a[i] != b[i]:
			return false
		}
	}
	return wider && len(a) == len(b)
}

// Handler serves a request.
func (a *API) Handler(ctx *fasthttp.RequestCtx) { a.router.Handler(ctx) }

func (a *API) begin(ctx *fasthttp.RequestCtx, e *Endpoint) *Exchange {
	r := &Exchange{RequestCtx: ctx, ID: naming.NewID(), api: a, endpoint: e, share: wire.BodyShare{Of: a.Bodies, Open: e == nil || e.Open}}
	setHeaders(&ctx.Response.Header, r.ID)
	if len(a.Origins.Allowed) > 0 {
		ctx.Response.Header.Add("Vary", "Origin")
		r.sharing = a.Origins.sharing(ctx)
		r.sharing.setHeaders(ctx.Response.Header.Set)
	}
	return r
}

// setHeaders sets the headers that every response has. Their names are in the library's canonical
// form, which avoids normalizing them.
func setHeaders(h *fasthttp.ResponseHeader, id string) {
	h.SetCanonical(requestID, []byte(id))
	h.SetCanonical(contentTypeOptions, nosniff)
	h.SetCanonical(cacheControl, noStore)
}

var (
	requestID, etag             = []byte("X-Request-Id"), []byte("Etag")
	contentTypeOptions, nosniff = []byte("X-Content-Type-Options"), []byte("nosniff")
	cacheControl, noStore       = []byte("Cache-Control"), []byte("no-store")
)

func (a *API) serve(ctx *fasthttp.RequestCtx, e *Endpoint) {
	began := a.Now()
	r := a.begin(ctx, e)
	c := e.Begin(r)
	r.call = c
	defer a.end(r, began)
	defer func() {
		if p := recover(); p != nil {
			// The value can contain a person's text, so only its type is logged.
			a.Logger.Error("handler panicked", "request_id", r.ID, "operation", e.Name, "panic", fmt.Sprintf("%T", p))
			r.fail(ErrPanic)
		}
	}()
	err := r.path()
	if err == nil {
		err = c.Admit()
	}
	if err == nil {
		err = r.plain()
	}
	switch {
	case err == nil && r.Expecting():
		err = r.expected()
	case err == nil:
		if err = c.Serve(); err == nil && a.Valid != nil && !r.detached {
			err = a.Valid()
		}
	}
	if err != nil {
		r.fail(err)
	}
}

// end completes a request: it reads the rest of its body from the connection, and calls Call.End.
func (a *API) end(r *Exchange, began time.Time) {
	r.share.Release()
	if r.Expecting() {
		return
	}
	if r.IsHead() {
		// A HEAD request must not start anything, such as a session.
		r.Response.Header.DelAllCookies()
		if r.Response.IsBodyStream() && r.Response.Header.ContentLength() < 0 {
			// Otherwise the library would write the end of a body that is not sent.
			_ = r.Response.CloseBodyStream()
		}
	}
	wire.DiscardBody(r.RequestCtx, a.Drain)
	if !r.detached {
		r.call.End(a.Now().Sub(began))
	}
}

// stray responds to a request without an endpoint.
func (a *API) stray(ctx *fasthttp.RequestCtx, err error) {
	r := a.begin(ctx, nil)
	r.call = a.Stray(r)
	if allow := ctx.Response.Header.Peek("Allow"); len(allow) > 0 {
		// The router includes OPTIONS, which no endpoint has.
		methods := slices.DeleteFunc(strings.Split(string(allow), ", "), func(m string) bool { return m == fasthttp.MethodOptions })
		ctx.Response.Header.Set("Allow", strings.Join(methods, ", "))
	}
	defer a.end(r, a.Now())
	if r.preflight(string(ctx.Response.Header.Peek("Allow"))) {
		return
	}
	r.fail(err)
}

// fail responds with an error.
func (r *Exchange) fail(err error) {
	p := r.call.Refuse(err)
	if p.Unexpected {
		r.api.Logger.Error("request failed", "request_id", r.ID, "operation", r.Operation(), "error", p.Hint)
	}
	// The call can have set headers of a successful response.
	r.Response.Header.DelBytes(etag)
	r.Response.Header.SetCanonical(cacheControl, noStore)
	p.write(&r.Response)
}

// write writes the response.
func (p Problem) write(res *fasthttp.Response) {
	res.SetStatusCode(p.Status)
	if p.Retry > 0 {
		res.Header.Set("Retry-After", strconv.Itoa(int((p.Retry+time.Second-1)/time.Second)))
	}
	if text, ok := p.Body.(Text); ok {
		res.Header.SetContentType("text/plain; charset=utf-8")
		res.SetBodyString(string(text) + "\n")
		return
	}
	res.Header.SetContentType("application/json")
	res.SetBody(encode(p.Body))
}
