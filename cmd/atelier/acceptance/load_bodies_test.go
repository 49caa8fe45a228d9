package acceptance

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
)

// In an earlier version, each unfinished body of an anonymous client could use 5 MiB of memory.
func TestAnonymousClientsCanSendOnlySmallBodies(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	long := strings.Repeat("x", 70<<10)
	for path, body := range map[string]record{
		"/login":             {"admin_id": adminID, "admin_pw": long},
		c.path + "/register": {"name": "Lin", "code": long},
	} {
		open(t, c.admin.site().Host).post(path, body).refused(413)
	}
	c.admin.post("/codelabs", record{"title": "A codelab", "description": "d", "unknown": long}).want(200)
}

// half sends the head of a request and a part of its body, and keeps the connection open.
func half(t *testing.T, b *browser, path string, declared, sent int) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", b.site().Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	req, err := http.NewRequest(http.MethodPut, b.base+"/api"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.authenticate(req)
	var head strings.Builder
	fmt.Fprintf(&head, "PUT /api%s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", path, b.site().Host, declared)
	for name, values := range req.Header {
		fmt.Fprintf(&head, "%s: %s\r\n", name, values[0])
	}
	for _, cookie := range b.http.Jar.Cookies(b.site()) {
		fmt.Fprintf(&head, "Cookie: %s=%s\r\n", cookie.Name, cookie.Value)
	}
	// An error is ignored, because the server closes the connection of a refused body.
	_, _ = conn.Write([]byte(head.String() + "\r\n" + strings.Repeat(" ", sent)))
	return conn
}

func TestBodiesShareABudget(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.BodyMemoryMiB = 64
	s := startServer(t, cfg)
	c := newClassOn(t, s.Addr(), record{})
	for range 2 { // the budget suffices for one body, which needs 46 MiB while it grows
		half(t, c.admin, c.path+"/steps", 30<<20, 20<<20)
	}
	c.eventually("a body is refused", func() bool {
		_, metrics := internal(s.InternalAddr(), "/metrics")
		return strings.Contains(metrics, "atelier_bodies_refused_total 1\n")
	})
	// On a busy machine, the server can close the connection before the client has read the response.
	var res *http.Response
	c.eventually("a response to a body over the budget", func() (ok bool) {
		var err error
		res, err = http.ReadResponse(bufio.NewReader(half(t, c.admin, c.path+"/steps", 30<<20, 30<<20)), nil)
		return err == nil
	})
	defer res.Body.Close()
	if res.StatusCode != 503 || res.Header.Get("Retry-After") == "" {
		t.Errorf("the refusal has the status %s and Retry-After %q", res.Status, res.Header.Get("Retry-After"))
	}
	// A small body is accepted.
	c.admin.post(c.path+"/messages", record{"type": "chat", "message": "x"}).want(200)
}

// The server refuses an encoded body, because it does not decode bodies.
func TestAnEncodedBodyIsRefused(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	for _, encoding := range []string{"gzip", "br", "gzip, identity"} {
		c.admin.post("/codelabs", record{"title": "x"}, header("Content-Encoding", encoding)).refused(415)
	}
	c.admin.post("/codelabs", record{"title": "x"}, header("Content-Encoding", "identity")).want(200)
	c.admin.get(c.path, header("Content-Encoding", "gzip")).want(200) // without a body, the header has no effect
}
