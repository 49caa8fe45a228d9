package publish

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/transport/commerce/negotiate"
	"atelier/transport/commerce/schema"
	"atelier/transport/httpapi"
	"atelier/transport/wire"
)

const (
	profilePath   = "/.well-known/commerce"
	schemasPath   = "/schemas/"
	negotiatePath = "/api/commerce/negotiate"

	// maxBody bounds an inline profile, in bytes.
	maxBody = 1 << 20
	// negotiateFor is the time limit of a negotiation, including its fetches.
	negotiateFor = 15 * time.Second
	// atOnce bounds the concurrent negotiations, and eachAtOnce bounds them per client address.
	// fetchAtOnce and fetchEach do the same for the negotiations that fetch from other servers. A
	// profile can take some megabytes of memory.
	atOnce, eachAtOnce     = 32, 16
	fetchAtOnce, fetchEach = 16, 2
)

// EndpointConfig configures an Endpoint. All fields except Wait and Bodies are required.
type EndpointConfig struct {
	Business *Business
	Schemas  *schema.Set
	// Fetcher fetches a platform's profile by its address.
	Fetcher schema.Fetcher
	// Wait returns how long the caller must wait before the next negotiation. Nil means no limit.
	Wait func(ctx *fasthttp.RequestCtx) time.Duration
	// ClientIP returns the client's address.
	ClientIP func(*fasthttp.RequestCtx) string
	// Bodies is passed to httpapi, and can be nil.
	Bodies *wire.BodyBudget
	Logger *slog.Logger
}

// Endpoint serves profile, schemas and negotiation. It is safe for concurrent use.
type Endpoint struct {
	EndpointConfig
	all, fetching *httpapi.Places
	way           *httpapi.API
}

// NewEndpoint returns an endpoint.
func NewEndpoint(cfg EndpointConfig) *Endpoint {
	e := &Endpoint{EndpointConfig: cfg, all: httpapi.NewPlaces(atOnce, eachAtOnce), fetching: httpapi.NewPlaces(fetchAtOnce, fetchEach)}
	begin := func(serve func(*httpapi.Exchange) error) func(*httpapi.Exchange) httpapi.Call {
		return func(r *httpapi.Exchange) httpapi.Call { return call{r, serve} }
	}
	e.way = httpapi.New(httpapi.Config{
		Endpoints: []httpapi.Endpoint{
			{Method: fasthttp.MethodGet, Path: profilePath, Name: "profile", Begin: begin(e.profile)},
			{Method: fasthttp.MethodGet, Path: schemasPath + "{file:*}", Name: "schema", Begin: begin(e.schema)},
			{Method: fasthttp.MethodPost, Path: negotiatePath, Name: "negotiate", Body: maxBody, Open: true, Begin: begin(e.negotiate)},
		},
		Stray: begin(nil), Drain: maxBody, Bodies: cfg.Bodies, Logger: cfg.Logger, Now: time.Now,
	})
	return e
}

// Handle serves a request if its path belongs to the endpoint, and reports whether the path does.
func (e *Endpoint) Handle(ctx *fasthttp.RequestCtx) bool {
	path := ctx.Path()
	if string(path) != profilePath && !bytes.HasPrefix(path, []byte(schemasPath)) && !bytes.HasPrefix(path, []byte("/api/commerce/")) {
		return false
	}
	e.way.Handler(ctx)
	return true
}

// call is one request.
type call struct {
	*httpapi.Exchange
	serve func(*httpapi.Exchange) error
}

// Admit implements httpapi.Call. It admits every caller, because these documents are public.
func (c call) Admit() error { return nil }

// Serve implements httpapi.Call.
func (c call) Serve() error { return c.serve(c.Exchange) }

// End implements httpapi.Call.
func (c call) End(time.Duration) {}

// Refuse implements httpapi.Call.
func (c call) Refuse(err error) httpapi.Problem {
	var onTheWay *httpapi.Error
	var refused *negotiate.Error
	switch {
	case errors.As(err, &onTheWay):
		return httpapi.Problem{Status: onTheWay.Status, Retry: onTheWay.Retry, Body: negotiate.Error{Code: onTheWay.Code, Content: onTheWay.Text}}
	case errors.As(err, &refused):
		return httpapi.Problem{Status: refused.Status(), Body: negotiate.Error{Code: refused.Code, Content: refused.Content}}
	}
	return httpapi.Problem{
		Status: fasthttp.StatusInternalServerError, Unexpected: true, Hint: err,
		Body: negotiate.Error{Code: "internal", Content: "internal error"},
	}
}

func (e *Endpoint) profile(r *httpapi.Exchange) error {
	return document(r, e.Business.JSON, e.Business.ETag)
}

func (e *Endpoint) schema(r *httpapi.Exchange) error {
	f, ok := e.Schemas.Lookup(r.Param("file"))
	if !ok {
		return &httpapi.Error{Status: fasthttp.StatusNotFound, Code: "not_found", Text: "schema not found"}
	}
	return document(r, f.Data, f.ETag)
}

// document responds with a public document, or with 304 if the client has the document.
func document(r *httpapi.Exchange, data []byte, tag string) error {
	// Pages of other origins are allowed to read public documents.
	r.Response.Header.Set("Access-Control-Allow-Origin", "*")
	if r.Fresh(strings.Trim(tag, `"`), "public, max-age=300") {
		return nil
	}
	return r.Answer(data)
}

// negotiate responds with the agreement of a platform and this business.
func (e *Endpoint) negotiate(r *httpapi.Exchange) error {
	if e.Wait != nil {
		if wait := e.Wait(r.RequestCtx); wait > 0 {
			return httpapi.ErrTooMany(wait)
		}
	}
	sent, err := r.Body()
	if err != nil {
		return err
	}
	result, err := e.agree(sent, string(r.Request.Header.Peek("UCP-Agent")), e.ClientIP(r.RequestCtx))
	if err != nil {
		return err
	}
	// The standard encoder sorts names, so that equal agreements have equal bytes.
	b, err := json.Marshal(result)
	if err != nil {
		return err
	}
	return r.Answer(b)
}

var errBusy = &httpapi.Error{
	Status: fasthttp.StatusServiceUnavailable, Code: "unavailable", Text: "too many profiles are being compared or fetched; try again", Retry: time.Second,
}

func (e *Endpoint) agree(sent []byte, agent, ip string) (*negotiate.Result, error) {
	leave, ok := e.all.Enter(httpapi.Address(ip))
	if !ok {
		return nil, errBusy
	}
	defer leave()
	req, err := negotiate.ReadRequest(sent, agent)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), negotiateFor)
	defer cancel()
	// An inline profile never causes a fetch. If the platform announces only its profile's address,
	// the negotiation fetches this profile, and the documents to which the profiles refer.
	opts := negotiate.Options{Published: e.Schemas}
	if req.Profile == nil {
		leave, ok := e.fetching.Enter(httpapi.Address(ip))
		if !ok {
			return nil, errBusy
		}
		defer leave()
		opts.Fetcher = e.Fetcher
		if req.Profile, err = negotiate.Fetch(ctx, req.Address, e.Fetcher); err != nil {
			return nil, err
		}
	}
	return negotiate.Agree(ctx, req.Profile, e.Business.Profile, req.Want, opts)
}
