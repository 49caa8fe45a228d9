//go:build linux

package tokens

import (
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"
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

// What would be a broken promise is told, each for itself.
func TestBrokenPromisesAreTold(t *testing.T) {
	if got := faults(0, 0, 0); len(got) > 0 {
		t.Errorf("nothing is wrong, and %q", got)
	}
	if got := faults(1, 2, 3); len(got) != 3 || !strings.HasPrefix(got[0], "1 tokens gave") || !strings.HasPrefix(got[2], "3 credentials") {
		t.Errorf("%q", got)
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
