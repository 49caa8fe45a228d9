package handler

import (
	"log/slog"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/ids"
	"atelier/actors/participant"
	"atelier/actors/token"
	"atelier/actors/token/credential"
	"atelier/transport/body"
	"atelier/transport/limit"
)

// Config of a Handler. All fields but Limiter and the functions are required.
type Config struct {
	// Production and Sandbox hold the tokens.
	Production, Sandbox *token.Vault
	Participants        *participant.Host
	Document            Document
	Credentials         credential.Rules
	// DefaultPolicy and DefaultLife are for participants without a policy.
	DefaultPolicy string
	DefaultLife   time.Duration
	// Tokenize and Detokenize say which operations are offered.
	Tokenize, Detokenize bool
	// Limiter bounds the requests of each participant; nil for never.
	Limiter *limit.Limiter
	// ClientIP is the address of who is calling.
	ClientIP func(*fasthttp.RequestCtx) string
	// Denied is told of refused requests; nil for nobody.
	Denied func(status int, actorType, actorID, codelab, ip string)
	// Observe is told of each operation by its result; nil for nobody.
	Observe func(environment, operation, result string, took time.Duration)
	Now     func() time.Time
	Logger  *slog.Logger
}

// Handler serves. Safe for concurrent use.
type Handler struct {
	Config
	bases [2]*base

	wiping func([]byte) // sees what is about to be wiped; for tests
}

// base is one of the two addresses: an environment with what it offers.
type base struct {
	*Handler
	path        string
	environment string
	vault       *token.Vault
	routes      map[string]map[string]operation // path below, method
	description description
}

// operation is one line of the interface. handle writes the answer.
type operation struct {
	name   string
	handle func(*call) error
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
		b.route()
		if err := b.render(); err != nil {
			return nil, err
		}
	}
	return h, nil
}

func (b *base) route() {
	b.routes = map[string]map[string]operation{}
	add := func(method, path, name string, handle func(*call) error) {
		if b.routes[path] == nil {
			b.routes[path] = map[string]operation{}
		}
		b.routes[path][method] = operation{name, handle}
	}
	add("GET", "", "document", (*call).describe)
	add("GET", "/", "document", (*call).describe)
	add("GET", "/openapi.json", "openapi", (*call).openAPI)
	add("POST", "/oauth/token", "oauth_token", (*call).accessToken)
	add("GET", "/keys/:", "key_get", (*call).getKey)
	add("PUT", "/keys", "key_put", (*call).putKey)
	add("POST", "/keys", "key_put", (*call).putKey)
	add("DELETE", "/keys", "key_delete", (*call).deleteKey)
	if b.Tokenize {
		add("POST", "/tokenize", "tokenize", (*call).tokenize)
	}
	if b.Detokenize {
		add("POST", "/detokenize", "detokenize", (*call).detokenize)
	}
	add("POST", "/revoke", "revoke", (*call).revoke)
	add("POST", "/introspect", "introspect", (*call).introspect)
	add("POST", "/sessions/:/end", "session_end", (*call).endSession)
}

// Handle serves a request if its path is one of ours, and says whether it was.
func (h *Handler) Handle(ctx *fasthttp.RequestCtx) bool {
	// As it was sent: the id of a checkout may hold an escaped slash.
	path := string(ctx.URI().PathOriginal())
	for _, b := range h.bases {
		if rest, ok := strings.CutPrefix(path, b.path); ok && (rest == "" || rest[0] == '/') {
			b.serve(ctx, rest)
			return true
		}
	}
	return false
}

// maxBody bounds a request, bytes: the largest credential, escaped, with its
// binding.
const maxBody = 64 << 10

func (b *base) serve(ctx *fasthttp.RequestCtx, path string) {
	began := time.Now()
	c := &call{RequestCtx: ctx, base: b, id: ids.New()}
	h := &ctx.Response.Header
	h.Set("X-Request-Id", c.id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	name := "none"
	defer func() {
		if p := recover(); p != nil {
			// The value may hold what was being worked with.
			b.Logger.Error("handler panicked", "request_id", c.id, "operation", name)
			c.refuse(errPanic)
		}
		body.Discard(ctx, 1<<20)
		c.wipe()
		b.Observe(b.environment, name, c.result, time.Since(began))
	}()
	methods := b.find(c, path)
	op, ok := methods[methodOf(ctx)]
	c.result = "ok"
	var err error
	switch {
	case methods == nil:
		err = errNotFound
	case !ok:
		h.Set("Allow", allow(methods))
		err = errMethod
	default:
		name = op.name
		err = op.handle(c)
	}
	if err != nil {
		c.refuse(err)
	}
}

func methodOf(ctx *fasthttp.RequestCtx) string {
	if ctx.IsHead() {
		return "GET"
	}
	return string(ctx.Method())
}

func allow(methods map[string]operation) string {
	out := ""
	for _, m := range []string{"GET", "POST", "PUT", "DELETE"} {
		if _, ok := methods[m]; ok {
			out += ", " + m
		}
	}
	return out[2:]
}

// find returns the operations of a path. The two paths with a parameter leave
// it in the call, still escaped.
func (b *base) find(c *call, path string) map[string]operation {
	if m := b.routes[path]; m != nil && !strings.Contains(path, ":") {
		return m
	}
	if id, ok := strings.CutPrefix(path, "/keys/"); ok && !strings.Contains(id, "/") {
		c.param = id
		return b.routes["/keys/:"]
	}
	if id, ok := strings.CutPrefix(path, "/sessions/"); ok {
		if id, ok = strings.CutSuffix(id, "/end"); ok && id != "" && !strings.Contains(id, "/") {
			c.param = id
			return b.routes["/sessions/:/end"]
		}
	}
	return nil
}
