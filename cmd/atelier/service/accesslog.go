package service

import (
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/naming"
	"atelier/cmd/atelier/config"
	"atelier/transport/httpapi"
)

// accessLog returns a function that logs a line for each request, or nil if the configuration
// disables this. Queries are omitted, and so are path parts that are neither words of routes nor
// ids, because a mistyped path can contain a card number.
func accessLog(cfg config.Log, routes []string, clientIP func(*fasthttp.RequestCtx) string, log *slog.Logger) func(*fasthttp.RequestCtx, int64, time.Duration) {
	if !cfg.Access {
		return nil
	}
	words := wordsOf(routes)
	return func(ctx *fasthttp.RequestCtx, sent int64, took time.Duration) {
		log.Info("request", "method", string(ctx.Method()), "path", words.loggable(string(ctx.Path())),
			"status", ctx.Response.StatusCode(), "bytes", sent, "took_ms", float64(took.Microseconds())/1000,
			"ip", clientIP(ctx), "who", httpapi.Who(ctx), "agent", agent(ctx), "request_id", string(ctx.Response.Header.Peek("X-Request-Id")))
	}
}

// agent returns the name of the client program, which is the first word of its User-Agent. Unusual
// characters are removed, and at most 40 bytes remain.
func agent(ctx *fasthttp.RequestCtx) string {
	name, _, _ := strings.Cut(string(ctx.Request.Header.UserAgent()), " ")
	name = strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/.-_", r)) {
			return r
		}
		return -1
	}, name)
	return name[:min(len(name), 40)]
}

// secretPaths lists the paths that are followed by secrets: random file names, checkout ids and
// identities.
var secretPaths = []string{"/uploads/images/", "/uploads/materials/", "/handler/sessions/", "/handler/keys/"}

// words contains the fixed path parts of routes.
type words map[string]bool

// pages contains the fixed path parts of the routes that are in no table. These are the routes of
// the app, of the handler and of the commerce protocol.
var pages = []string{
	"/assets", "/login", "/admin/settings/audit-logs/participants/edit/results/settings/projector/live/people", "/codelabs", "/j", "/verify", "/certificate", "/account", "/invite",
	"/favicon.ico", "/robots.txt", "/index.html", "/sandbox/handler/oauth/token/tokenize/detokenize/revoke/introspect/sessions/end/keys/events/openapi.json",
	"/.well-known/commerce", "/schemas", "/api/commerce/negotiate", "/uploads/images/materials",
}

func wordsOf(routes []string) words {
	w := words{"": true}
	for _, route := range slices.Concat(routes, pages) {
		for part := range strings.SplitSeq(route, "/") {
			if !strings.HasPrefix(part, "{") {
				w[part] = true
			}
		}
	}
	return w
}

// loggable replaces the parts of a path that are neither words of routes nor have the form of an
// id. It keeps at most 12 parts, which include the empty part before the first slash.
func (w words) loggable(path string) string {
	for _, p := range secretPaths {
		if i := strings.Index(path, p); i >= 0 {
			return w.loggable(path[:i]) + p + "…"
		}
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if !w[part] && !naming.ValidID(part) {
			parts[i] = "…"
		}
	}
	const most = 12
	return strings.Join(parts[:min(len(parts), most)], "/")
}
