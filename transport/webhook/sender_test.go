package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	hooks "atelier/actors/webhook"
	"atelier/transport/ai/keys"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The example is from the Standard Webhooks specification.
func TestTheSignatureFollowsTheStandard(t *testing.T) {
	got := sign("whsec_plJ3nmyCDGBKInavdOK15jsl", "msg_loFOjxBNrRLzqYUf", "1731705121", []byte(`{"event_type":"ping","data":{"success":true}}`))
	if want := "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0="; got != want {
		t.Errorf("the signature is %s, want %s", got, want)
	}
}

func sender(t *testing.T, handler http.HandlerFunc, inside bool) (*Sender, *hooks.Hook) {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	seal, err := keys.NewSeal("the server's key", keys.ForWebhook)
	if err != nil {
		t.Fatal(err)
	}
	s := NewSender(Config{
		Seal: seal, Inside: inside, Name: func(_, attendee string) string { return map[string]string{"a1": "Lin"}[attendee] },
		Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Unix(1_800_000_000, 0) },
	})
	s.http.Transport.(*http.Transport).TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig
	_, sealed := s.NewSecret()
	return s, &hooks.Hook{Id: "h", Url: server.URL + "/in?a=1", Secret: sealed}
}

func registration(who string) *hooks.Delivery {
	return &hooks.Delivery{Id: "d", Type: hooks.AttendeeRegistered, At: 1_799_999_990_000, CodelabId: "lab", Data: &hooks.Data{AttendeeId: who}}
}

func TestABodyHasANameOnlyIfTheHookWantsIt(t *testing.T) {
	var got string
	s, h := sender(t, func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = r.Method + " " + r.URL.String() + " " + r.Header.Get("webhook-timestamp") + " " + string(b)
	}, true)
	if s.http.Timeout != 10*time.Second {
		t.Errorf("the timeout of a delivery is %s, want 10s", s.http.Timeout)
	}
	for _, x := range []struct {
		names     bool
		who, want string
	}{{false, "a1", "null"}, {true, "a1", `"Lin"`}, {true, "gone", "null"}} {
		h.Names = x.names
		if status := s.Send(t.Context(), h, registration(x.who)).Status; status != 200 {
			t.Fatalf("the delivery got %d, want 200", status)
		}
		want := `POST /in?a=1 1800000000 {"id":"d","type":"attendee_registered","at":"2027-01-15T07:59:50.000Z","codelab_id":"lab","data":{"attendee_id":"` + x.who + `","attendee_name":` + x.want + `}}`
		if got != want {
			t.Errorf("sent %s, want %s", got, want)
		}
	}
}

func TestAnEndlessResponseReturnsItsStatus(t *testing.T) {
	s, h := sender(t, func(w http.ResponseWriter, r *http.Request) {
		// The response is endless, unless the client stops reading.
		w.WriteHeader(202)
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<10)); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}, true)
	if status := s.Send(t.Context(), h, registration("a1")).Status; status != 202 {
		t.Errorf("the delivery got %d, want 202", status)
	}
}

// The signature uses the secret that was shown and covers the values of the headers. Each
// delivery has a separate connection.
func TestDeliveriesAreSignedAndUseNewConnections(t *testing.T) {
	var (
		header http.Header
		body   []byte
		from   []string
	)
	s, h := sender(t, func(_ http.ResponseWriter, r *http.Request) {
		header, from = r.Header, append(from, r.RemoteAddr)
		body, _ = io.ReadAll(r.Body)
	}, true)
	shown, sealed := s.NewSecret()
	h.Secret = sealed
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(shown, "whsec_"))
	if err != nil || len(key) != 32 || bytes.Contains(sealed, key) || bytes.Contains(sealed, []byte(shown)) {
		t.Fatalf("the secret %q of %d bytes, %v, is sealed as %q", shown, len(key), err, sealed)
	}
	for range 2 {
		if status := s.Send(t.Context(), h, registration("a1")).Status; status != 200 {
			t.Fatalf("the delivery got %d, want 200", status)
		}
	}
	m := hmac.New(sha256.New, key)
	m.Write([]byte("d.1800000000." + string(body)))
	for name, want := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "Atelier-Webhooks", "webhook-id": "d", "webhook-timestamp": "1800000000",
		"webhook-signature": "v1," + base64.StdEncoding.EncodeToString(m.Sum(nil)),
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if from[0] == from[1] {
		t.Error("a connection was used twice, so the second delivery's address was not checked")
	}
	if status := s.Send(t.Context(), h, &hooks.Delivery{Id: "e", Type: hooks.Test, Data: &hooks.Data{}}).Status; status != 200 || !strings.HasSuffix(string(body), `"type":"test","at":"1970-01-01T00:00:00.000Z","codelab_id":null,"data":{}}`) {
		t.Errorf("the test delivery got %d, with the body %s", status, body)
	}
}

// endless is a response that never ends.
type endless struct {
	read   int
	closed bool
}

func (e *endless) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Body: e, Request: r}, nil
}

func (e *endless) Read(b []byte) (int, error) {
	if e.read += len(b); e.read > 1<<20 {
		return 0, io.ErrUnexpectedEOF
	}
	return len(b), nil
}

func (e *endless) Close() error { e.closed = true; return nil }

func TestAtMost4KiBOfAResponseAreRead(t *testing.T) {
	s, h := sender(t, nil, true)
	answer := &endless{}
	s.http.Transport = answer
	if status := s.Send(t.Context(), h, registration("a1")).Status; status != 200 || answer.read != 4<<10 || !answer.closed {
		t.Errorf("the delivery got %d, %d bytes were read, closed: %v; want 200, 4096, true", status, answer.read, answer.closed)
	}
}

// The log contains the reason for a failed delivery without addresses. A shutdown is not logged as
// a failure.
func TestTheLogHasTheReasonWithoutAddresses(t *testing.T) {
	s, h := sender(t, nil, false)
	var log bytes.Buffer
	s.Logger = slog.New(slog.NewTextHandler(&log, nil))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if s.Send(over, h, registration("a1")); log.Len() != 0 {
		t.Errorf("after a shutdown, the log has %s", &log)
	}
	s.Send(t.Context(), h, registration("a1"))
	if got := log.String(); !strings.Contains(got, "not on the public internet") || !strings.Contains(got, "delivery=d") || strings.Contains(got, "127.0.0.1") {
		t.Errorf("the log has %s", got)
	}
}

// After a change of protocols, Go's client leaves the connection to its caller, and its timeout
// no longer ends anything.
func TestAChangeOfProtocolsDoesNotBlockTheSender(t *testing.T) {
	held := make(chan net.Conn, 1)
	s, h := sender(t, func(w http.ResponseWriter, r *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		held <- c
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
	}, true)
	answer := make(chan int32, 1)
	go func() { answer <- s.Send(t.Context(), h, registration("a1")).Status }()
	c := <-held
	defer c.Close()
	select {
	case status := <-answer:
		if status != 101 {
			t.Errorf("the delivery got %d, want 101", status)
		}
	case <-time.After(time.Minute):
		t.Error("Send did not return")
		c.Close()
		<-answer
	}
}

func TestFailedDeliveries(t *testing.T) {
	reached := 0
	s, h := sender(t, func(w http.ResponseWriter, r *http.Request) {
		reached++
		http.Redirect(w, r, "/elsewhere", http.StatusPermanentRedirect)
	}, true)
	if status := s.Send(t.Context(), h, registration("a1")).Status; status != 308 || reached != 1 {
		t.Errorf("a redirect returned %d after %d requests, want 308 after 1", status, reached)
	}
	other := *s
	other.Seal, _ = keys.NewSeal("another key", keys.ForWebhook)
	foreign := *s
	foreign.Seal, _ = keys.NewSeal("the server's key", keys.ForAIKey)
	for what, s := range map[string]*Sender{"another key": &other, "another purpose": &foreign} {
		if status := s.Send(t.Context(), h, registration("a1")).Status; status != 0 {
			t.Errorf("with %s, the delivery got %d, want 0", what, status)
		}
	}
	unknown := registration("a1")
	unknown.Type = "what a newer program tells"
	if status := s.Send(t.Context(), h, unknown).Status; status != 0 {
		t.Errorf("sending an unknown event returned %d, want 0", status)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if status := s.Send(over, h, registration("a1")).Status; status != 0 || reached != 1 {
		t.Errorf("with a canceled context, the delivery got %d, and %d requests were received", status, reached)
	}

	wordy, at := sender(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 128<<10)) }, true)
	if status := wordy.Send(t.Context(), at, registration("a1")).Status; status != 0 {
		t.Errorf("with 128 KiB of headers, the delivery got %d, want 0", status)
	}

	inside, h := sender(t, func(http.ResponseWriter, *http.Request) { reached++ }, false)
	for _, host := range []string{"localhost", "[::ffff:127.0.0.1]", "127.0.0.1"} {
		h := h.Clone()
		h.Url = strings.Replace(h.Url, "127.0.0.1", host, 1)
		if status := inside.Send(t.Context(), h, registration("a1")).Status; status != 0 || reached != 1 {
			t.Errorf("the inside host %s got %d, want 0", host, status)
		}
	}
}

// The outcome contains no details of the network.
func TestAnOutcomeHasTheKindOfTheError(t *testing.T) {
	fine := func(http.ResponseWriter, *http.Request) {}
	redirects := func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }
	unwilling := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }
	stuck := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the server notices the end of the client only after it has read the body
		<-r.Context().Done()
	}
	for _, x := range []struct {
		name    string
		handler http.HandlerFunc
		inside  bool
		change  func(*Sender, *hooks.Hook)
		status  int32
		kind    string
	}{
		{"a success", fine, true, nil, 200, ""},
		{"a refusal", unwilling, true, nil, 500, ""},
		{"a redirection", redirects, true, nil, 302, hooks.Redirected},
		{"our own network", fine, false, nil, 0, hooks.RefusedAddress},
		{"no response in time", stuck, true, func(s *Sender, _ *hooks.Hook) { s.http.Timeout = 50 * time.Millisecond }, 0, hooks.TimedOut},
		{"an untrusted certificate", fine, true, func(s *Sender, _ *hooks.Hook) { s.http.Transport.(*http.Transport).TLSClientConfig = nil }, 0, hooks.BadTLS},
		{"no listener", fine, true, func(_ *Sender, h *hooks.Hook) { h.Url = "https://127.0.0.1:1/" }, 0, hooks.NotConnected},
		{"an unknown host", fine, true, func(_ *Sender, h *hooks.Hook) { h.Url = "https://host.invalid/" }, 0, hooks.NotConnected},
		{"a damaged secret", fine, true, func(_ *Sender, h *hooks.Hook) { h.Secret = []byte("other") }, 0, ""},
	} {
		s, h := sender(t, x.handler, x.inside)
		if x.change != nil {
			x.change(s, h)
		}
		if got := s.Send(t.Context(), h, registration("a1")); got.Status != x.status || got.Error != x.kind || got.TookMS < 0 {
			t.Errorf("%s: the outcome is %+v, want %d %q", x.name, got, x.status, x.kind)
		}
	}
	for status, kind := range map[int]string{301: hooks.Redirected, 303: hooks.Redirected, 304: "", 307: hooks.Redirected, 308: hooks.Redirected} {
		s, h := sender(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
		}, true)
		if got := s.Send(t.Context(), h, registration("a1")); got.Status != int32(status) || got.Error != kind {
			t.Errorf("status %d has the outcome %+v", status, got)
		}
	}
	plain := httptest.NewServer(http.HandlerFunc(fine))
	defer plain.Close()
	s, h := sender(t, fine, true)
	h.Url = strings.Replace(plain.URL, "http:", "https:", 1)
	if got := s.Send(t.Context(), h, registration("a1")); got.Error != hooks.BadTLS {
		t.Errorf("without TLS, the outcome is %+v, want BadTLS", got)
	}
}
