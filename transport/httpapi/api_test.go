package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"
)

// played is a call that a test defines.
type played struct {
	*Exchange
	admit, serve func(*Exchange) error
	ended        *[]string
}

func (c *played) Admit() error {
	if c.admit == nil {
		return nil
	}
	return c.admit(c.Exchange)
}
func (c *played) Serve() error { return c.serve(c.Exchange) }
func (c *played) Refuse(err error) Problem {
	p := Problem{Status: 500, Body: map[string]string{"error": "internal error"}, Unexpected: true, Hint: err}
	var own *Error
	if errors.As(err, &own) {
		p = Problem{Status: own.Status, Body: map[string]string{"error": own.Text}, Retry: own.Retry}
	}
	return p
}
func (c *played) End(time.Duration) { *c.ended = append(*c.ended, c.Operation()) }

// stage is an API on a listener in memory.
type stage struct {
	http.Client
	log   bytes.Buffer
	ended []string
}

// play serves endpoints, each with its call.
func play(t *testing.T, endpoints map[*Endpoint]played) *stage {
	t.Helper()
	s := &stage{}
	cfg := Config{
		Stray: func(r *Exchange) Call { return &played{Exchange: r, ended: &s.ended} },
		Drain: 1 << 20, Logger: slog.New(slog.NewTextHandler(&s.log, nil)), Now: time.Now,
	}
	add := func(e Endpoint, p played) {
		e.Begin = func(r *Exchange) Call { return &played{r, p.admit, p.serve, &s.ended} }
		cfg.Endpoints = append(cfg.Endpoints, e)
	}
	for e, p := range endpoints {
		add(*e, p)
	}
	a := New(cfg)
	l := fasthttputil.NewInmemoryListener()
	server := &fasthttp.Server{Handler: a.Handler, StreamRequestBody: true}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	s.Transport = &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return l.Dial() }}
	t.Cleanup(func() {
		s.CloseIdleConnections()
		if err := errors.Join(server.Shutdown(), <-done); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *stage) send(t *testing.T, method, path, kind, content string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, "http://test"+path, strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	resp, err := s.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(b)
}

func echo(r *Exchange) error {
	b, err := r.Body()
	if err != nil {
		return err
	}
	return r.JSON(map[string]string{"name": r.Param("name"), "query": r.Query("q"), "body": string(b)})
}

// endpoint returns an endpoint with a body of at most 10 bytes.
func endpoint(method, path string) *Endpoint {
	return &Endpoint{Method: method, Path: path, Name: method + " " + path, Body: 10}
}

func TestEveryResponseHasTheCommonHeaders(t *testing.T) {
	s := play(t, map[*Endpoint]played{
		endpoint("GET", "/good"):   {serve: func(r *Exchange) error { return r.NoContent() }},
		endpoint("GET", "/bad"):    {serve: func(*Exchange) error { return Refusal(409, "not now", 1500*time.Millisecond) }},
		endpoint("GET", "/broken"): {serve: func(*Exchange) error { return errors.New("a secret of the disk") }},
		endpoint("GET", "/panics"): {serve: func(*Exchange) error { panic("a secret of somebody") }},
		endpoint("GET", "/denied"): {admit: func(*Exchange) error { return Refusal(401, "login required", 0) }, serve: func(*Exchange) error { panic("was not admitted") }},
	})
	ids := map[string]bool{}
	for path, want := range map[string]string{
		"/good": "204 ", "/bad": `409 {"error":"not now"}`, "/broken": `500 {"error":"internal error"}`, "/panics": `500 {"error":"internal error"}`,
		"/denied": `401 {"error":"login required"}`, "/none": `404 {"error":"there is no such operation"}`,
	} {
		resp, text := s.send(t, "GET", path, "", "")
		h := resp.Header
		if got := resp.Status[:3] + " " + text; got != want {
			t.Errorf("%s returned %s, want %s", path, got, want)
		}
		if ids[h.Get("X-Request-Id")] || len(h.Get("X-Request-Id")) < 16 || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s has the headers %v", path, h)
		}
		ids[h.Get("X-Request-Id")] = true
		if path == "/bad" && h.Get("Retry-After") != "2" {
			t.Errorf("Retry-After is %q, want 2", h.Get("Retry-After"))
		}
	}
	if len(s.ended) != 6 || !slices.Contains(s.ended, "none") || !slices.Contains(s.ended, "GET /panics") {
		t.Errorf("the calls that ended are %q, want all six", s.ended)
	}
	if log := s.log.String(); strings.Contains(log, "of somebody") || !strings.Contains(log, "panic=string") || strings.Count(log, "level=ERROR") != 3 {
		t.Errorf("the log contains a secret or misses an error:\n%s", log)
	}
}

func TestMethodsAndPaths(t *testing.T) {
	s := play(t, map[*Endpoint]played{
		endpoint("POST", "/things/{name}/end"):                {serve: echo},
		endpoint("PUT", "/things/{name}/end"):                 {serve: echo},
		{Method: "GET", Path: "/file", Name: "file", Body: 1}: {serve: echo},
		endpoint("POST", "/{name}/new"):                       {serve: echo},
		endpoint("DELETE", "/{name}/{id}"):                    {serve: echo},
	})
	if resp, _ := s.send(t, "GET", "/things/a/end", "", ""); resp.StatusCode != 405 || resp.Header.Get("Allow") != "POST, PUT" && resp.Header.Get("Allow") != "PUT, POST" {
		t.Errorf("GET of a path with other methods returned %d, %v, want 405 with Allow", resp.StatusCode, resp.Header)
	}
	if resp, _ := s.send(t, "HEAD", "/file", "", ""); resp.StatusCode != 200 {
		t.Errorf("HEAD returned %s, want 200", resp.Status)
	}
	// A path with a parameter would match the fixed word as the parameter's value.
	for _, method := range []string{"DELETE", "PUT", "PATCH"} {
		if resp, _ := s.send(t, method, "/a/new", "", ""); resp.StatusCode != 405 || resp.Header.Get("Allow") != "POST" {
			t.Error(method, resp.Status, resp.Header.Get("Allow"))
		}
	}
	for sent, want := range map[string]string{
		"/things/plain/end?q=a%26b": `{"name":"plain","query":"a&b","body":"x"}`,
		"/things/a%2Fb%20c/end":     `{"name":"a/b c","query":"","body":"x"}`,
		"/things/a%2/end":           `{"error":"the path has an invalid percent-encoding"}`,
		"/things//end":              `{"error":"there is no such operation"}`,
	} {
		got := ""
		// The address is sent unchanged, even if it is badly escaped.
		raw := &http.Request{Method: "POST", URL: &url.URL{Scheme: "http", Host: "test", Opaque: sent}, Host: "test", Body: io.NopCloser(strings.NewReader("x")), ContentLength: 1}
		resp, err := s.Do(raw)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if got = string(b); !sameJSON(got, want) {
			t.Errorf("%s returned %s, want %s", sent, got, want)
		}
	}
}

func sameJSON(a, b string) bool {
	var x, y map[string]string
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && maps.Equal(x, y)
}

func TestBodiesHaveATypeAndALimit(t *testing.T) {
	s := play(t, map[*Endpoint]played{endpoint("POST", "/{name}"): {serve: echo}})
	for _, tc := range []struct {
		kind, content string
		status        int
	}{
		{"application/json", "1234567890", 200},
		{"APPLICATION/JSON; charset=utf-8", "{}", 200},
		{"", "{}", 200},
		{"", "", 200},
		{"text/plain", "{}", 415},
		{"application/json", "12345678901", 413},
		{"application/json", strings.Repeat("x", 300_000), 413},
	} {
		if resp, text := s.send(t, "POST", "/a", tc.kind, tc.content); resp.StatusCode != tc.status {
			t.Errorf("a body of the type %q with %d bytes: %s %s", tc.kind, len(tc.content), resp.Status, text)
		}
	}
}

// A client with Expect gets 100 only if its request can succeed.
func TestExpectIsDecidedFromTheHeader(t *testing.T) {
	served := 0
	e := endpoint("POST", "/{name}")
	upload := endpoint("POST", "/upload/{name}")
	upload.File = 100
	all := map[*Endpoint]played{}
	all[e] = played{
		admit: func(r *Exchange) error {
			if r.Param("name") == "closed" {
				return Refusal(403, "access denied", 0)
			}
			return nil
		},
		serve: func(*Exchange) error { served++; return nil },
	}
	all[upload] = played{serve: func(*Exchange) error { served++; return nil }}
	var ended []string
	cfg := Config{Stray: func(r *Exchange) Call { return &played{Exchange: r, ended: &ended} }, Drain: 1, Logger: slog.New(slog.DiscardHandler), Now: time.Now}
	for e, p := range all {
		e.Begin = func(r *Exchange) Call { return &played{r, p.admit, p.serve, &ended} }
		cfg.Endpoints = append(cfg.Endpoints, *e)
	}
	a := New(cfg)
	for _, tc := range []struct {
		path   string
		length int
		want   int
	}{{"/open", 10, 100}, {"/open", 11, 413}, {"/closed", 1, 403}, {"/no/such/path", 1, 404}, {"/upload/a", 100 + FormOverhead, 100}, {"/upload/a", 101 + FormOverhead, 413}} {
		ctx := &fasthttp.RequestCtx{}
		ctx.Request.Header.SetMethod("POST")
		ctx.Request.SetRequestURI(tc.path)
		ctx.Request.Header.SetContentLength(tc.length)
		if got := a.Expect(ctx); got != tc.want {
			t.Errorf("%s with %d bytes: Expect returned %d, want %d", tc.path, tc.length, got, tc.want)
		}
	}
	if served != 0 || len(ended) != 0 {
		t.Errorf("Expect served %d requests and ended %q, want none", served, ended)
	}
}

func TestUnchangedContentGets304(t *testing.T) {
	s := play(t, map[*Endpoint]played{endpoint("GET", "/a"): {serve: func(r *Exchange) error {
		if r.Fresh("v1", "private, no-cache") {
			return nil
		}
		return r.Answer([]byte(`"content"`))
	}}})
	for match, want := range map[string]int{"": 200, `"v1"`: 304, `W/"v1"`: 304, `"v0", "v1-gzip"`: 304, `"v0", "v1;br"`: 304, "*": 304, `"v2"`: 200, "v1": 200} {
		req, _ := http.NewRequest("GET", "http://test/a", nil)
		if match != "" {
			req.Header.Set("If-None-Match", match)
		}
		resp, err := s.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != want || resp.Header.Get("ETag") != `"v1"` || resp.Header.Get("Cache-Control") != "private, no-cache" || want == 304 && len(b) > 0 {
			t.Errorf("If-None-Match %q: status %d, %v, %q", match, resp.StatusCode, resp.Header, b)
		}
	}
}

// In a tag that is a hash, a suffix like "-br" does not mean a coding.
func TestATagThatEndsLikeACodingMatches(t *testing.T) {
	for _, tag := range []string{"q83vEjRWeJC7-br", "a-gzip", "gzip"} {
		for _, line := range []string{`"` + tag + `"`, `W/"` + tag + `"`, `"` + tag + `-gzip"`} {
			if !conditional("If-None-Match", line).NoneMatch(tag) {
				t.Errorf("%s does not match the tag %s", line, tag)
			}
		}
	}
	if conditional("If-None-Match", `"abr"`).NoneMatch("a") {
		t.Error("a suffix without a separator was removed from a tag")
	}
}

func conditional(header string, lines ...string) *Exchange {
	ctx := &fasthttp.RequestCtx{}
	for _, l := range lines {
		ctx.Request.Header.Add(header, l)
	}
	return Alone(ctx, Endpoint{})
}

func TestListsOfEntityTagsAreParsed(t *testing.T) {
	for _, tc := range []struct {
		lines []string
		want  []string
		star  bool
	}{
		{nil, nil, false},
		{[]string{`"a"`}, []string{"a"}, false},
		{[]string{`"a", W/"b,c" ,,"d"`, `"e"`}, []string{"a", "b,c", "d", "e"}, false},
		{[]string{"*"}, nil, true},
		{[]string{`"*"`}, []string{"*"}, false},
		{[]string{`a`}, nil, false},
		{[]string{`"a", b, "c"`}, []string{"a"}, false},
		{[]string{`"a`}, nil, false},
		{[]string{`"a-gzip", "b;br", "c--zstd", W/"d-deflate", "gzip"`}, []string{"a", "b", "c", "d", "gzip"}, false},
		{[]string{``}, nil, false},
	} {
		if tags, star := conditional("If-Match", tc.lines...).Tags("If-Match"); !slices.Equal(tags, tc.want) || star != tc.star {
			t.Errorf("Tags(%q) = %q, %v", tc.lines, tags, star)
		}
	}
}

// A detached response begins only once. If it fails later, the client can detect that the response
// is incomplete.
func TestDetachedResponsesBeginOnce(t *testing.T) {
	began := make(chan int, 10)
	refuse := func(err error) Problem {
		return Problem{Status: 503, Body: map[string]string{"error": err.Error()}}
	}
	serve := func(work func(d *Detached)) func(*Exchange) error {
		return func(r *Exchange) error {
			r.Detach(refuse, func(status int) { began <- status }, work)
			return nil
		}
	}
	s := play(t, map[*Endpoint]played{
		endpoint("GET", "/stream"): {serve: serve(func(d *Detached) {
			for _, p := range []string{"data: 1\n\n", "data: 2\n\n"} {
				if err := d.Send([]byte(p)); err != nil {
					t.Error(err)
				}
			}
			if d.Fail(errors.New("too late")) == nil {
				t.Error("a response that has begun was replaced by an error")
			}
			d.End()
		})},
		endpoint("GET", "/fails"): {serve: serve(func(d *Detached) { _ = d.Fail(errors.New("nobody is there")) })},
		endpoint("GET", "/cut"):   {serve: serve(func(d *Detached) { _ = d.Send([]byte("data: 1\n\n")) })},
	})
	resp, text := s.send(t, "GET", "/stream", "", "")
	if resp.StatusCode != 200 || text != "data: 1\n\ndata: 2\n\n" || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("X-Request-Id") == "" {
		t.Errorf("the stream returned %s, %v, %q", resp.Status, resp.Header, text)
	}
	if resp, text = s.send(t, "GET", "/fails", "", ""); resp.StatusCode != 503 || text != `{"error":"nobody is there"}` {
		t.Errorf("a stream that fails at its start returned %s, %s, want 503", resp.Status, text)
	}
	if a, b := <-began, <-began; a != 200 || b != 503 {
		t.Errorf("the statuses are %d and %d, want 200 and 503", a, b)
	}
	cut, err := s.Get("http://test/cut")
	if err != nil {
		t.Fatal(err)
	}
	defer cut.Body.Close()
	if _, err := io.ReadAll(cut.Body); err == nil {
		t.Error("a broken response looks complete")
	}
	if len(s.ended) != 0 {
		t.Errorf("the API ended the calls %q, want no call, because all were detached", s.ended)
	}
}
