package acceptance

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The samples of transport/rest/clients/webhooks accept each delivery of the server once, and
// reject forged and old deliveries.
func TestReceiversAcceptOnlySignedDeliveries(t *testing.T) {
	t.Parallel()
	addr := privateServer(t).Addr()
	folder := filepath.Join("..", "..", "..", "transport", "rest", "clients", "webhooks")
	built := filepath.Join(t.TempDir(), "receiver")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", built, ".")
	build.Dir, build.Env = filepath.Join(folder, "go"), append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the receiver: %v\n%s", err, out)
	}
	for language, command := range map[string][]string{
		"Go":     {built},
		"Python": {program(t, "python3"), filepath.Join(folder, "python", "receiver.py")},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			for _, none := range []string{"", "whsec_", "whsec_no Base64"} {
				ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
				cmd := exec.CommandContext(ctx, command[0], command[1:]...)
				cmd.Env = append(os.Environ(), "WEBHOOK_SECRET="+none, "LISTEN=127.0.0.1:0")
				out, err := cmd.CombinedOutput()
				if err == nil || ctx.Err() != nil || !strings.Contains(string(out), "WEBHOOK_SECRET must be") {
					t.Errorf("with the invalid secret %q, the receiver ended with %v\n%s", none, err, out)
				}
				cancel()
			}
			r := newSampleReceiver(t)
			c := newClassOn(t, addr, record{})
			secret := c.admin.post("/admin/webhooks", record{"url": r.URL + "/in", "events": []string{"attendee_registered"}, "codelabs": []string{c.id}}).object().text("secret")
			lines := r.start(command, secret)
			c.attendee("Lin")
			first := r.next()
			if got := next(t, lines); got != "attendee_registered "+first.header.Get("webhook-id") {
				t.Errorf("the receiver printed %q", got)
			}
			now := time.Now()
			for what, x := range map[string]struct {
				id     string
				at     time.Time
				key    string
				body   string
				status int
			}{
				"a repeated delivery": {first.header.Get("webhook-id"), now, secret, string(first.body), http.StatusNoContent},
				"another secret":      {"x1", now, "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 32)), string(first.body), http.StatusUnauthorized},
				"an old delivery":     {"x2", now.Add(-6 * time.Minute), secret, string(first.body), http.StatusUnauthorized},
				"invalid JSON":        {"x3", now, secret, "type=test", http.StatusBadRequest},
				"too large a body":    {"x4", now, secret, `"` + strings.Repeat("x", 65<<10) + `"`, http.StatusBadRequest},
			} {
				status := r.send(x.id, x.at, x.key, []byte(x.body))
				if status == cutOff && what == "too large a body" {
					continue // the sample did not read the refused body
				}
				if status != x.status {
					t.Errorf("%s returned %d, want %d", what, status, x.status)
				}
			}
			if status := r.sendSigned("x5", now, "", first.body); status != http.StatusUnauthorized {
				t.Errorf("a delivery without a signature returned %d", status)
			}
			c.attendee("Max")
			second := r.next()
			for second.header.Get("webhook-id") == first.header.Get("webhook-id") {
				second = r.next() // a slow response makes the server repeat a delivery
			}
			if got := next(t, lines); got != "attendee_registered "+second.header.Get("webhook-id") {
				t.Errorf("the receiver then printed %q, want the second registration", got)
			}
		})
	}
}

// sampleReceiver is one of the sample receivers, behind an HTTPS proxy.
type sampleReceiver struct {
	*httptest.Server
	t       *testing.T
	address string
	passed  chan delivery // deliveries that the server sent and the sample accepted
}

func newSampleReceiver(t *testing.T) *sampleReceiver {
	r := &sampleReceiver{t: t, address: freeAddr(t), passed: make(chan delivery, 10)}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: r.address})
	r.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(req.Body)
		again := req.Clone(req.Context())
		again.Body, again.ContentLength = io.NopCloser(bytes.NewReader(body.Bytes())), int64(body.Len())
		answer := httptest.NewRecorder()
		proxy.ServeHTTP(answer, again)
		w.WriteHeader(answer.Code)
		if answer.Code == http.StatusNoContent {
			r.passed <- delivery{header: req.Header, body: body.Bytes()}
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// start runs the sample until the test ends, and returns the lines that it prints. Deliveries fail
// until the sample listens, and are retried.
func (r *sampleReceiver) start(command []string, secret string) <-chan string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "WEBHOOK_SECRET="+secret, "LISTEN="+r.address)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	lines := make(chan string, 100)
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	r.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for end := time.Now().Add(testTimeout); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", r.address); err == nil {
			_ = c.Close()
			return lines
		}
	}
	r.t.Fatal("the receiver does not listen")
	return nil
}

// next returns the next delivery that passed.
func (r *sampleReceiver) next() delivery {
	r.t.Helper()
	select {
	case d := <-r.passed:
		return d
	case <-time.After(testTimeout):
		r.t.Fatal("no delivery passed")
		return delivery{}
	}
}

func next(t *testing.T, lines <-chan string) string {
	t.Helper()
	select {
	case line := <-lines:
		return line
	case <-time.After(testTimeout):
		t.Fatal("the receiver printed nothing")
		return ""
	}
}

// send sends a delivery signed with a secret, and returns the status.
func (r *sampleReceiver) send(id string, at time.Time, secret string, body []byte) int {
	r.t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		r.t.Fatal(err)
	}
	m := hmac.New(sha256.New, key)
	fmt.Fprintf(m, "%s.%d.%s", id, at.Unix(), body)
	return r.sendSigned(id, at, "v1,"+base64.StdEncoding.EncodeToString(m.Sum(nil)), body)
}

// cutOff is the status if no response came because the receiver closed the connection during the
// body.
const cutOff = 0

func (r *sampleReceiver) sendSigned(id string, at time.Time, signature string, body []byte) int {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, "http://"+r.address+"/in", bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("webhook-id", id)
	req.Header.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	req.Header.Set("webhook-signature", signature)
	res, err := http.DefaultClient.Do(req)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return cutOff
	}
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}
