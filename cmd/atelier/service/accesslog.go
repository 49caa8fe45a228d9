package service

import (
	"log/slog"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/cmd/atelier/config"
)

// accessLog writes a line for each request, if the configuration asks for it.
// Queries are left out, and so is what stands in a path that is as good as a
// secret.
func accessLog(cfg config.Log, clientIP func(*fasthttp.RequestCtx) string, log *slog.Logger) func(*fasthttp.RequestCtx, time.Duration) {
	if !cfg.Access {
		return nil
	}
	return func(ctx *fasthttp.RequestCtx, took time.Duration) {
		log.Info("request", "method", string(ctx.Method()), "path", loggable(string(ctx.Path())),
			"status", ctx.Response.StatusCode(), "took", took.Round(time.Microsecond), "ip", clientIP(ctx),
			"request_id", string(ctx.Response.Header.Peek("X-Request-Id")))
	}
}

// secretPaths are followed by what only those know whom it concerns: random
// names of files, ids of checkouts, identities.
var secretPaths = []string{"/uploads/images/", "/uploads/materials/", "/handler/sessions/", "/handler/keys/"}

func loggable(path string) string {
	for _, p := range secretPaths {
		if i := strings.Index(path, p); i >= 0 {
			return path[:i+len(p)] + "…"
		}
	}
	return path
}
