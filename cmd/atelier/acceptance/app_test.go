package acceptance

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// visit asks for a page as a browser does that knows no language but HTTP.
func visit(t *testing.T, addr, method, path string, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequest(method, "http://"+addr+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return exchange(t, req)
}

// TestTheAppHasAllThatNobodyElseServes: whether this binary was built with the
// browser app or not.
func TestTheAppHasAllThatNobodyElseServes(t *testing.T) {
	addr := common.get(t).Addr()
	const page, data = "text/html; charset=utf-8", "application/json"
	for line, want := range map[string]struct {
		status int
		kind   string
	}{
		"GET /":                        {200, page},
		"HEAD /":                       {200, page},
		"GET /login":                   {200, page},
		"GET /admin/0193/edit":         {200, page},
		"GET /nothing":                 {404, page},
		"HEAD /nothing":                {404, page},
		"GET /assets/gone-12345678.js": {404, "text/plain; charset=utf-8"},
		"GET /verify/" + unknownID:     {404, page},
		"POST /":                       {405, data},
		"POST /nothing":                {404, data},
		// What others serve stays theirs.
		"GET /api":                     {404, data},
		"GET /api/nothing":             {404, data},
		"GET /api/../api/nothing":      {404, data},
		"GET /api/../login":            {404, data},
		"GET /uploads/%2e%2e/login":    {404, data},
		"GET /uploads/images/x":        {404, data},
		"GET /api/openapi.json":        {200, data},
		"GET /.well-known/commerce":    {200, data},
		"GET /schemas/nothing":         {404, data},
		"GET /handler/nothing":         {404, data},
		"GET /sandbox/handler/nothing": {404, data},
	} {
		method, path, _ := strings.Cut(line, " ")
		a := visit(t, addr, method, path)
		if a.status != want.status || a.header.Get("Content-Type") != want.kind || a.header.Get("X-Request-Id") == "" {
			t.Errorf("%s: %d %v", line, a.status, a.header)
		}
		if want.kind == page && a.header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: no policy", line)
		}
		if length := a.header.Get("Content-Length"); method == "HEAD" && (len(a.body) > 0 || length == "0" || length == "") {
			t.Errorf("%s: %d bytes of %q", line, len(a.body), length)
		}
	}
	first := visit(t, addr, "GET", "/")
	if got := first.header.Get("Strict-Transport-Security"); got != "" {
		t.Errorf("over http it says %q", got)
	}
	if a := visit(t, addr, "GET", "/", "If-None-Match", first.header.Get("ETag")); a.status != 304 || len(a.body) > 0 {
		t.Errorf("a page that is known: %d", a.status)
	}
}

func TestACertificateIsVerifiedOnItsPage(t *testing.T) {
	c := newClassOn(t, common.get(t).Addr(), record{"author": "A & B"})
	lin := c.attendee("Lin <x>")
	addr := common.get(t).Addr()
	if a := visit(t, addr, "GET", "/verify/"+lin.id); a.status != 404 || !strings.Contains(string(a.body), "Not a valid certificate") || strings.Contains(string(a.body), "Lin") {
		t.Errorf("before it is complete: %d\n%s", a.status, a.body)
	}
	lin.post(c.path+"/complete", nil).want(200)
	a := visit(t, addr, "GET", "/verify/"+lin.id)
	for _, part := range []string{"<h1>Valid certificate</h1>", "Lin &lt;x&gt;", "A &amp; B", time.Now().UTC().Format("2006-01-02T")} {
		if a.status != 200 || !strings.Contains(string(a.body), part) {
			t.Errorf("%d, no %q in\n%s", a.status, part, a.body)
		}
	}
}

// TestAskingForCertificatesIsLimited, and pages are not.
func TestAskingForCertificatesIsLimited(t *testing.T) {
	cfg := testConfig(t)
	cfg.Limits.ReadsPerMinute = 2
	cfg.Server.PublicURL = "https://workshop.example.org"
	addr := startServer(t, cfg).Addr()
	for _, want := range []int{404, 404, 429} {
		if a := visit(t, addr, "GET", "/verify/"+unknownID); a.status != want {
			t.Errorf("status %d, want %d", a.status, want)
		}
	}
	a := visit(t, addr, "GET", "/")
	if a.status != 200 {
		t.Errorf("the start: %d", a.status)
	}
	if got := a.header.Get("Strict-Transport-Security"); got == "" {
		t.Errorf("behind a proxy that speaks TLS it says %q", got)
	}
}
