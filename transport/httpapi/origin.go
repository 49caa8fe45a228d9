package httpapi

import (
	"net/url"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// Origins says which pages of browsers may ask for what. The zero value knows the
// server's own by the Host header alone.
type Origins struct {
	// PublicURL is the address at which browsers reach the server; "" if only the Host header
	// tells.
	PublicURL string
	// Allowed are origins in addition to the server's own.
	Allowed []string
}

// Prefix is the path of PublicURL.
func (o Origins) Prefix() Prefix { return PrefixOf(o.PublicURL) }

// Own reports whether a request comes from a page of this server, or from no browser: it
// names no other origin.
func (o Origins) Own(ctx *fasthttp.RequestCtx) bool {
	origin := string(ctx.Request.Header.Peek("Origin"))
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	if strings.EqualFold(u.Host, string(ctx.Host())) {
		return true
	}
	own, err := url.Parse(o.PublicURL)
	return err == nil && own.Host != "" && strings.EqualFold(u.Host, own.Host) && u.Scheme == own.Scheme
}

// Allows is Own, or says that the origin is in the list.
func (o Origins) Allows(ctx *fasthttp.RequestCtx) bool {
	return o.Own(ctx) || slices.Contains(o.Allowed, string(ctx.Request.Header.Peek("Origin")))
}
