package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"
)

const secret = "4242424242424242"

// wiped collects the buffers that are about to be wiped, and counts those that contained the
// secret.
type wiped struct {
	mu      sync.Mutex
	buffers [][]byte
	held    int
}

func (w *wiped) note(b []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buffers = append(w.buffers, b)
	if bytes.Contains(b, []byte(secret)) {
		w.held++
	}
}

// serve answers each request with its body's length, like the server that reads secrets.
func serve(t *testing.T, w *wiped) net.Conn {
	l := fasthttputil.NewInmemoryListener()
	s := &fasthttp.Server{
		StreamRequestBody: true, MaxRequestBodySize: 64 << 10, ReadBufferSize: 8 << 10, Logger: nil,
		Handler: func(ctx *fasthttp.RequestCtx) {
			b, err := ReadSecretBody(ctx, 64<<10, &BodyShare{})
			if err != nil {
				ctx.SetStatusCode(http.StatusRequestEntityTooLarge)
			}
			fmt.Fprint(ctx, len(b), bytes.Contains(b, []byte(secret)))
			w.note(b)
			clear(b)
			DiscardBody(ctx, 1<<20)
			WipeBody(ctx, w.note)
		},
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	c, err := l.Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		_ = s.Shutdown()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return c
}

// The server's copies of a body are wiped for every transfer coding, and later requests are not
// affected.
func TestTheServersCopiesOfABodyAreWiped(t *testing.T) {
	head := "POST / HTTP/1.1\r\nHost: x\r\n"
	small := `{"number":"` + secret + `"}`
	large := `{"number":"` + secret + `","more":"` + strings.Repeat("x", 30<<10) + secret + `"}`
	plain := func(body string) string { return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(body), body) }
	pieces := func(body string) string {
		s := head + "Transfer-Encoding: chunked\r\n\r\n"
		for len(body) > 0 {
			n := min(len(body), 7000)
			s += fmt.Sprintf("%x\r\n%s\r\n", n, body[:n])
			body = body[n:]
		}
		return s + "0\r\n\r\n"
	}
	for name, c := range map[string]struct {
		sent    string
		answers []string
		held    int // minimum number of buffers that contained the secret
	}{
		// The buffers are the returned copy, the server's copy, and the buffer of the server's
		// reader. The last one loses the secret if the rest of a larger body is read through it.
		"small":         {plain(small), []string{fmt.Sprint(len(small), true)}, 3},
		"larger":        {plain(large), []string{fmt.Sprint(len(large), true)}, 2},
		"chunked":       {pieces(large), []string{fmt.Sprint(len(large), true)}, 2},
		"too large":     {plain(strings.Repeat(small, 4000)), []string{"0 false"}, 2},
		"after another": {plain(small) + plain(small), []string{fmt.Sprint(len(small), true), fmt.Sprint(len(small), true)}, 6},
		"a large one":   {plain(small) + plain(large) + plain(small), []string{fmt.Sprint(len(small), true), fmt.Sprint(len(large), true), fmt.Sprint(len(small), true)}, 8},
	} {
		t.Run(name, func(t *testing.T) {
			w := &wiped{}
			conn := serve(t, w)
			_ = conn.SetDeadline(time.Now().Add(time.Minute))
			go func() { _, _ = io.WriteString(conn, c.sent) }()
			in := bufio.NewReader(conn)
			for i, want := range c.answers {
				res, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(res.Body)
				if err != nil || string(got) != want {
					t.Fatalf("response %d is %s, want %s, %v", i, got, want, err)
				}
			}
			_ = conn.Close()
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.held < c.held {
				t.Errorf("%d of %d buffers contained the secret, want at least %d", w.held, len(w.buffers), c.held)
			}
			for i, b := range w.buffers {
				if bytes.Contains(b, []byte(secret)) {
					t.Errorf("buffer %d of %d bytes still contains the secret", i, len(b))
				}
			}
		})
	}
}

// Buffers that prove too small are also wiped.
func TestOutgrownBuffersAreWiped(t *testing.T) {
	long := strings.Repeat(secret, 2*first/len(secret))
	for name, tt := range map[string]struct {
		r     io.Reader
		limit int
		err   error
	}{
		"whole":       {strings.NewReader(long), len(long), nil},
		"interrupted": {io.MultiReader(strings.NewReader(long), iotest.ErrReader(errors.New("reset"))), 2 * len(long), ErrBroken},
		"too long":    {strings.NewReader(long), len(long) - 1, ErrTooLarge},
	} {
		seen := &buffers{Reader: tt.r}
		b, err := readAll(seen, tt.limit, tt.limit+1, &BodyShare{})
		if !errors.Is(err, tt.err) || err == nil && string(b) != long {
			t.Errorf("%s: readAll returned %d bytes, %v", name, len(b), err)
		}
		if len(seen.all) < 2 {
			t.Fatalf("%s: the body was read into %d buffers, want at least 2", name, len(seen.all))
		}
		if err == nil {
			seen.all = seen.all[:len(seen.all)-1]
		}
		for _, b := range seen.all {
			if bytes.Contains(b, []byte(secret)) {
				t.Errorf("%s: a buffer of %d bytes still contains the secret", name, len(b))
			}
		}
	}
}

// buffers records the buffers into which it was read.
type buffers struct {
	io.Reader
	all [][]byte
}

func (b *buffers) Read(p []byte) (int, error) {
	if n := len(b.all); n == 0 || &b.all[n-1][len(b.all[n-1])-1] != &p[len(p)-1] { // both end where their buffer ends
		b.all = append(b.all, p)
	}
	return b.Reader.Read(p)
}
