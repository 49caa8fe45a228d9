package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// The HTTP server's own goroutines for idle workers and dates end late.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
}

func hello(ctx *fasthttp.RequestCtx) { ctx.SetBodyString("hello") }

func serve(t *testing.T, prepare func(p *Public)) *Public {
	t.Helper()
	p, err := Listen("127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	if prepare != nil {
		prepare(p)
	}
	p.Serve(PublicOptions{API: hello})
	return p
}

func stop(t *testing.T, p *Public) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := p.Shutdown(ctx); err != nil {
		t.Fatalf("Shutdown returned %v", err)
	}
	if err := <-p.Failed(); err != nil {
		t.Fatalf("serving ended with %v", err)
	}
}

func dial(t *testing.T, p *Public) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// ask sends a request and reads the response.
func ask(c net.Conn) error {
	if _, err := c.Write([]byte("GET /api/x HTTP/1.1\r\nHost: h\r\n\r\n")); err != nil {
		return err
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	_ = res.Body.Close()
	if res.StatusCode != 200 {
		return fmt.Errorf("status %d", res.StatusCode)
	}
	return nil
}

// starved is a listener whose first calls of Accept return the given errors.
type starved struct {
	net.Listener
	mu     sync.Mutex
	errors []error
}

func (l *starved) Accept() (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.errors) > 0 {
		err := l.errors[0]
		l.errors = l.errors[1:]
		return nil, &net.OpError{Op: "accept", Err: err}
	}
	l.mu.Unlock()
	c, err := l.Listener.Accept()
	l.mu.Lock()
	return c, err
}

// In an earlier version `accept4: too many open files` ended the whole process.
func TestRunningOutOfDescriptorsPauses(t *testing.T) {
	p := serve(t, func(p *Public) {
		p.accept.Listener = &starved{Listener: p.accept.Listener, errors: []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ECONNABORTED}}
	})
	if err := ask(dial(t, p)); err != nil {
		t.Fatal(err)
	}
	if n := p.Stats().Pauses; n != 4 {
		t.Errorf("%d pauses were counted, want 4", n)
	}
	stop(t, p)
}

// Shutdown does not wait until descriptors are free.
func TestClosingEndsAPause(t *testing.T) {
	p := serve(t, func(p *Public) {
		many := make([]error, 1<<20)
		for i := range many {
			many[i] = syscall.EMFILE
		}
		p.accept.Listener = &starved{Listener: p.accept.Listener, errors: many}
	})
	for p.Stats().Pauses < 3 {
		time.Sleep(time.Millisecond)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		// Until its errors are removed, the underlying listener reports that no descriptors are
		// left.
		_ = p.accept.Close()
		s := p.accept.Listener.(*starved)
		s.mu.Lock()
		s.errors = nil
		s.mu.Unlock()
	}()
	<-done
	stop(t, p)
}

// A single address cannot use all connections, whether it sends requests or not. A proxy can,
// because it has many clients.
func TestConnectionsPerAddressAreLimited(t *testing.T) {
	p := serve(t, func(p *Public) { p.silence.maxFrom = 2 })
	first, second := dial(t, p), dial(t, p)
	for _, c := range []net.Conn{first, second} {
		if err := ask(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := ask(dial(t, p)); err == nil {
		t.Error("a third connection was answered")
	}
	_ = first.Close()
	waitFor(t, func() bool { _, open, _ := p.silence.counts(); return open == 1 })
	if err := ask(dial(t, p)); err != nil {
		t.Errorf("after one connection was closed, a new one returned %v", err)
	}
	if err := ask(second); err != nil {
		t.Error(err)
	}
	stop(t, p)

	proxied := serve(t, func(p *Public) {
		p.silence.maxFrom = 2
		p.silence.proxy = func(netip.Addr) bool { return true }
	})
	for range 4 {
		if err := ask(dial(t, proxied)); err != nil {
			t.Errorf("a connection from a proxy returned %v", err)
		}
	}
	stop(t, proxied)
}

// When the public listener has as many connections as allowed, new ones wait. The other descriptors
// are for the store and the internal listener.
func TestNewConnectionsWaitForDescriptors(t *testing.T) {
	p := serve(t, func(p *Public) { p.most = 1 })
	defer stop(t, p)
	first := dial(t, p)
	if err := ask(first); err != nil {
		t.Fatal(err)
	}
	second := dial(t, p)
	waitFor(t, func() bool { return p.Stats().Pauses > 1 })
	if _, open, _ := p.silence.counts(); open > 1 {
		t.Errorf("%d connections are open, want at most 1", open)
	}
	_ = first.Close()
	if err := ask(second); err != nil {
		t.Error(err)
	}
}

// A client that opens connections without sending anything displaces only other silent
// connections.
func TestSilentConnectionsAreClosedFirst(t *testing.T) {
	p := serve(t, func(p *Public) { p.silence.maxMute = 3 })
	speaker := dial(t, p)
	if err := ask(speaker); err != nil {
		t.Fatal(err)
	}
	first := dial(t, p)
	waitFor(t, func() bool { return p.Stats().Silent == 1 })
	partial := dial(t, p)
	if _, err := partial.Write([]byte("GET /api/x HTTP/1.1\r\n")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return p.Stats().Silent == 2 })
	for n := range 2 {
		dial(t, p)
		waitFor(t, func() bool { s := p.Stats(); return s.Silent+int(s.Shed) == 3+n })
	}
	if s := p.Stats(); s.Silent != 3 || s.Shed != 1 {
		t.Errorf("the stats are %+v, want 3 silent and 1 shed", s)
	}
	_ = first.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := first.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the oldest silent connection is still open: %v", err)
	}
	if err := ask(speaker); err != nil {
		t.Errorf("a connection with a request was closed: %v", err)
	}
	// Once the partial request is complete, the connection is no longer silent.
	if _, err := partial.Write([]byte("Host: h\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if res, err := http.ReadResponse(bufio.NewReader(partial), nil); err != nil || res.StatusCode != 200 {
		t.Errorf("the completed request returned %v", err)
	}
	if n := p.Stats().Silent; n != 2 {
		t.Errorf("%d connections are silent, want 2", n)
	}
	stop(t, p)
}

// In an earlier version, one shutdown in 25 under load took the full 30 seconds, because a
// connection had just been opened.
func TestShutdownDoesNotWaitForSilentConnections(t *testing.T) {
	p := serve(t, nil)
	silent := dial(t, p)
	waitFor(t, func() bool { return p.Stats().Silent == 1 })
	stop(t, p) // stop fails after 20 s; the read timeout is 60 s
	if _, err := silent.Read(make([]byte, 1)); err == nil {
		t.Error("the silent connection is still open")
	}
}

// In an earlier version, a single client that had sent only part of a body or of its next request
// delayed every shutdown until the deadline.
func TestShutdownEndsPartialRequests(t *testing.T) {
	entered := make(chan struct{})
	p, err := Listen("127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Serve(PublicOptions{API: func(ctx *fasthttp.RequestCtx) {
		if ctx.IsPost() {
			close(entered)
			_, _ = io.Copy(io.Discard, ctx.RequestBodyStream())
		}
		hello(ctx)
	}})
	next := dial(t, p)
	if err := ask(next); err != nil {
		t.Fatal(err)
	}
	if _, err := next.Write([]byte("GET /api/x HT")); err != nil {
		t.Fatal(err)
	}
	body := dial(t, p)
	if _, err := body.Write([]byte("POST /api/x HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n" + strings.Repeat("x", prefetch))); err != nil {
		t.Fatal(err)
	}
	<-entered
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := p.Shutdown(ctx); err != nil {
		t.Fatalf("Shutdown did not end: %v", err)
	}
	for name, c := range map[string]net.Conn{"half a request": next, "half a body": body} {
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Errorf("%s: still open", name)
		}
	}
}

// A flood can also consist of idle connections. They have sent a request, so they are not silent.
func TestIdleConnectionsAreClosedAfterSilentOnes(t *testing.T) {
	p := serve(t, nil)
	idle := dial(t, p)
	if err := ask(idle); err != nil {
		t.Fatal(err)
	}
	silent := dial(t, p)
	waitFor(t, func() bool { return p.Stats().Silent == 1 })
	p.silence.close(1, time.Now())
	if _, err := silent.Read(make([]byte, 1)); err == nil {
		t.Error("the silent connection is still open")
	}
	if err := ask(idle); err != nil {
		t.Fatalf("the idle connection was closed first: %v", err)
	}
	waitFor(t, func() bool { return p.silence.close(1, time.Now()) == 1 })
	if _, err := idle.Read(make([]byte, 1)); err == nil {
		t.Error("the idle connection is still open")
	}
	stop(t, p)
	// The last connection is removed slightly after the server has ended.
	waitFor(t, func() bool {
		p.silence.mu.Lock()
		defer p.silence.mu.Unlock()
		return len(p.silence.open) == 0
	})
}

// The test covers the public and the internal listener.
func TestAddressInUseNamesTheConfigurationKey(t *testing.T) {
	p := serve(t, nil)
	defer stop(t, p)
	addr := p.Addr().String()
	if _, err := Listen(addr, nil); err == nil || err.Error() != "server.listen: "+addr+" is in use by another program; stop it or choose another address" {
		t.Errorf("Listen returned %v", err)
	}
	if _, err := ListenInternal(addr, nil, nil); err == nil || err.Error() != "server.internal_listen: "+addr+" is in use by another program; stop it or choose another address" {
		t.Errorf("ListenInternal returned %v", err)
	}
}

func waitFor(t *testing.T, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the condition was not met in time")
		}
	}
}

// After Leave, every response closes its connection, except a response that upgrades it.
func TestResponsesCloseTheirConnectionAfterLeave(t *testing.T) {
	p, err := Listen("127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Serve(PublicOptions{API: func(ctx *fasthttp.RequestCtx) {
		if string(ctx.Path()) == "/api/live" {
			ctx.SetStatusCode(fasthttp.StatusSwitchingProtocols)
			ctx.Response.Header.Set("Connection", "Upgrade")
			ctx.Hijack(func(c net.Conn) { _ = c.Close() })
			return
		}
		hello(ctx)
	}})
	defer stop(t, p)
	connection := func(c net.Conn, path string) string {
		t.Helper()
		if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", path); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.Close {
			return "close"
		}
		return res.Header.Get("Connection")
	}
	c := dial(t, p)
	if got := connection(c, "/api/x"); got != "" {
		t.Errorf("before Leave, the Connection header is %q", got)
	}
	p.Leave()
	if got := connection(c, "/api/x"); got != "close" {
		t.Errorf("after Leave, on an open connection, the header is %q, want close", got)
	}
	if got := connection(dial(t, p), "/api/x"); got != "close" {
		t.Errorf("after Leave, on a new connection, the header is %q, want close", got)
	}
	if got := connection(dial(t, p), "/api/live"); got != "Upgrade" {
		t.Errorf("after Leave, on an upgrade, the header is %q, want Upgrade", got)
	}
}

// A request that two programs could interpret differently is refused, and the connection ends.
func TestAmbiguousRequestsAreRefused(t *testing.T) {
	p := serve(t, nil)
	defer stop(t, p)
	for name, head := range map[string]string{
		"a folded field":       "POST /api/x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
		"a folded length":      "POST /api/x HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\t3\r\n\r\nabc",
		"an unknown version":   "GET /api/x HTTP/2.7\r\nHost: h\r\n\r\n",
		"two lengths":          "POST /api/x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"both, small letters":  "POST /api/x HTTP/1.1\r\ntransfer-encoding: chunked\r\nHost: h\r\ncontent-length: 3\r\n\r\n0\r\n\r\n",
		"both, without spaces": "PUT /api/x HTTP/1.1\r\nHost:h\r\nTRANSFER-ENCODING:identity\r\nCONTENT-LENGTH:3\r\n\r\nabc",
		"both on a GET":        "GET /api/x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	} {
		c := dial(t, p)
		if _, err := c.Write([]byte(head)); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Errorf("%s: reading the response returned %v", name, err)
			continue
		}
		if res.StatusCode != 400 || !res.Close {
			t.Errorf("%s returned %s, closed: %v, want 400 and a close", name, res.Status, res.Close)
		}
		_ = res.Body.Close()
	}
	if err := ask(dial(t, p)); err != nil {
		t.Error(err)
	}
}

func TestTheInternalListenerAcceptsOnlyItsOwnNames(t *testing.T) {
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	label, _, _ := strings.Cut(machine, ".")
	handler := byOwnName(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, c := range []struct {
		host             string
		program, browser bool // whether it can use the name
	}{
		{"127.0.0.1:9090", true, true}, {"[::1]:9090", true, true}, {"10.0.0.7", true, true},
		{"localhost:9090", true, true}, {"atelier-1:9090", true, true}, {"atelier.default.svc.cluster.local:9090", true, true},
		{strings.ToUpper(machine) + ":9090", true, true},
		{label + ".corp.example:9090", true, false},
		{"attacker.example.org:9090", false, false}, {"127.0.0.1.example.org", false, false}, {"localhost.example.com", false, false},
	} {
		for _, browser := range []bool{false, true} {
			r := httptest.NewRequest(http.MethodGet, "http://x/metrics", nil)
			if r.Host = c.host; browser {
				r.Header.Set("Accept-Language", "") // a page can change the value, but not remove the header
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			want := http.StatusForbidden
			if browser && c.browser || !browser && c.program {
				want = http.StatusOK
			}
			if w.Code != want {
				t.Errorf("%s, browser %v: status %d, want %d", c.host, browser, w.Code, want)
			}
		}
	}
}
