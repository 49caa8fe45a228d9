package api

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

// start starts a server with f and returns a client of it.
func start(t *testing.T, f http.HandlerFunc) *Client {
	t.Helper()
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	c, err := New(srv.URL, "", 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestTheSessionIsSentWithItsToken(t *testing.T) {
	c := start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/login" {
			http.SetCookie(w, &http.Cookie{Name: "svc_session", Value: "s1"})
			http.SetCookie(w, &http.Cookie{Name: "svc_csrf", Value: "c1"})
			return
		}
		session, err := r.Cookie("svc_session")
		if err != nil || session.Value != "s1" {
			t.Errorf("%s was sent without the session", r.Method)
		}
		if got := r.Header.Get("X-CSRF-Token"); (got == "c1") != (r.Method == http.MethodPost) {
			t.Errorf("%s was sent with the token %q", r.Method, got)
		}
	})
	s, err := c.Login("a", "b", "c")
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"GET", "POST"} {
		a, err := c.Do(&Request{Method: method, Path: "/x", Session: s})
		if err != nil || !a.OK() || a.Session != s {
			t.Errorf("%s returned %+v, %v", method, a, err)
		}
	}
}

func TestUnansweredRequestsAreNeverRepeated(t *testing.T) {
	var requests atomic.Int32
	c := start(t, func(http.ResponseWriter, *http.Request) {
		requests.Add(1)
		panic(http.ErrAbortHandler) // closes the connection
	})
	for _, method := range []string{"GET", "POST"} {
		requests.Store(0)
		_, err := c.Do(&Request{Method: method, Path: "/x"})
		if err == nil || Unsent(err) || requests.Load() != 1 {
			t.Errorf("%s: %d requests, unsent %v, %v", method, requests.Load(), Unsent(err), err)
		}
	}
}

func TestRefusedConnectionIsUnsent(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	c, err := New(srv.URL, "", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(&Request{Method: "POST", Path: "/x"}); !Unsent(err) {
		t.Errorf("the request was not reported as unsent: %v", err)
	}
}

func TestErrorsQuoteTheServersResponse(t *testing.T) {
	c := start(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte(`{"error":"slow down"}`))
	})
	a, err := c.Do(&Request{Method: "GET", Path: "/x"})
	if err != nil || a.OK() || a.RetryAfter != 7*time.Second || a.Decode(nil) == nil {
		t.Fatalf("the refusal is %+v, %v", a, err)
	}
	if got := a.Err().Error(); got != `status 429: {"error":"slow down"}` {
		t.Errorf("the error is %q, want the status and the body", got)
	}
}

func TestHTTPSNeedsATunnel(t *testing.T) {
	for _, url := range []string{"https://x", "x", "http://", "http://%"} {
		if _, err := New(url, "", time.Second); err == nil {
			t.Errorf("New accepted %q", url)
		}
	}
	c, err := New("https://workshop.example", "127.0.0.1:1", time.Second)
	if err != nil || c.Address() != "127.0.0.1:1" || c.Host() != "workshop.example" {
		t.Errorf("the client is %+v, %v", c, err)
	}
}

// If a server accepts a connection but never responds, the error states both facts.
func TestASilentServerIsReported(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	c, err := New("http://"+ln.Addr().String(), "", 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Do(&Request{Method: "GET", Path: "/app"})
	if err == nil || !strings.Contains(err.Error(), "no answer within 50ms, from a server that accepts connections") || !errors.Is(err, fasthttp.ErrTimeout) {
		t.Error(err)
	}
}

func TestAnEndlessResponseIsAnError(t *testing.T) {
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for part := make([]byte, 1<<20); ; {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	}))
	defer far.Close()
	c, err := New(far.URL, "", 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.Do(&Request{Method: "GET", Path: "/codelabs"}); err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Error(err)
	}
}

func TestErrorsOfURLsContainNoPassword(t *testing.T) {
	for _, text := range []string{"http://ann:secret@host:port/", "ftp://ann:secret@host/?token=secret", "https://ann:secret@host/?token=secret"} {
		if _, err := New(text, "", time.Second); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error is %v", text, err)
		}
	}
}
