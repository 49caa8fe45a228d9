package web

import (
	"html"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/transport/wire"
)

// Certificate is what a certificate says.
type Certificate struct {
	// Attendee, Codelab and Author are texts as people wrote them; Author may be
	// empty.
	Attendee, Codelab, Author string
	CompletedAt               time.Time
}

// verify answers whether a certificate is valid: in the page itself, for whoever
// has no JavaScript, and by the status.
func (w *Handler) verify(ctx *fasthttp.RequestCtx, id string) {
	status, title, block := w.verdict(ctx, id)
	e := entity{kind: kinds[".html"], cache: ask, policy: w.policy}
	e.set(wire.Identity, w.shell.fill(title, block))
	w.answer(ctx, &e, status)
}

// verdict returns the status of the page for a certificate, its title, and its
// text as HTML.
func (w *Handler) verdict(ctx *fasthttp.RequestCtx, id string) (status int, title, block string) {
	if w.cfg.Wait != nil {
		if wait := w.cfg.Wait(ctx); wait > 0 {
			ctx.Response.Header.Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
			return fasthttp.StatusTooManyRequests, "Too many requests",
				`<main><h1>Too many requests</h1><p>Load this page again in a moment.</p></main>`
		}
	}
	c, ok, err := w.cfg.Certificate(id)
	switch {
	case err != nil:
		return fasthttp.StatusServiceUnavailable, "Not checked",
			`<main><h1>This certificate cannot be checked now</h1><p>Load this page again in a moment.</p></main>`
	case !ok:
		return fasthttp.StatusNotFound, "Not a valid certificate",
			`<main><h1>Not a valid certificate</h1><p>This server knows no certificate with the number ` +
				`<code>` + html.EscapeString(id) + `</code>.</p></main>`
	}
	block = `<main><h1>Valid certificate</h1><dl><dt>Name</dt><dd>` + html.EscapeString(c.Attendee) +
		`</dd><dt>Codelab</dt><dd>` + html.EscapeString(c.Codelab) + `</dd>`
	if c.Author != "" {
		block += `<dt>Author</dt><dd>` + html.EscapeString(c.Author) + `</dd>`
	}
	day := c.CompletedAt.UTC()
	block += `<dt>Completed</dt><dd><time datetime="` + day.Format(time.RFC3339) + `">` + day.Format("2 January 2006") + `</time></dd>` +
		`<dt>Number</dt><dd><code>` + html.EscapeString(id) + `</code></dd></dl></main>`
	return fasthttp.StatusOK, "Valid certificate", block
}
