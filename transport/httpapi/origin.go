package httpapi

import (
	"net/url"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// Origins lists the origins with pages that may send requests. With the zero value, only the Host
// header states the server's own origin.
type Origins struct {
	// PublicURL is the address at which browsers reach the server; "" to use the Host header only.
	PublicURL string
	// Allowed are additional origins.
	Allowed []string
}

// Prefix is the path of PublicURL.
func (o Origins) Prefix() Prefix { return PrefixOf(o.PublicURL) }

// Own reports whether a request states no other origin, because it was sent by a page of this
// server or not by a browser.
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

// Allows reports whether a request is Own or its origin is in the list.
func (o Origins) Allows(ctx *fasthttp.RequestCtx) bool {
	return o.Own(ctx) || slices.Contains(o.Allowed, string(ctx.Request.Header.Peek("Origin")))
}
