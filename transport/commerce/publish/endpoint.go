package publish

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/ids"
	"atelier/transport/body"
	"atelier/transport/commerce/negotiate"
	"atelier/transport/commerce/schema"
)

const (
	profilePath   = "/.well-known/commerce"
	schemasPath   = "/schemas/"
	negotiatePath = "/api/commerce/negotiate"

	// maxBody bounds an inline profile, bytes.
	maxBody = 1 << 20
	// negotiateFor bounds a negotiation, with what it fetches.
	negotiateFor = 15 * time.Second
	// atOnce bounds the negotiations that fetch from elsewhere at a time.
	atOnce = 16
)

// EndpointConfig says what an Endpoint serves. All fields but Wait are required.
type EndpointConfig struct {
	Business *Business
	Schemas  *schema.Set
	// Fetcher gets a platform's profile by its address.
	Fetcher schema.Fetcher
	// Wait says how long the caller must wait before the next negotiation; nil
	// for never.
	Wait func(ctx *fasthttp.RequestCtx) time.Duration
}

// Endpoint serves. Safe for concurrent use.
type Endpoint struct {
	EndpointConfig
	fetching chan struct{}
}

// NewEndpoint returns an endpoint.
func NewEndpoint(cfg EndpointConfig) *Endpoint {
	return &Endpoint{EndpointConfig: cfg, fetching: make(chan struct{}, atOnce)}
}

// Handle serves a request if its path is one of ours, and says whether it was.
func (e *Endpoint) Handle(ctx *fasthttp.RequestCtx) bool {
	path := string(ctx.Path())
	file, isSchema := strings.CutPrefix(path, schemasPath)
	switch {
	case path == profilePath:
		e.document(ctx, e.Business.JSON, e.Business.ETag)
	case isSchema:
		f, ok := e.Schemas.Lookup(file)
		if !ok {
			refuse(ctx, fasthttp.StatusNotFound, "not_found", "there is no such schema")
			break
		}
		e.document(ctx, f.Data, f.ETag)
	case path == negotiatePath:
		e.negotiate(ctx)
	case strings.HasPrefix(path, "/api/commerce/"):
		refuse(ctx, fasthttp.StatusNotFound, "not_found", "there is no such operation")
	default:
		return false
	}
	ctx.Response.Header.Set("X-Request-Id", ids.New())
	ctx.Response.Header.Set("X-Content-Type-Options", "nosniff")
	return true
}

// document answers a public document, or 304 to whoever has it.
func (e *Endpoint) document(ctx *fasthttp.RequestCtx, data []byte, tag string) {
	if !ctx.IsGet() && !ctx.IsHead() {
		ctx.Response.Header.Set("Allow", "GET, HEAD")
		refuse(ctx, fasthttp.StatusMethodNotAllowed, "method_not_allowed", "this method is not allowed here")
		return
	}
	h := &ctx.Response.Header
	h.Set("ETag", tag)
	h.Set("Cache-Control", "public, max-age=300")
	// Pages of other origins may read what is public.
	h.Set("Access-Control-Allow-Origin", "*")
	for m := range strings.SplitSeq(string(ctx.Request.Header.Peek("If-None-Match")), ",") {
		if m = strings.TrimPrefix(strings.TrimSpace(m), "W/"); m == tag || m == "*" {
			ctx.SetStatusCode(fasthttp.StatusNotModified)
			return
		}
	}
	ctx.SetContentType("application/json")
	ctx.Response.SetBodyRaw(data)
}

// negotiate answers what a platform and this business agree on.
func (e *Endpoint) negotiate(ctx *fasthttp.RequestCtx) {
	if !ctx.IsPost() {
		ctx.Response.Header.Set("Allow", "POST")
		refuse(ctx, fasthttp.StatusMethodNotAllowed, "method_not_allowed", "this method is not allowed here")
		return
	}
	if e.Wait != nil {
		if wait := e.Wait(ctx); wait > 0 {
			ctx.Response.Header.Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
			refuse(ctx, fasthttp.StatusTooManyRequests, "rate_limited", "too many requests; try again later")
			return
		}
	}
	sent, err := body.Read(ctx, maxBody)
	switch {
	case errors.Is(err, body.ErrTooLarge):
		refuse(ctx, fasthttp.StatusRequestEntityTooLarge, "invalid_request", err.Error())
		return
	case err != nil:
		refuse(ctx, fasthttp.StatusBadRequest, "invalid_request", err.Error())
		return
	}
	if kind, _, _ := strings.Cut(string(ctx.Request.Header.ContentType()), ";"); len(sent) > 0 && kind != "" &&
		!strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		refuse(ctx, fasthttp.StatusUnsupportedMediaType, "invalid_request", "the body must be application/json")
		return
	}
	result, err := e.agree(sent, string(ctx.Request.Header.Peek("UCP-Agent")))
	var refused *negotiate.Error
	switch {
	case errors.Is(err, errBusy):
		ctx.Response.Header.Set("Retry-After", "1")
		refuse(ctx, fasthttp.StatusServiceUnavailable, "unavailable", err.Error())
	case errors.As(err, &refused):
		refuse(ctx, refused.Status(), refused.Code, refused.Content)
	case err != nil:
		refuse(ctx, fasthttp.StatusInternalServerError, "internal", "internal error")
	default:
		answer(ctx, fasthttp.StatusOK, result)
	}
}

var errBusy = errors.New("too many profiles are being fetched; try again")

func (e *Endpoint) agree(sent []byte, agent string) (*negotiate.Result, error) {
	req, err := negotiate.ReadRequest(sent, agent)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), negotiateFor)
	defer cancel()
	// An inline profile never makes the server fetch: only what a platform
	// announced by its address does.
	opts := negotiate.Options{Published: e.Schemas}
	if req.Profile == nil {
		select {
		case e.fetching <- struct{}{}:
			defer func() { <-e.fetching }()
		default:
			return nil, errBusy
		}
		opts.Fetcher = e.Fetcher
		if req.Profile, err = negotiate.Fetch(ctx, req.Address, e.Fetcher); err != nil {
			return nil, err
		}
	}
	return negotiate.Agree(ctx, req.Profile, e.Business.Profile, req.Want, opts)
}

func answer(ctx *fasthttp.RequestCtx, status int, v any) {
	// The standard encoder sorts names: the same agreement is the same text.
	b, err := json.Marshal(v)
	if err != nil { // a result of ours always encodes
		panic("encode answer: " + err.Error())
	}
	ctx.SetStatusCode(status)
	ctx.SetContentType("application/json")
	ctx.Response.Header.Set("Cache-Control", "no-store")
	ctx.SetBody(b)
}

func refuse(ctx *fasthttp.RequestCtx, status int, code, content string) {
	answer(ctx, status, negotiate.Error{Code: code, Content: content})
}
