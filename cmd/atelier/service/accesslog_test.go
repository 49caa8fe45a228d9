package service

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"atelier/cmd/atelier/config"
)

// TestTheAccessLogTellsNoSecrets: no query, no random name, no checkout.
func TestTheAccessLogTellsNoSecrets(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	if accessLog(config.Log{}, nil, log) != nil {
		t.Fatal("it is on by itself")
	}
	access := accessLog(config.Log{Access: true}, func(*fasthttp.RequestCtx) string { return "192.0.2.1" }, log)
	for _, uri := range []string{"/api/codelabs?secret=1", "/uploads/images/secret.png", "/sandbox/handler/sessions/secret/end", "/handler/keys/secret"} {
		ctx := &fasthttp.RequestCtx{}
		ctx.Request.SetRequestURI(uri)
		access(ctx, 1500)
	}
	if got := out.String(); strings.Contains(got, "secret") || strings.Count(got, "status=200") != 4 || !strings.Contains(got, "path=/api/codelabs ") {
		t.Errorf("logged:\n%s", got)
	}
}
