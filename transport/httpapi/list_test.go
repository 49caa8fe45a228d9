package httpapi

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"atelier/transport/wire"
)

// onConn returns an exchange on a connection.
func onConn(t *testing.T) *Exchange {
	conn, other := net.Pipe()
	t.Cleanup(func() { _, _ = conn.Close(), other.Close() })
	ctx := &fasthttp.RequestCtx{}
	ctx.Init2(conn, nil, false)
	r := Alone(ctx, Endpoint{})
	r.api = &API{turns: newTurns(), Config: Config{Logger: slog.New(slog.DiscardHandler)}}
	return r
}

// A list contains all its values, whatever their number. A list too long to be encoded in advance
// is encoded while it is sent.
func TestAListContainsAllItsValues(t *testing.T) {
	value := strings.Repeat("x", 1000)
	for _, n := range []int{0, 1, 2, 1000, 1044, 1045, 1046, 5000} {
		all := slices.Repeat([]string{value}, n)
		want, err := wire.Codec.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		r := onConn(t)
		asked := 0
		err = JSONList(r, func(yield func(string) bool) {
			for _, v := range all {
				if asked++; !yield(v) {
					return
				}
			}
		})
		if before := asked; before > wholeList/1000+1 {
			t.Errorf("with %d values, %d were requested before the response began", n, before)
		}
		if err != nil || r.Response.IsBodyStream() != (len(want) > wholeList) || string(r.Response.Body()) != string(want) {
			t.Errorf("with %d values: %v, streamed: %v, %.80s", n, err, r.Response.IsBodyStream(), r.Response.Body())
		}
	}
}

// Only the values of the current piece are produced.
func TestALongListIsSentInPieces(t *testing.T) {
	r := onConn(t)
	asked := 0
	err := JSONList(r, func(yield func(string) bool) {
		for asked = 1; asked < 5000 && yield(strings.Repeat("x", 1000)); asked++ {
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(r.Response.BodyStream(), make([]byte, wholeList+10_000)); err != nil || asked > wholeList/1000+20 {
		t.Errorf("%v; %d values were requested for the first bytes", err, asked)
	}
	var out bytes.Buffer
	if err := r.Response.Write(bufio.NewWriter(&out)); err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(out.String(), "\r\n\r\n")
	if size, _, _ := strings.Cut(body, "\r\n"); size != strconv.FormatInt(piece, 16) {
		t.Errorf("the first chunk has %s bytes (hex), want one piece", size)
	}
}

// If a list fails before its response begins, JSONList returns the error. A later failure breaks
// the response off.
func TestAFailingListIsAnError(t *testing.T) {
	for name, fail := range map[string]func(yield func(any) bool){
		"a value cannot be encoded": func(yield func(any) bool) { yield(func() {}) },
		"the list panics":           func(func(any) bool) { panic("of this test") },
	} {
		t.Run(name, func(t *testing.T) { failingList(t, fail) })
	}
}

func failingList(t *testing.T, fail func(yield func(any) bool)) {
	for _, good := range []int{0, 5000} {
		r := onConn(t)
		stopped := false
		err := JSONList(r, func(yield func(any) bool) {
			defer func() { stopped = true }()
			for range good {
				if !yield(strings.Repeat("x", 1000)) {
					return
				}
			}
			fail(yield)
		})
		if good == 0 {
			if err == nil || !stopped || len(r.Response.Body()) > 0 {
				t.Errorf("a list that fails at once returned %v and the body %.80s", err, r.Response.Body())
			}
			continue
		}
		b, failed := io.ReadAll(r.Response.BodyStream())
		if err != nil || failed == nil || errors.Is(failed, io.EOF) || len(b) < wholeList || b[len(b)-1] == ']' {
			t.Errorf("JSONList returned %v, the body %v after %d bytes", err, failed, len(b))
		}
		if err := r.Response.CloseBodyStream(); err != nil || !stopped {
			t.Errorf("CloseBodyStream returned %v, the list stopped: %v", err, stopped)
		}
	}
}
