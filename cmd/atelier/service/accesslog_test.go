package service

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"atelier/cmd/atelier/config"
)

// The log contains no queries, random names or checkouts.
func TestTheAccessLogHasNoSecrets(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	if accessLog(config.Log{}, nil, nil, log) != nil {
		t.Fatal("the access log is on by default")
	}
	access := accessLog(config.Log{Access: true}, []string{"/api/codelabs/{id}/chat"}, func(*fasthttp.RequestCtx) string { return "192.0.2.1" }, log)
	for _, uri := range []string{"/api/codelabs?secret=1", "/uploads/images/secret.png", "/sandbox/handler/sessions/secret/end", "/handler/keys/secret"} {
		ctx := &fasthttp.RequestCtx{}
		ctx.Request.SetRequestURI(uri)
		access(ctx, 7, 1500)
	}
	if got := out.String(); strings.Contains(got, "secret") || strings.Count(got, "status=200") != 4 || !strings.Contains(got, "path=/api/codelabs ") {
		t.Errorf("logged:\n%s", got)
	}
}

// A mistyped path can contain a card number or a token.
func TestTheAccessLogContainsOnlyPathsAndIDsOfThisServer(t *testing.T) {
	w := wordsOf([]string{"/api/codelabs/{id}/chat"})
	const id = "0197f3a2-7c1e-7aaa-8bbb-0123456789ab"
	for path, want := range map[string]string{
		"/api/codelabs/" + id + "/chat":      "/api/codelabs/" + id + "/chat",
		"/handler/tokenize/4111111111111111": "/handler/tokenize/…",
		"/4111-1111-1111-1111":               "/…",
		"/api/tok_live_abc/chat":             "/api/…/chat",
		"/admin/" + id + "/edit":             "/admin/" + id + "/edit",
		"/handler/sessions/" + id + "/end":   "/handler/sessions/…",
		"/x/handler/keys/secret":             "/…/handler/keys/…",
		"/assets/index-Bx12.js":              "/assets/…",
		"/":                                  "/",
		strings.Repeat("/chat", 30):          strings.Repeat("/chat", 11),
	} {
		if got := w.loggable(path); got != want {
			t.Errorf("%s is logged as %s, want %s", path, got, want)
		}
	}
}
