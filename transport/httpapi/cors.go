package httpapi

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/valyala/fasthttp"
	"golang.org/x/net/publicsuffix"
)

// The headers that other origins' pages may send and read, in addition to the headers that browsers
// always permit (Fetch, CORS protocol).
const (
	corsRequestHeaders  = "Accept, Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID, Range, X-CSRF-Token"
	corsResponseHeaders = "Age, Content-Disposition, Date, ETag, Location, Retry-After, X-Codelab-Seq, X-CSRF-Token, X-Request-Id"
	corsMaxAge          = "600" // seconds for which a browser may cache the result
)

// sharing describes the parts of a response that another origin's page may read. The zero value
// means that the page may read nothing.
type sharing struct {
	origin      string
	credentials bool
}

// sharing determines the parts that the requesting page may read. Only pages of the same site may
// use cookies. Browsers do not send this server's cookies from other sites, and other sites must
// not act with them. Pages of other sites authenticate with a bearer token.
func (o Origins) sharing(ctx *fasthttp.RequestCtx) sharing {
	origin := string(ctx.Request.Header.Peek("Origin"))
	if origin == "" || o.Own(ctx) || !o.Allows(ctx) {
		return sharing{}
	}
	return sharing{origin, o.sameSite(ctx, origin)}
}

// sameSite reports whether an origin and the server have the same registrable domain and scheme
// (HTML, schemelessly same site; scheme as for SameSite cookies).
func (o Origins) sameSite(ctx *fasthttp.RequestCtx, origin string) bool {
	scheme, host := "http", string(ctx.Host())
	if ctx.IsTLS() {
		scheme = "https"
	}
	if own, err := url.Parse(o.PublicURL); err == nil && own.Host != "" {
		scheme, host = own.Scheme, own.Host
	}
	a, err := url.Parse(origin)
	b, err2 := url.Parse("//" + host)
	return err == nil && err2 == nil && a.Scheme == scheme && site(a.Hostname()) == site(b.Hostname())
}

// site returns the registrable domain of a host, or the host itself if it has none.
func site(host string) string {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if _, err := netip.ParseAddr(host); err == nil {
		return host
	}
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return domain
	}
	return host
}

// setHeaders sets the CORS headers that let the page read a response.
func (s sharing) setHeaders(set func(key, value string)) {
	if s.origin == "" {
		return
	}
	set("Access-Control-Allow-Origin", s.origin)
	set("Access-Control-Expose-Headers", corsResponseHeaders)
	if s.credentials {
		set("Access-Control-Allow-Credentials", "true")
	}
}

// preflight responds to a CORS preflight request. allow contains the path's methods, separated by
// commas. preflight returns false if the request is not a preflight or the origin is not allowed.
func (r *Exchange) preflight(allow string) bool {
	if string(r.Method()) != fasthttp.MethodOptions || r.sharing.origin == "" || len(r.Request.Header.Peek("Access-Control-Request-Method")) == 0 {
		return false
	}
	h := &r.Response.Header
	h.Set("Access-Control-Allow-Methods", allow)
	h.Set("Access-Control-Allow-Headers", corsRequestHeaders)
	h.Set("Access-Control-Max-Age", corsMaxAge)
	r.SetStatusCode(fasthttp.StatusNoContent)
	return true
}
