package acceptance

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"atelier/transport/auth"
)

// browser is a client with cookies and the CSRF token. It verifies every response against the
// OpenAPI document.
type browser struct {
	t    testing.TB
	base string // scheme and host
	http *http.Client
	// token is sent as a bearer token if set.
	token string
	// from, if set, is the client address that a proxy forwards.
	from string
	// stays means that every request goes to the same node.
	stays bool
}

// open returns a browser without a session.
func open(t testing.TB, addr string) *browser {
	t.Helper()
	return openWith(t, "http://"+addr, nil)
}

func openWith(t testing.TB, base string, secure *tls.Config) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: secure, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &browser{t: t, base: base, http: &http.Client{
		Jar: jar, Transport: transport, Timeout: testTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// answer is a response from the server.
type answer struct {
	t      testing.TB
	what   string
	status int
	header http.Header
	body   []byte
}

// option changes a request before it is sent.
type option func(*http.Request)

func header(name, value string) option {
	return func(r *http.Request) {
		if value == "" {
			r.Header.Del(name)
			return
		}
		r.Header.Set(name, value)
	}
}

// withoutCSRF removes the CSRF token, so that the request is like one from a foreign page.
var withoutCSRF = header(auth.CSRFHeader, "")

// send sends a request. It sends a body of bytes or text unchanged, and encodes any other body as
// JSON. The path is relative to /api, or the complete path from an earlier response.
func (b *browser) send(method, path string, body any, opts ...option) answer {
	b.t.Helper()
	got, err := b.try(method, path, body, opts...)
	if err != nil {
		b.t.Fatalf("%s %s: %v", method, path, err)
	}
	return got
}

// try sends a request like send, to a server that might not be running.
func (b *browser) try(method, path string, body any, opts ...option) (answer, error) {
	b.t.Helper()
	var raw []byte
	switch v := body.(type) {
	case nil:
	case []byte:
		raw = v
	case string:
		raw = []byte(v)
	default:
		var err error
		if raw, err = json.Marshal(v); err != nil {
			b.t.Fatal(err)
		}
	}
	root := "/api"
	if strings.HasPrefix(path, "/uploads/") || strings.HasPrefix(path, "/git/") || strings.HasPrefix(path, "/api/") {
		root = "" // a complete path from an earlier response
	}
	base := b.base
	if !b.stays {
		base = anyNode(base)
	}
	req, err := http.NewRequest(method, base+root+path, bytes.NewReader(raw))
	if err != nil {
		b.t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	b.authenticate(req)
	for _, o := range opts {
		o(req)
	}
	res, err := b.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	return answer{b.t, method + " " + path, res.StatusCode, res.Header, got}, err
}

// exchange sends a request that the test has made itself, without a browser.
func exchange(t testing.TB, req *http.Request) answer {
	t.Helper()
	// The buffer holds the whole header. Otherwise a server that refuses a long header could close
	// the connection between two writes.
	transport := &http.Transport{DisableKeepAlives: true, WriteBufferSize: 64 << 10}
	res, err := (&http.Client{Timeout: testTimeout, Transport: transport}).Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	return answer{t, req.Method + " " + req.URL.Path, res.StatusCode, res.Header, got}
}

// authenticate adds the caller's credentials to a request.
func (b *browser) authenticate(req *http.Request) {
	if b.from != "" {
		req.Header.Set("X-Forwarded-For", b.from)
	}
	if b.token != "" {
		req.Header.Set("Authorization", "Bearer "+b.token)
	} else if token := b.cookie(auth.CSRFCookie); token != "" && req.Method != http.MethodGet {
		req.Header.Set(auth.CSRFHeader, token)
	}
}

// do sends a request and verifies the response against the OpenAPI document.
func (b *browser) do(method, path string, body any, opts ...option) answer {
	b.t.Helper()
	a := b.send(method, path, body, opts...)
	// A client of several nodes retries. A repeated registration can create a second attendee, so it
	// is repeated only in clusters in which leases end.
	kind := kindOf(b.base)
	again := kind == shortLeased || kind == node && !strings.HasSuffix(path, "/register")
	for end := time.Now().Add(testTimeout); a.status == http.StatusServiceUnavailable && again && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
		a = b.send(method, path, body, opts...)
	}
	bare, _, _ := strings.Cut(strings.TrimPrefix(path, "/api"), "?")
	if err := verifyAnswer(method, bare, a.status, a.header, a.body); err != nil {
		b.t.Errorf("undocumented: %v", err)
	}
	if text, err := json.Marshal(body); body != nil && err == nil && a.status == 200 {
		if s, ok := body.(string); ok {
			text = []byte(s)
		}
		if raw, ok := body.([]byte); ok {
			text = raw
		}
		if err := verifyRequest(method, bare, text); err != nil && json.Valid(text) {
			b.t.Errorf("%s: the server accepts a request that the document forbids: %v", a.what, err)
		}
	}
	return a
}

func (b *browser) get(path string, opts ...option) answer {
	b.t.Helper()
	return b.do(http.MethodGet, path, nil, opts...)
}

func (b *browser) post(path string, body any, opts ...option) answer {
	b.t.Helper()
	return b.do(http.MethodPost, path, body, opts...)
}

func (b *browser) put(path string, body any, opts ...option) answer {
	b.t.Helper()
	return b.do(http.MethodPut, path, body, opts...)
}

func (b *browser) delete(path string, opts ...option) answer {
	b.t.Helper()
	return b.do(http.MethodDelete, path, nil, opts...)
}

func (b *browser) site() *url.URL {
	u, err := url.Parse(b.base + "/api/")
	if err != nil {
		b.t.Fatal(err)
	}
	return u
}

// cookie returns the value of a cookie that the browser would send.
func (b *browser) cookie(name string) string {
	for _, c := range b.http.Jar.Cookies(b.site()) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

func (b *browser) setCookie(name, value string) { b.setCookieAt("/", name, value) }

func (b *browser) setCookieAt(path, name, value string) {
	b.http.Jar.SetCookies(b.site(), []*http.Cookie{{Name: name, Value: value, Path: path}})
}

// want fails unless the response has this status.
func (a answer) want(status int) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: status %d, want %d: %.500s", a.what, a.status, status, a.body)
	}
	return a
}

// refused fails unless the response has this status and its error text contains all given parts.
func (a answer) refused(status int, parts ...string) {
	a.t.Helper()
	a.want(status)
	for _, part := range parts {
		if !strings.Contains(a.error(), part) {
			a.t.Errorf("%s: the error %q does not contain %q", a.what, a.error(), part)
		}
	}
}

// error returns the text of an error body, which must have exactly one field.
func (a answer) error() string {
	a.t.Helper()
	var fields map[string]string
	if err := json.Unmarshal(a.body, &fields); err != nil || len(fields) != 1 || fields["error"] == "" {
		a.t.Fatalf("%s: the response with status %d has no error body: %.300s", a.what, a.status, a.body)
	}
	return fields["error"]
}

func (a answer) into(v any) answer {
	a.t.Helper()
	if err := json.Unmarshal(a.want(200).body, v); err != nil {
		a.t.Fatalf("%s: %v: %.300s", a.what, err, a.body)
	}
	return a
}

// object returns the JSON object in the response.
func (a answer) object() record {
	a.t.Helper()
	var r record
	a.into(&r)
	return r
}

// list returns the JSON array of objects in the response.
func (a answer) list() []record {
	a.t.Helper()
	var r []record
	a.into(&r)
	return r
}

// record is a JSON object.
type record map[string]any

func (r record) text(key string) string {
	s, _ := r[key].(string)
	return s
}

func (r record) number(key string) int {
	n, _ := r[key].(float64)
	return int(n)
}

// texts collects one field of all records.
func texts(records []record, key string) []string {
	out := []string{}
	for _, r := range records {
		out = append(out, r.text(key))
	}
	return out
}
