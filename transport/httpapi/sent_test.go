package httpapi

import (
	"bufio"
	"io"
	"strings"
	"testing"
)

// The cases are a complete response, a response whose client disconnects in the middle, responses
// that are replaced, and responses whose body is not sent.
func TestEachResponseIsCountedOnce(t *testing.T) {
	const content = "0123456789"
	for name, c := range map[string]struct {
		before func(r *Exchange) // before the response is made
		out    func(r *Exchange)
		want   int64
	}{
		"it is sent": {func(*Exchange) {}, func(r *Exchange) { _ = r.Response.Write(bufio.NewWriter(io.Discard)) }, 10},
		"the client leaves": {func(*Exchange) {}, func(r *Exchange) {
			_, _ = r.Response.BodyStream().Read(make([]byte, 4))
			_ = r.Response.CloseBodyStream()
		}, 4},
		"an error replaces it": {func(r *Exchange) { r.Response.SetBodyString("sorry") }, func(*Exchange) {}, 5},
		"it is not wanted":     {func(r *Exchange) { _ = r.Response.CloseBodyStream() }, func(*Exchange) {}, 0},
	} {
		r := onConn(t)
		counts := []int64{}
		made := CountSent(r.RequestCtx)
		r.Send(io.NopCloser(strings.NewReader(content)), -1)
		c.before(r)
		made(func(n int64) { counts = append(counts, n) })
		c.out(r)
		if len(counts) != 1 || counts[0] != c.want {
			t.Errorf("%s: the counts are %v, want only %d", name, counts, c.want)
		}
	}
}
