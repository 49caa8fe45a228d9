package web

import (
	"html"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/transport/language"
	"atelier/transport/wire"
)

// Certificate is the content of a certificate.
type Certificate struct {
	// Attendee, Codelab and Author are people's own texts. Author is optional.
	Attendee, Codelab, Author string
	CompletedAt               time.Time
}

// verify responds with the page of a certificate. The status states whether the certificate is
// valid, and so does the page, for browsers without JavaScript.
func (w *Handler) verify(ctx *fasthttp.RequestCtx, id string) {
	t := language.Asked(ctx.Request.Header.Peek("Accept-Language"))
	status, title, block := w.verdict(ctx, t, id)
	e := w.page(true)
	e.set(wire.Identity, w.shell.fill(t, title, block))
	w.answer(ctx, e, status)
}

// verdict returns the status of the page for a certificate, its title, and its text as HTML. The
// status is 200 for a valid certificate, 404 for an invalid one, 429 if the caller must wait, and
// 503 if the certificate cannot be looked up.
func (w *Handler) verdict(ctx *fasthttp.RequestCtx, t *language.Texts, id string) (status int, title, block string) {
	v := &t.Verify
	only := func(m language.Message) (title, block string) { return m.Title, "<main>" + messageHTML(m) + "</main>" }
	if w.cfg.Wait != nil {
		if wait := w.cfg.Wait(ctx); wait > 0 {
			ctx.Response.Header.Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
			title, block = only(v.Often)
			return fasthttp.StatusTooManyRequests, title, block
		}
	}
	c, ok, err := w.cfg.Certificate(id)
	switch {
	case err != nil:
		ctx.Response.Header.Set("Retry-After", "2")
		title, block = only(v.Unknown)
		return fasthttp.StatusServiceUnavailable, title, block
	case !ok:
		text := language.Fill(html.EscapeString(v.Invalid.Text), "number", "<code>"+html.EscapeString(id)+"</code>")
		return fasthttp.StatusNotFound, v.Invalid.Title, "<main><h1>" + html.EscapeString(v.Invalid.Title) + "</h1><p>" + text + "</p></main>"
	}
	var b strings.Builder
	b.WriteString("<main><h1>" + html.EscapeString(v.Valid) + "</h1><dl>")
	row := func(name, value string) {
		b.WriteString("<dt>" + html.EscapeString(name) + `</dt><dd dir="auto">` + value + "</dd>")
	}
	row(v.Name, html.EscapeString(c.Attendee))
	row(v.Codelab, html.EscapeString(c.Codelab))
	if c.Author != "" {
		row(v.Author, html.EscapeString(c.Author))
	}
	row(v.Done, `<time datetime="`+c.CompletedAt.UTC().Format(time.RFC3339)+`">`+html.EscapeString(t.Day(c.CompletedAt))+"</time>")
	row(v.Number, "<code>"+html.EscapeString(id)+"</code>")
	b.WriteString("</dl></main>")
	return fasthttp.StatusOK, v.Valid, b.String()
}
