//go:build linux

package tokens

import (
	"bytes"
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"

	"atelier/bench/latency"
	"atelier/bench/report"
)

func TestEveryPairHasACardOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, pair := range []int64{0, 1, 9, 10, 11, 99, 1_000_000, 99_999_999_999_999} {
		n := string(appendNumber(nil, pair))
		if len(n) != 16 || seen[n] {
			t.Errorf("%s", n)
		}
		seen[n] = true
		sum := 0
		for i := range n {
			d := int(n[15-i] - '0')
			if i%2 == 1 {
				if d *= 2; d > 9 {
					d -= 9
				}
			}
			sum += d
		}
		if sum%10 != 0 {
			t.Errorf("%s fails its check digit", n)
		}
	}
	if !json.Valid(credential(nil, 7)) {
		t.Error("no JSON")
	}
}

func TestTheShareOfContestedTokensIsEven(t *testing.T) {
	for _, share := range []float64{0, 0.01, 0.5, 1} {
		r := &run{cfg: &Config{Reuse: share}}
		n := 0
		for pair := range int64(1000) {
			if r.contested(pair) {
				n++
			}
		}
		if n != int(1000*share) {
			t.Errorf("%v: %d of 1000", share, n)
		}
	}
}

func TestTheScheduleIsOpen(t *testing.T) {
	s := &schedule{rate: 100, start: time.Second, until: 2 * time.Second}
	for i := range int64(100) {
		pair, due, ok := s.take(time.Hour) // however late
		if pair != i || due != time.Second+time.Duration(i)*10*time.Millisecond || !ok {
			t.Fatal(pair, due, ok)
		}
	}
	if _, _, ok := s.take(0); ok {
		t.Error("it never ends")
	}
	s = &schedule{until: time.Second}
	if _, due, ok := s.take(7); due != 7 || !ok {
		t.Error("without a rate everything is due at once")
	}
}

// What would be a broken promise fails the run, whatever else is fine.
func TestVerdicts(t *testing.T) {
	fine := func() *Result {
		return &Result{PairsPerSecond: 100, Operations: []report.Operation{{Name: "tokenize"}, {Name: "detokenize"}, {Name: "pair"}}}
	}
	limits := &Thresholds{MinPairs: 50, MaxP99: time.Second, MaxLag: time.Second, MaxRSS: 1 << 30}
	for name, c := range map[string]struct {
		change func(*Result)
		code   int
	}{
		"fine":        {func(*Result) {}, report.ExitPassed},
		"doubled":     {func(r *Result) { r.Doubled = 1 }, report.ExitFailed},
		"denied":      {func(r *Result) { r.Denied = 1 }, report.ExitFailed},
		"wrong":       {func(r *Result) { r.Wrong = 1 }, report.ExitFailed},
		"refused":     {func(r *Result) { r.Operations[0].Refused = 1 }, report.ExitFailed},
		"no answer":   {func(r *Result) { r.Operations[1].Unanswered = 1 }, report.ExitFailed},
		"slow":        {func(r *Result) { r.Operations[1].Latency = latency.Summary{P99: 2000} }, report.ExitFailed},
		"few":         {func(r *Result) { r.PairsPerSecond = 10 }, report.ExitFailed},
		"large":       {func(r *Result) { r.Crowd = &Crowd{RSS: 2 << 30} }, report.ExitFailed},
		"lagging":     {func(r *Result) { r.Lag.P99 = 2000 }, report.ExitInvalid},
		"interrupted": {func(r *Result) { r.Interrupted = true }, report.ExitInterrupted},
	} {
		r := fine()
		c.change(r)
		r.Judge(limits)
		if got := r.ExitCode(); got != c.code {
			t.Errorf("%s: %d, want %d: %v %v", name, got, c.code, r.Failures, r.Invalid)
		}
		var b bytes.Buffer
		if err := r.Text(&b); err != nil || strings.Contains(b.String(), "PASS") != (c.code == report.ExitPassed) {
			t.Errorf("%s:\n%s", name, b.String())
		}
	}
}

// The connection reads what a server sends, and gives up on anything else.
func TestAnswers(t *testing.T) {
	for text, want := range map[string]int{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: y\r\n\r\nhi":      200,
		"HTTP/1.1 204 No Content\r\n\r\n":                             204,
		"HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n":              410,
		"HTTP/1.1 abc\r\n\r\n":                                        0,
		"\r\n":                                                        0,
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n":               0,
		"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n": 0,
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi":              0,
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			_, _ = c.Read(make([]byte, 4096))
			_, _ = c.Write([]byte(text))
		}()
		c := conn{address: l.Addr().String(), host: "workshop.example"}
		status, _, err := c.post("/x", "secret", []byte("{}"))
		c.close()
		<-done
		_ = l.Close()
		if status != want || (err == nil) != (want != 0) {
			t.Errorf("%q: %d, %v", text, status, err)
		}
	}
}
