package httpapi

import (
	"net/url"
	"strings"

	"github.com/valyala/fasthttp"
)

// Prefix is the path at which browsers reach the server: "/lab" for
// https://example.org/lab/. "" is the root of the host. Answers do not contain it, except
// absolute addresses, redirects and the paths of cookies.
type Prefix string

// PrefixOf returns the prefix in the address of a server.
func PrefixOf(publicURL string) Prefix {
	u, err := url.Parse(publicURL)
	if err != nil {
		return ""
	}
	return Prefix(strings.TrimRight(u.EscapedPath(), "/"))
}

// prefixed marks a request whose prefix is off.
type prefixed struct{}

// Strip takes the prefix off the path of a request. A proxy that has done so leaves a path
// without one, which stays as it is: both are answered. A request is stripped once.
func (p Prefix) Strip(ctx *fasthttp.RequestCtx) {
	if p == "" || ctx.UserValue(prefixed{}) != nil {
		return
	}
	if rest, ok := p.cut(string(ctx.URI().PathOriginal())); ok {
		ctx.URI().SetPath(rest)
		ctx.SetUserValue(prefixed{}, true)
	}
}

// cut is the path without the prefix; false if it has none.
func (p Prefix) cut(path string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, string(p))
	if !ok || rest != "" && rest[0] != '/' {
		return path, false
	}
	if rest == "" {
		rest = "/"
	}
	return rest, true
}

// CutPrefix is the path of a request line, without the prefix.
func (p Prefix) CutPrefix(path string) string {
	rest, _ := p.cut(path)
	return rest
}

// At is a path of this server as browsers ask for it.
func (p Prefix) At(path string) string { return string(p) + path }

// Root is the path of cookies that are for all of the server.
func (p Prefix) Root() string {
	if p == "" {
		return "/"
	}
	return string(p)
}
