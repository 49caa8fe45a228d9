package httpapi

import (
	"net/url"
	"strings"

	"github.com/valyala/fasthttp"
)

// Prefix is the path at which browsers reach the server: "/lab" for https://example.org/lab/. "" is
// the root of the host. Responses contain the prefix only in absolute links, redirects and cookie
// paths.
type Prefix string

// PrefixOf returns the prefix in a server's public URL, or "" if the URL is malformed.
func PrefixOf(publicURL string) Prefix {
	u, err := url.Parse(publicURL)
	if err != nil {
		return ""
	}
	return Prefix(strings.TrimRight(u.EscapedPath(), "/"))
}

// prefixed marks a request whose prefix was removed.
type prefixed struct{}

// Strip removes the prefix from the path of a request. A path without the prefix stays unchanged,
// because some proxies remove it. A request is stripped at most once.
func (p Prefix) Strip(ctx *fasthttp.RequestCtx) {
	if p == "" || ctx.UserValue(prefixed{}) != nil {
		return
	}
	if rest, ok := p.cut(string(ctx.URI().PathOriginal())); ok {
		ctx.URI().SetPath(rest)
		ctx.SetUserValue(prefixed{}, true)
	}
}

// cut returns the path without the prefix. If the path does not have the prefix, cut returns it
// unchanged, and false.
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

// CutPrefix returns the path without the prefix, if it has the prefix.
func (p Prefix) CutPrefix(path string) string {
	rest, _ := p.cut(path)
	return rest
}

// At returns the path at which browsers reach a path of this server.
func (p Prefix) At(path string) string { return string(p) + path }

// Root returns the path of cookies for the whole server.
func (p Prefix) Root() string {
	if p == "" {
		return "/"
	}
	return string(p)
}
