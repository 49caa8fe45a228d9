package web

import (
	"bufio"
	"errors"
	"io"
	"log"
	"net"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/transport/httpapi"
	"atelier/transport/wire"
)

const indexHTML = `<!doctype html><html lang="en"><head><title>Atelier</title><script type="module" src="/assets/index-DiwrgTda.js"></script></head>` +
	`<body><!--app:noscript--><div id="app"></div></body></html>`

var script = []byte(strings.Repeat("console.log('hello');", 100))

var coded = func() []byte {
	b, err := wire.Brotli.Compress(script)
	if err != nil {
		panic(err) // writes to memory cannot fail
	}
	return b
}()

func build() fstest.MapFS {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	return fstest.MapFS{
		"index.html":                       file(indexHTML),
		"favicon.svg":                      file("<svg/>"),
		"manifest.webmanifest":             file("{}"),
		".gitignore":                       file("*"),
		".vite/manifest.json":              file("{}"),
		"assets/index-DiwrgTda.js.br":      {Data: coded},
		"diagram.html":                     file("<!doctype html><title>Diagram</title>"),
		"assets/diagram/frame-AbCdEfGh.js": file("draw()"),
		"assets/older-DiwrgTdb.js":         file("x"),
		"assets/older-DiwrgTdb.js.br":      file("of an older build"),
		"assets/broken-DiwrgTde.js.br":     file("no Brotli"),
		"assets/a/deep-_-wrgTdb.css":       file("a{}"),
		"assets/face-DiwrgTdc.woff2":       file("font"),
		"assets/plain.js":                  file("x"),
		"assets/alone.js.gz":               file("alone"),
		"assets/first-de-DiwrgTdd.js":      file("export default []"),
		"odd.xyz":                          file("?"),
	}
}

var completed = time.Date(2026, 3, 9, 12, 30, 0, 0, time.UTC)

func certificates(id string) (Certificate, bool, error) {
	switch id {
	case "known":
		return Certificate{Attendee: "<b>Attendee</b> & 7", Codelab: `"Go" <script>alert(1)</script>`, Author: "A", CompletedAt: completed}, true, nil
	case "broken":
		return Certificate{}, false, errors.New("the disk")
	}
	return Certificate{}, false, nil
}

func handler(t testing.TB, change func(*Config)) *Handler {
	t.Helper()
	cfg := Config{Build: build(), Certificate: certificates}
	if change != nil {
		change(&cfg)
	}
	w, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func without(t testing.TB) *Handler {
	return handler(t, func(c *Config) { c.Build = fstest.MapFS{".gitignore": &fstest.MapFile{}} })
}

// answerTo returns the response to a request as it is sent over the wire.
func answerTo(t testing.TB, w *Handler, line string, headers ...string) *fasthttp.Response {
	t.Helper()
	var ctx fasthttp.RequestCtx
	ctx.Init(&fasthttp.Request{}, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, log.New(io.Discard, "", 0))
	sent := line + " HTTP/1.1\r\nHost: h\r\n" + strings.Join(append(headers, "\r\n"), "\r\n")
	if err := ctx.Request.Read(bufio.NewReaderSize(strings.NewReader(sent), 64<<10)); err != nil {
		t.Fatalf("%.60q: %v", line, err)
	}
	w.Handle(&ctx)
	return &ctx.Response
}

func header(r *fasthttp.Response, name string) string { return string(r.Header.Peek(name)) }

func TestEveryAddressOfTheApp(t *testing.T) {
	w := handler(t, nil)
	for path, title := range map[string]string{
		"/":                            "Atelier",
		"/login":                       "Sign in · Atelier",
		"/j/ABC123":                    "Join · Atelier",
		"/codelabs/0193-ab":            "Codelab · Atelier",
		"/admin":                       "Codelabs · Atelier",
		"/admin/0193-ab":               "Live · Atelier",
		"/admin/0193-ab/edit":          "Edit · Atelier",
		"/admin/0193-ab/results":       "Results · Atelier",
		"/admin/0193-ab/settings":      "Settings · Atelier",
		"/admin/0193-ab/settings/quiz": "Settings · Atelier",
		"/admin/0193-ab/projector":     "Projector · Atelier",
		"/admin/0193-ab/a/b":           "Codelab · Atelier",
		"/admin/audit-logs":            "Audit log · Atelier",
		"/admin/participants":          "Participants · Atelier",
		"/admin/settings":              "Settings · Atelier",
		"/certificate/0193-ab":         "Certificate · Atelier",
		"/login?next=%2fadmin":         "Sign in · Atelier",
	} {
		r := answerTo(t, w, "GET "+path)
		body := string(r.Body())
		if r.StatusCode() != 200 || !strings.Contains(body, "<title>"+title+"</title>") || !strings.Contains(body, `<div id="app">`) {
			t.Errorf("%s: status %d, the page\n%s", path, r.StatusCode(), body)
		}
		if !strings.Contains(body, "<noscript><main><h1>This page needs JavaScript") {
			t.Errorf("%s has no text for browsers without JavaScript:\n%s", path, body)
		}
		if header(r, "Cache-Control") != "no-cache" || header(r, "Content-Type") != "text/html; charset=utf-8" || header(r, "X-Request-Id") == "" {
			t.Errorf("%s: the headers are\n%s", path, r.Header.String())
		}
	}
}

func TestOtherAddressesGetTheAppWith404(t *testing.T) {
	long := strings.Repeat("a", 20000)
	for _, w := range []*Handler{handler(t, nil), without(t)} {
		for _, path := range []string{
			"/nothing", "/login/", "/login/x", "//", "//login", "/j", "/j/", "/j/a/b", "/codelabs", "/codelabs/", "/admin/", "/admin//edit", "/admin/x/",
			"/admin/x//", "/admin/x/a/", "/verify", "/verify/", "/verify/x/y", "/index.html", "/index.html.br", "/.gitignore", "/.vite/manifest.json",
			// These paths are hostile.
			"/..", "/../", "/codelabs/..", "/codelabs/.", "/codelabs/%2e%2e", "/admin/../login", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc%2fpasswd",
			"/codelabs/..%5c..%5cx", "/codelabs/%00", "/codelabs/a%00b", "/verify/%3Cscript%3E", "/%6cogin", "/assets%2findex-DiwrgTda.js",
			"/" + long, "/codelabs/" + long, "/admin/x" + strings.Repeat("/x", 5000) + "/",
			"/codelabs/" + strings.Repeat("a", longestValue+1), "/%", "/%zz", "/\\..\\x", "/a;b", "/built/index.html",
		} {
			r := answerTo(t, w, "GET "+path)
			if r.StatusCode() != 404 || !strings.Contains(string(r.Body()), "<title>Not found · Atelier</title>") {
				t.Errorf("%.60q: status %d, the page %.200s", path, r.StatusCode(), r.Body())
			}
			if header(r, "ETag") != "" || header(r, "Content-Security-Policy") == "" {
				t.Errorf("%.60q: the headers are\n%s", path, r.Header.String())
			}
		}
		// A condition applies only if the response would be a success without the condition.
		if r := answerTo(t, w, "GET /nothing", "If-None-Match: *"); r.StatusCode() != 404 {
			t.Errorf("with a condition, the status is %d, want 404", r.StatusCode())
		}
	}
}

func TestOtherMethodsAreRefused(t *testing.T) {
	w := handler(t, nil)
	for line, want := range map[string]int{
		"POST /": 405, "PUT /login": 405, "DELETE /favicon.svg": 405, "OPTIONS /codelabs/x": 405, "POST /verify/known": 405, "POST /nothing": 404, "HEAD /": 200, "HEAD /nothing": 404,
	} {
		r := answerTo(t, w, line)
		if r.StatusCode() != want {
			t.Errorf("%s: status %d, want %d", line, r.StatusCode(), want)
		}
		if want == 405 && (header(r, "Allow") != "GET, HEAD" || header(r, "Content-Type") != "application/json" ||
			string(r.Body()) != `{"error":"this method is not allowed here"}`) {
			t.Errorf("%s: the response is\n%s%s", line, r.Header.String(), r.Body())
		}
	}
}

func TestFilesOfTheBuildAreServed(t *testing.T) {
	w := handler(t, nil)
	for path, want := range map[string][2]string{
		"/assets/index-DiwrgTda.js":   {"text/javascript; charset=utf-8", forever},
		"/assets/a/deep-_-wrgTdb.css": {"text/css; charset=utf-8", forever},
		"/assets/face-DiwrgTdc.woff2": {"font/woff2", forever},
		"/assets/plain.js":            {"text/javascript; charset=utf-8", ask},
		"/assets/alone.js.gz":         {"application/octet-stream", ask},
		"/favicon.svg":                {"image/svg+xml", ask},
		"/manifest.webmanifest":       {"application/manifest+json", ask},
		"/odd.xyz":                    {"application/octet-stream", ask},
	} {
		r := answerTo(t, w, "GET "+path)
		if r.StatusCode() != 200 || header(r, "Content-Type") != want[0] || header(r, "Cache-Control") != want[1] || header(r, "ETag") == "" {
			t.Errorf("%s: status %d, the headers are\n%s", path, r.StatusCode(), r.Header.String())
		}
	}
	for _, path := range []string{"/assets/", "/assets/gone-DiwrgTda.js", "/assets/index-DiwrgTda.js.br", "/assets/../favicon.svg", "/assets/%2e%2e/favicon.svg"} {
		r := answerTo(t, w, "GET "+path)
		if r.StatusCode() != 404 || header(r, "Content-Type") != "text/plain; charset=utf-8" || header(r, "Cache-Control") != "no-store" ||
			header(r, "X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: status %d, the headers are\n%s", path, r.StatusCode(), r.Header.String())
		}
	}
}

func TestTheBestAcceptedCodingIsSent(t *testing.T) {
	w := handler(t, nil)
	const path = "GET /assets/index-DiwrgTda.js"
	for accept, want := range map[string]string{
		"":                              "",
		"gzip, deflate, br, zstd":       "br",
		"gzip, deflate":                 "gzip",
		"br;q=0.5, gzip;q=0.9":          "gzip",
		"br;q=0, gzip":                  "gzip",
		"br;q=0, *":                     "gzip",
		"*":                             "br",
		"*;q=0.1":                       "br",
		"*;q=0":                         "",
		"identity":                      "",
		"identity, gzip;q=0.5":          "",
		"identity;q=0.2, gzip;q=0.5":    "gzip",
		"identity;q=0":                  "",
		"gzip;q=0, br;q=0, identity":    "",
		"GZIP":                          "gzip",
		"x-gzip":                        "gzip",
		"BR ; Q=1.000 , gzip ; q=0.999": "br",
		"br;q=2, gzip":                  "gzip",
		"br;q=nan, gzip;q=0.1":          "gzip",
		"br;q=, gzip;q=0.1":             "gzip",
		"zstd":                          "",
		",;,;q=1,":                      "",
	} {
		r := answerTo(t, w, path, "Accept-Encoding: "+accept)
		body, err := r.Body(), error(nil)
		switch want {
		case "br":
			body, err = r.BodyUnbrotli()
		case "gzip":
			body, err = r.BodyGunzip()
		}
		if err != nil || header(r, "Content-Encoding") != want || string(body) != string(script) || header(r, "Vary") != "Accept-Encoding" {
			t.Errorf("Accept-Encoding %q: %v, the headers are\n%s", accept, err, r.Header.String())
		}
	}
	// An uncompressed file is served unchanged.
	r := answerTo(t, w, "GET /assets/older-DiwrgTdb.js", "Accept-Encoding: br")
	if header(r, "Content-Encoding") != "" || header(r, "Vary") != "" || string(r.Body()) != "x" {
		t.Errorf("the headers of an uncompressed file are\n%s", r.Header.String())
	}
	// An unreadable file is neither sent nor cached.
	r = answerTo(t, w, "GET /assets/broken-DiwrgTde.js", "Accept-Encoding: gzip")
	if r.StatusCode() != 500 || header(r, "Cache-Control") != never || header(r, "Content-Encoding") != "" {
		t.Errorf("the response for an unreadable file has the status %d and the headers\n%s", r.StatusCode(), r.Header.String())
	}
}

func TestPagesAreCompressed(t *testing.T) {
	b := build()
	b["index.html"] = &fstest.MapFile{Data: []byte(strings.Replace(indexHTML, "<div", strings.Repeat("<!-- long -->", 100)+"<div", 1))}
	w := handler(t, func(c *Config) { c.Build = b })
	plain := answerTo(t, w, "GET /login")
	r := answerTo(t, w, "GET /login", "Accept-Encoding: gzip, deflate, br")
	body, err := r.BodyGunzip()
	if err != nil || string(body) != string(plain.Body()) || len(r.Body()) >= len(body) || header(r, "Content-Encoding") != "gzip" || header(r, "Vary") == "" {
		t.Errorf("decompressing the page: %v; the headers are\n%s", err, r.Header.String())
	}
}

func TestDifferentCodingsAndContentsHaveDifferentTags(t *testing.T) {
	w := handler(t, nil)
	const path = "GET /assets/index-DiwrgTda.js"
	seen := map[string]string{}
	for _, accept := range []string{"identity", "gzip", "br"} {
		tag := header(answerTo(t, w, path, "Accept-Encoding: "+accept), "ETag")
		if other, ok := seen[tag]; ok || len(tag) < 10 {
			t.Errorf("%s and %s have the tag %s", accept, other, tag)
		}
		seen[tag] = accept
		for _, list := range []string{tag, "W/" + tag, `"x", ` + tag, `"x",W/` + tag + `,"y"`, "*"} {
			r := answerTo(t, w, path, "Accept-Encoding: "+accept, "If-None-Match: "+list)
			if r.StatusCode() != 304 || len(r.Body()) != 0 || header(r, "ETag") != tag || header(r, "Cache-Control") != forever || header(r, "Vary") == "" {
				t.Errorf("%s, If-None-Match %s: status %d, the headers are\n%s", accept, list, r.StatusCode(), r.Header.String())
			}
		}
		for _, list := range []string{`"x"`, strings.Trim(tag, `"`), tag[:len(tag)-2] + `"`, ""} {
			if r := answerTo(t, w, path, "Accept-Encoding: "+accept, "If-None-Match: "+list); r.StatusCode() != 200 {
				t.Errorf("%s, If-None-Match %s: status %d, want 200", accept, list, r.StatusCode())
			}
		}
	}
	// The entity tag of one coding does not match another.
	gzipped := header(answerTo(t, w, path, "Accept-Encoding: gzip"), "ETag")
	if r := answerTo(t, w, path, "Accept-Encoding: br", "If-None-Match: "+gzipped); r.StatusCode() != 200 {
		t.Errorf("with the tag of another coding, the status is %d, want 200", r.StatusCode())
	}
	if a, b := header(answerTo(t, w, "GET /"), "ETag"), header(answerTo(t, w, "GET /login"), "ETag"); a == b || a == "" {
		t.Errorf("the pages have the tags %q and %q, want two different tags", a, b)
	}
	tag := header(answerTo(t, w, "GET /"), "ETag")
	if r := answerTo(t, w, "GET /", "If-None-Match: "+tag); r.StatusCode() != 304 {
		t.Errorf("with the tag of the page, the status is %d, want 304", r.StatusCode())
	}
	changed := build()
	changed["index.html"] = &fstest.MapFile{Data: []byte(indexHTML + " ")}
	if other := header(answerTo(t, handler(t, func(c *Config) { c.Build = changed }), "GET /"), "ETag"); other == tag {
		t.Error("a page of another build has the same tag")
	}
}

// The policy permits only features that the app uses, and only for itself.
func TestThePolicyPermitsOnlyFeaturesOfTheApp(t *testing.T) {
	for _, feature := range strings.Split(permissions, ", ") {
		name, allowed, _ := strings.Cut(feature, "=")
		want := "()"
		switch name {
		case "display-capture", "clipboard-write", "fullscreen", "screen-wake-lock":
			want = "(self)"
		}
		if allowed != want {
			t.Errorf("%s is %s, want %s", name, allowed, want)
		}
	}
	for _, used := range []string{"display-capture", "fullscreen", "screen-wake-lock"} {
		if !strings.Contains(permissions, used+"=(self)") {
			t.Errorf("the policy does not permit %s, which the app uses", used)
		}
	}
}

func TestEveryResponseHasSecurityHeaders(t *testing.T) {
	for name, w := range map[string]*Handler{"with": handler(t, nil), "without": without(t)} {
		for _, line := range []string{"GET /", "GET /nothing", "GET /assets/index-DiwrgTda.js", "GET /assets/gone.js", "GET /favicon.svg", "GET /verify/known", "GET /verify/x", "POST /"} {
			r := answerTo(t, w, line)
			for h, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "X-Frame-Options": "DENY",
				"Permissions-Policy": permissions, "Strict-Transport-Security": "",
			} {
				if got := header(r, h); got != want {
					t.Errorf("%s the app, %s: %s is %q, want %q", name, line, h, got, want)
				}
			}
			csp := header(r, "Content-Security-Policy")
			for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"} {
				if !strings.Contains(csp, part) {
					t.Errorf("%s the app, %s: the policy lacks %s: %q", name, line, part, csp)
				}
			}
			if strings.Contains(csp, "unsafe") {
				t.Errorf("%s the app, %s: the policy permits unsafe content: %q", name, line, csp)
			}
		}
	}
	r := answerTo(t, handler(t, func(c *Config) { c.HTTPS = true }), "GET /")
	if got := header(r, "Strict-Transport-Security"); got != "max-age=31536000" {
		t.Errorf("over https, Strict-Transport-Security is %q", got)
	}
	embedding := handler(t, func(c *Config) { c.Embed = []string{"player.example.org", "*.example.com"} })
	for _, line := range []string{"GET /codelabs/1", "GET /assets/index-DiwrgTda.js", "GET /nothing"} {
		if got := header(answerTo(t, embedding, line), "Content-Security-Policy"); !strings.Contains(got, "; frame-src 'self' https://player.example.org https://*.example.com; ") {
			t.Errorf("%s: with hosts to embed, the policy is %q", line, got)
		}
	}
	if got := header(r, "Content-Security-Policy"); got != "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: data: blob:; "+
		"media-src 'self' blob:; font-src 'self'; worker-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; "+
		"frame-ancestors 'none'; manifest-src 'self'" {
		t.Errorf("the policy is %q", got)
	}
}

// The frame draws diagrams from authors' texts, which can be hostile. It therefore has no access to
// the app.
func TestTheFrameOfDiagramsHasItsOwnPolicy(t *testing.T) {
	w := handler(t, nil)
	r := answerTo(t, w, "GET /diagram.html")
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; " +
			"frame-ancestors 'self'; sandbox allow-scripts",
		"X-Frame-Options": "SAMEORIGIN", "X-Content-Type-Options": "nosniff", "Permissions-Policy": permissions,
		"Access-Control-Allow-Origin": "", "Cache-Control": "no-cache",
	} {
		if got := header(r, name); r.StatusCode() != 200 || got != want {
			t.Errorf("status %d, %s is %q, want %q", r.StatusCode(), name, got, want)
		}
	}
	// The frame has no origin, so it loads its scripts across origins.
	for path, want := range map[string][2]string{"/assets/diagram/frame-AbCdEfGh.js": {"*", "DENY"}, "/assets/index-DiwrgTda.js": {"", "DENY"}} {
		r := answerTo(t, w, "GET "+path, "Origin: null")
		if got := [2]string{header(r, "Access-Control-Allow-Origin"), header(r, "X-Frame-Options")}; got != want || header(r, "Content-Security-Policy") != policyWith(nil, nil) {
			t.Errorf("%s: the headers are %q, want %q", path, got, want)
		}
	}
}

func TestACertificateIsVerifiedWithoutJavaScript(t *testing.T) {
	for name, w := range map[string]*Handler{"with": handler(t, nil), "without": without(t)} {
		r := answerTo(t, w, "GET /verify/known")
		body := string(r.Body())
		if r.StatusCode() != 200 {
			t.Errorf("%s the app: status %d", name, r.StatusCode())
		}
		for _, part := range []string{
			"<title>Valid certificate · Atelier</title>", "<h1>Valid certificate</h1>", "&lt;b&gt;Attendee&lt;/b&gt; &amp; 7",
			"&#34;Go&#34; &lt;script&gt;alert(1)&lt;/script&gt;", `<dd dir="auto">A</dd>`, `<time datetime="2026-03-09T12:30:00Z">9 March 2026</time>`, "<code>known</code>",
		} {
			if !strings.Contains(body, part) {
				t.Errorf("%s the app, the page lacks %s:\n%s", name, part, body)
			}
		}
		if name == "with" && (!strings.Contains(body, "<noscript><main>") || !strings.Contains(body, `<div id="app">`)) {
			t.Errorf("the page does not contain the app:\n%s", body)
		}
		if name == "without" && strings.Contains(body, "noscript") {
			t.Errorf("the page of a server without the app hides its text from browsers with JavaScript:\n%s", body)
		}
		if tag := header(r, "ETag"); answerTo(t, w, "GET /verify/known", "If-None-Match: "+tag).StatusCode() != 304 {
			t.Errorf("%s the app, the tag %s does not match", name, tag)
		}
		for id, want := range map[string]struct {
			status int
			text   string
		}{"other": {404, "<h1>Not a valid certificate</h1>"}, "broken": {503, "cannot be checked now"}} {
			r := answerTo(t, w, "GET /verify/"+id)
			body := string(r.Body())
			if r.StatusCode() != want.status || !strings.Contains(body, want.text) || header(r, "ETag") != "" || strings.Contains(body, "<h1>Valid") {
				t.Errorf("%s the app, certificate %s: status %d, the page\n%s", name, id, r.StatusCode(), body)
			}
		}
	}
	busy := handler(t, func(c *Config) { c.Wait = func(*fasthttp.RequestCtx) time.Duration { return 1500 * time.Millisecond } })
	if r := answerTo(t, busy, "GET /verify/known"); r.StatusCode() != 429 || header(r, "Retry-After") != "2" || strings.Contains(string(r.Body()), "Attendee") {
		t.Errorf("above the limit the status is %d, the headers are\n%s", r.StatusCode(), r.Header.String())
	}
	if r := answerTo(t, busy, "GET /"); r.StatusCode() != 200 {
		t.Errorf("the limit of certificates also limits the start page: status %d", r.StatusCode())
	}
}

func TestAServerWithoutTheAppExplainsHowToBuildIt(t *testing.T) {
	w := without(t)
	if w.App() || !handler(t, nil).App() {
		t.Error("App does not return whether the build contains the app")
	}
	for _, path := range []string{"/", "/login", "/admin/x/edit"} {
		r := answerTo(t, w, "GET "+path)
		for _, part := range []string{"make build", "Node 20.19 or newer", `href="/api/openapi.json"`, `href="/api/asyncapi.json"`, "prefers-color-scheme: dark"} {
			if r.StatusCode() != 200 || !strings.Contains(string(r.Body()), part) {
				t.Errorf("%s: status %d, the page lacks %q:\n%s", path, r.StatusCode(), part, r.Body())
			}
		}
		if strings.Contains(string(r.Body()), "<noscript>") {
			t.Errorf("%s hides its text from browsers with JavaScript", path)
		}
	}
}

func TestPagesAreInTheRequestedLanguage(t *testing.T) {
	w := handler(t, nil)
	for _, c := range []struct {
		line, accept string
		parts        []string
	}{
		{"GET /login", "de-AT,de;q=0.9,en;q=0.5", []string{
			`<html lang="de" dir="ltr">`, "<title>Anmelden · Atelier</title>", "<h1>Diese Seite braucht JavaScript</h1>",
			`<link rel="modulepreload" crossorigin href="/assets/first-de-DiwrgTdd.js">`,
		}},
		{"GET /login", "xx, en;q=0.1", []string{`<html lang="en" dir="ltr">`, "<title>Sign in · Atelier</title><script"}},
		{"GET /nothing", "de", []string{"<title>Nicht gefunden · Atelier</title>"}},
		{"GET /verify/known", "de", []string{"<h1>Gültiges Zertifikat</h1>", ">9. März 2026</time>"}},
		{"GET /verify/<i>", "de", []string{"<title>Nicht gefunden"}},
		{"GET /verify/none", "de", []string{"kein Zertifikat mit der Nummer <code>none</code>."}},
		{"GET /verify/broken", "de", []string{"gerade nicht prüfen"}},
		{"GET /login", strings.Repeat("de,", 1000), []string{`<html lang="en"`}},
		{"GET /login", "\xff;;q=,", []string{`<html lang="en"`}},
	} {
		r := answerTo(t, w, c.line, "Accept-Language: "+c.accept)
		for _, part := range c.parts {
			if !strings.Contains(string(r.Body()), part) {
				t.Errorf("%s with Accept-Language %.40q: the page lacks %s:\n%s", c.line, c.accept, part, r.Body())
			}
		}
		if got := header(r, "Vary"); got != "Accept-Language, Accept-Encoding" {
			t.Errorf("%s: Vary is %q", c.line, got)
		}
	}
	german := header(answerTo(t, w, "GET /login", "Accept-Language: de"), "ETag")
	if r := answerTo(t, w, "GET /login", "Accept-Language: en", "If-None-Match: "+german); r.StatusCode() != 200 {
		t.Errorf("the English page with the tag of the German page has the status %d, want 200", r.StatusCode())
	}
}

func TestTheNameOfTheAppComesFromThePage(t *testing.T) {
	b := build()
	b["index.html"] = &fstest.MapFile{Data: []byte(strings.Replace(indexHTML, "<title>Atelier<", "<title>\n Black &amp; White <", 1))}
	r := answerTo(t, handler(t, func(c *Config) { c.Build = b }), "GET /login")
	if !strings.Contains(string(r.Body()), "<title>Sign in · Black &amp; White</title>") {
		t.Errorf("the page is\n%s", r.Body())
	}
}

func TestInvalidBuildsAreRefused(t *testing.T) {
	for name, page := range map[string]string{
		"no title":    strings.Replace(indexHTML, "<title>Atelier</title>", "", 1),
		"no language": strings.Replace(indexHTML, ` lang="en"`, "", 1),
		"no mark":     strings.Replace(indexHTML, mark, "", 1),
		"two marks":   indexHTML + mark,
		"wrong order": mark + strings.Replace(indexHTML, mark, "", 1),
	} {
		b := build()
		b["index.html"] = &fstest.MapFile{Data: []byte(page)}
		if _, err := New(Config{Build: b, Certificate: certificates}); err == nil || !strings.Contains(err.Error(), "index.html") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The most recent build can be served in every coding.
func TestTheEmbeddedBuildCanBeServed(t *testing.T) {
	w, err := New(Config{Build: Built(), Certificate: certificates})
	if err != nil {
		t.Fatal(err)
	}
	for path, e := range w.files {
		for c := wire.Identity; c < wire.Count; c++ {
			if v, err := e.variant(c); err != nil || e.has(c) && len(v.body) == 0 {
				t.Errorf("%s as %s: %d bytes, %v", path, c, len(v.body), err)
			}
		}
	}
}

func FuzzPath(f *testing.F) {
	for _, path := range []string{"", "login", "j/x", "admin/x/edit", "..%2f", "assets/plain.js", "verify/known", "admin//"} {
		f.Add(path)
	}
	w := handler(f, nil)
	f.Fuzz(func(t *testing.T, path string) {
		var ctx fasthttp.RequestCtx
		req := &fasthttp.Request{}
		// A path on the wire contains no space and no line break.
		if strings.ContainsAny(path, " \r\n\t\v\f") {
			t.Skip()
		}
		req.SetRequestURI("/" + path)
		ctx.Init(req, nil, nil)
		w.Handle(&ctx)
		if s := ctx.Response.StatusCode(); s != 200 && s != 404 && s != 503 {
			t.Fatalf("%q: status %d", path, s)
		}
	})
}

func BenchmarkPage(b *testing.B)  { benchmark(b, "/admin/0193a7b2-1111-7000-8000-000000000000/edit") }
func BenchmarkAsset(b *testing.B) { benchmark(b, "/assets/index-DiwrgTda.js") }

// BenchmarkUnchanged measures requests for a file that is in the browser's cache. The browser sends
// the file's tag.
func BenchmarkUnchanged(b *testing.B) {
	tag := header(answerTo(b, handler(b, nil), "GET /assets/index-DiwrgTda.js", "Accept-Encoding: br"), "ETag")
	benchmark(b, "/assets/index-DiwrgTda.js", "If-None-Match", tag)
}

func benchmark(b *testing.B, path string, header ...string) {
	w := handler(b, nil)
	var ctx fasthttp.RequestCtx
	req := &fasthttp.Request{}
	req.SetRequestURI(path)
	req.Header.Set("Accept-Encoding", "gzip, deflate, br, zstd")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	ctx.Init(req, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, log.New(io.Discard, "", 0))
	b.ReportAllocs()
	for b.Loop() {
		ctx.Response.Reset()
		w.Handle(&ctx)
	}
}

// Only attendees' pages can be shown in frames, and only by the configured origins.
func TestPagesOfAttendeesCanBeShownInFrames(t *testing.T) {
	const origins = "https://learn.example.org https://other.example.com"
	w := handler(t, func(c *Config) { c.FrameAncestors = strings.Fields(origins) })
	for line, framed := range map[string]bool{
		"GET /": true, "GET /j/ABC234": true, "GET /codelabs/1": true, "GET /codelabs/1/all": true, "GET /certificate/1": true, "GET /verify/known": true,
		"GET /admin": false, "GET /admin/1": false, "GET /admin/1/projector": false, "GET /admin/settings": false, "GET /login": false, "GET /invite": false,
		"GET /account": false, "GET /nothing": false, "GET /assets/index-DiwrgTda.js": false, "POST /": false,
	} {
		r := answerTo(t, w, line)
		policy, options := "frame-ancestors 'none'", "DENY"
		if framed {
			policy, options = "frame-ancestors "+origins, ""
		}
		if got := header(r, "X-Frame-Options"); got != options {
			t.Errorf("%s: X-Frame-Options is %q, want %q", line, got, options)
		}
		if want := strings.Replace(policyWith(nil, nil), "frame-ancestors 'none'", policy, 1); header(r, "Content-Security-Policy") != want {
			t.Errorf("%s: the policy is %s", line, header(r, "Content-Security-Policy"))
		}
	}
	if got := header(answerTo(t, w, "GET /diagram.html"), "X-Frame-Options"); got != "SAMEORIGIN" {
		t.Errorf("for the frame of diagrams, X-Frame-Options is %q", got)
	}
}

// The page is served at many addresses, so it names its files by absolute paths. These begin with
// the prefix at which browsers reach the server.
func TestThePageNamesItsFilesBelowThePrefix(t *testing.T) {
	files := build()
	files["index.html"] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(indexHTML, `="/`, `="./`))}
	for prefix, want := range map[httpapi.Prefix]string{"": `src="/assets/`, "/lab": `src="/lab/assets/`} {
		body := string(answerTo(t, handler(t, func(c *Config) { c.Build, c.Prefix = files, prefix }), "GET /codelabs/1").Body())
		if !strings.Contains(body, want) || strings.Contains(body, `"./`) || prefix != "" && strings.Contains(body, `="/assets`) {
			t.Errorf("with the prefix %q, the page is\n%s", prefix, body)
		}
	}
	plain := string(answerTo(t, handler(t, func(c *Config) { c.Build, c.Prefix = fstest.MapFS{}, "/lab" }), "GET /").Body())
	if !strings.Contains(plain, `href="/lab/api/openapi.json"`) {
		t.Errorf("without the app, the page is\n%s", plain)
	}
}
