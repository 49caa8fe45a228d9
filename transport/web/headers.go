package web

import (
	"strings"

	"github.com/valyala/fasthttp"
)

// policyWith returns the Content-Security-Policy of pages and assets. It permits only the app's own
// content, linked images in codelabs, and frames with pages of the hosts in embed. The socket has
// the same origin. ancestors lists the origins that are allowed to frame this page.
func policyWith(embed, ancestors []string) string {
	within := "'none'"
	if len(ancestors) > 0 {
		within = strings.Join(ancestors, " ")
	}
	frames := ""
	for _, host := range embed {
		frames += " https://" + host
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: data: blob:; " +
		"media-src 'self' blob:; font-src 'self'; worker-src 'self'; connect-src 'self'; frame-src 'self'" + frames + "; base-uri 'none'; form-action 'self'; " +
		"frame-ancestors " + within + "; manifest-src 'self'"
}

// ofDiagram is the Content-Security-Policy of the frame that draws authors' diagrams (diagramPage).
// It permits scripts of this server, the necessary styles, and nothing else. In its sandbox the
// frame has no origin, regardless of the page that opens it.
const ofDiagram = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'self'; sandbox allow-scripts"

// permissions are the browser features for pages: sharing the screen, copying, full screen, and
// keeping a projector's screen awake. All other features are off.
const permissions = "display-capture=(self), clipboard-write=(self), fullscreen=(self), screen-wake-lock=(self), " +
	"accelerometer=(), autoplay=(), camera=(), clipboard-read=(), encrypted-media=(), gamepad=(), geolocation=(), " +
	"gyroscope=(), hid=(), idle-detection=(), local-fonts=(), magnetometer=(), microphone=(), midi=(), payment=(), " +
	"picture-in-picture=(), publickey-credentials-get=(), serial=(), storage-access=(), usb=(), " +
	"window-management=(), xr-spatial-tracking=()"

// transport makes browsers use only https for this host. It does not include other names of the
// domain, because they can belong to other servers.
const transport = "max-age=31536000"

// How long responses can be cached.
const (
	// forever is for assets, because their names change with their contents.
	forever = "public, max-age=31536000, immutable"
	// ask is for files that keep their name. They are cached, and revalidated each time.
	ask = "no-cache"
	// never is for error responses.
	never = "no-store"
)

// protect sets the headers that every page and asset has.
func (w *Handler) protect(h *fasthttp.ResponseHeader, policy string) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Permissions-Policy", permissions)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY") // answer changes or removes it where framing is permitted
	if w.cfg.HTTPS {
		h.Set("Strict-Transport-Security", transport)
	}
}
