package handler

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"
)

// The test tokenizes and detokenizes through a real server. After each response it searches the
// buffers that the handler wipes. These contain the bytes read, decoded, decrypted and sent, and
// the rest of the request in the server.
func TestBuffersWithACardAreWiped(t *testing.T) {
	s := newStage(t)
	var mu sync.Mutex
	var buffers [][]byte
	held := 0
	s.wiping = func(b []byte) {
		mu.Lock()
		defer mu.Unlock()
		if buffers = append(buffers, b); bytes.Contains(b, []byte("4242424242424242")) {
			held++
		}
	}
	l := fasthttputil.NewInmemoryListener()
	server := &fasthttp.Server{
		StreamRequestBody: true, MaxRequestBodySize: 64 << 10,
		Handler: func(ctx *fasthttp.RequestCtx) { s.Handle(ctx) },
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return l.Dial() }}
	client := &http.Client{Transport: transport, Timeout: time.Minute}
	post := func(path, body string, want int) string {
		t.Helper()
		req, err := http.NewRequest(http.MethodPost, "http://x/handler"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+s.secret)
		req.Header.Set("Content-Type", "application/json")
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != want || res.ContentLength != int64(len(b)) {
			t.Fatalf("%s returned %d, %v", path, res.StatusCode, err)
		}
		return string(b)
	}
	// forgotten checks that n of the buffers to wipe contained the card, and that no buffer still
	// contains it.
	forgotten := func(what string, n int) {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		if held != n {
			t.Errorf("%s: found %d buffers with the card, want %d", what, held, n)
		}
		for i, b := range buffers {
			if bytes.Contains(b, []byte("42424242")) {
				t.Errorf("%s: buffer %d of %d bytes still contains the card", what, i, len(b))
			}
		}
		buffers, held = nil, 0
	}
	card := `{"type":"card","card_number_type":"fpan","number":"4242424242424242","expiry_month":12,"expiry_year":2030,"cvc":"123"}`
	binding := `"binding":{"checkout_id":"c"}`
	// The buffers are the body, the credential in it, and two of the server.
	answer := post("/tokenize", `{"credential":`+card+`,`+binding+`}`, 200)
	forgotten("tokenize", 4)
	post("/tokenize", `{"credential":`+strings.Replace(card, "2030", "30", 1)+`,`+binding+`}`, 422)
	forgotten("tokenize that is refused", 4)
	post("/tokenize", `{"credential":`+card+`,"binding":7}`, 400)
	forgotten("tokenize that is malformed", 4)
	_, token, _ := strings.Cut(strings.TrimSuffix(answer, `"}`), `:"`)
	if got := post("/detokenize", fmt.Sprintf(`{"token":%q,%s}`, token, binding), 200); got != card {
		t.Fatal("detokenize returned another card")
	}
	forgotten("detokenize", 1) // the decrypted credential, which is also the response
	transport.CloseIdleConnections()
	if err := server.Shutdown(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
