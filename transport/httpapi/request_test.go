package httpapi

import (
	"bufio"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
	"pgregory.net/rapid"
)

// For any Cookie header, the result is the same as the library's.
func TestCookiesAreReadAsByTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"a=", "a=\"x\"", "a=\"xx", "A=", ";\ta=x", "a", "b", "=", ";", "; ", " ", "\"", "\\", "x"})
		line := rapid.Map(rapid.SliceOfN(piece, 0, 12), func(p []string) string { return "Cookie: " + strings.Join(p, "") + "\r\n" })
		head := "GET / HTTP/1.1\r\nHost: x\r\n" + strings.Join(rapid.SliceOfN(line, 0, 3).Draw(t, "lines"), "") + "\r\n"
		var ours, theirs fasthttp.RequestCtx
		for _, ctx := range []*fasthttp.RequestCtx{&ours, &theirs} {
			if err := ctx.Request.Header.Read(bufio.NewReader(strings.NewReader(head))); err != nil {
				t.Skip(err)
			}
		}
		r := Alone(&ours, Endpoint{})
		for _, name := range []string{"a", "b"} {
			if got, want := string(r.Cookie(name)), string(theirs.Request.Header.Cookie(name)); got != want {
				t.Errorf("the cookie %s of %q is %q, the library reads %q", name, head, got, want)
			}
		}
	})
}
