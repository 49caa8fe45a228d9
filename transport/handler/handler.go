package handler

import (
	"bytes"
	"log/slog"
	"slices"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/audit"
	"atelier/actors/participant"
	"atelier/actors/token"
	"atelier/actors/token/credential"
	"atelier/transport/httpapi"
	"atelier/transport/wire"
)

// Config configures a Handler. Limiter, Denied, Observe, Valid and Bodies can be nil.
type Config struct {
	// Production and Sandbox are the token vaults.
	Production, Sandbox *token.Vault
	Participants        *participant.Host
	Audit               *audit.Trail
	Document            Document
	Credentials         credential.Rules
	// DefaultPolicy and DefaultLife apply to participants without a policy.
	DefaultPolicy string
	DefaultLife   time.Duration
	// Tokenize and Detokenize enable the operations.
	Tokenize, Detokenize bool
	// Limiter limits the requests of each participant. Nil means no limit.
	Limiter *httpapi.Limiter
	// ClientIP returns the client's address.
	ClientIP func(*fasthttp.RequestCtx) string
	// Denied is called for requests refused with 401, 403, 404 or 410.
	Denied func(status int, actorType, actorID, codelab, ip string)
	// Observe is called for each operation with its result.
	Observe func(environment, operation, result string, took time.Duration)
	Now     func() time.Time
	Logger  *slog.Logger
	// Valid and Bodies are passed to httpapi.
	Valid  func() error
	Bodies *wire.BodyBudget
}

// Handler serves both environments. It is safe for concurrent use.
type Handler struct {
	Config
	bases [2]*base

	wiping func([]byte) // called before bytes are wiped; for tests
}

// base is one of the two addresses: an environment and its operations.
type base struct {
	*Handler
	path        string
	environment string
	vault       *token.Vault
	way         *httpapi.API
	operations  []operation // the enabled operations
	description description
}

// New returns a handler.
func New(cfg Config) (*Handler, error) {
	h := &Handler{Config: cfg, wiping: func([]byte) {}}
	if h.Denied == nil {
		h.Denied = func(int, string, string, string, string) {}
	}
	if h.Observe == nil {
		h.Observe = func(string, string, string, time.Duration) {}
	}
	h.bases[0] = &base{Handler: h, path: "/handler", environment: participant.Production, vault: cfg.Production}
	h.bases[1] = &base{Handler: h, path: "/sandbox/handler", environment: participant.Sandbox, vault: cfg.Sandbox}
	for _, b := range h.bases {
		b.operations = slices.DeleteFunc(operations(), func(op operation) bool { return op.Offered != nil && !op.Offered(b) })
		b.way = httpapi.New(httpapi.Config{
			Endpoints: b.endpoints(), Drain: 1 << 20, Valid: cfg.Valid, Bodies: cfg.Bodies, Logger: cfg.Logger, Now: time.Now,
			Stray: func(r *httpapi.Exchange) httpapi.Call { return &call{Exchange: r, base: b} },
		})
		b.description = describeAll(b.operations)
	}
	return h, nil
}

// maxBody bounds a request, in bytes: the largest credential, escaped, with its binding.
const maxBody = 64 << 10

// endpoints returns the operations for httpapi.
func (b *base) endpoints() (out []httpapi.Endpoint) {
	for _, op := range b.operations {
		out = append(out, httpapi.Endpoint{
			Method: op.Method, Path: b.path + op.Path, Name: op.Name, Body: maxBody, Open: op.Open,
			Begin: func(r *httpapi.Exchange) httpapi.Call { return &call{Exchange: r, base: b, handle: op.Handle} },
		})
	}
	return out
}

// Handle serves a request if its path belongs to the handler, and reports whether the path does.
func (h *Handler) Handle(ctx *fasthttp.RequestCtx) bool {
	// The path is not normalized, because a checkout's id can contain an escaped slash.
	path := ctx.URI().PathOriginal()
	for _, b := range h.bases {
		if rest, ok := bytes.CutPrefix(path, []byte(b.path)); ok && (len(rest) == 0 || rest[0] == '/') {
			if len(rest) == 1 {
				ctx.URI().SetPath(b.path)
			}
			b.way.Handler(ctx)
			return true
		}
	}
	return false
}
