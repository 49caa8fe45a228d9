package web

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/naming"
	"atelier/transport/httpapi"
	"atelier/transport/language"
	"atelier/transport/wire"
)

// Config configures a Handler.
type Config struct {
	// Build is the built app, with its index.html at the root; see Built. Required. Without an
	// index.html a plain page replaces the app.
	Build fs.FS
	// Certificate returns the content of an attendee's certificate; false if there is none with
	// this id. An error means that this cannot be determined now. Required.
	Certificate func(id string) (Certificate, bool, error)
	// Wait returns the time that the caller must wait before the server looks up another
	// certificate; 0 for no wait. It can be nil.
	Wait func(ctx *fasthttp.RequestCtx) time.Duration
	// HTTPS means that browsers reach the server over https, and that responses can restrict them
	// to https.
	HTTPS bool
	// FrameAncestors lists the origins that are allowed to show attendees' pages in frames.
	FrameAncestors []string
	// Prefix is the path at which browsers reach the server.
	Prefix httpapi.Prefix
	// Embed lists the hosts whose pages the app can show in frames, over https. The form *.host means
	// all subdomains.
	Embed []string
}

// Handler serves the app.
type Handler struct {
	cfg   Config
	app   bool // the build has the app
	shell shell
	// policy is the Content-Security-Policy of pages and files. within is the policy of pages that
	// other sites can show in frames.
	policy, within string
	pages          node
	files          map[string]*entity // by path, with the leading slash
	// missing is the page for addresses that do not exist.
	missing inLanguages
}

// page is the response for an address of the app.
type page struct {
	inLanguages
	verify bool // about a certificate, and rendered per request
}

// inLanguages is a page by its language.
type inLanguages map[*language.Texts]*entity

// asked returns the page in the requested language.
func (l inLanguages) asked(ctx *fasthttp.RequestCtx) *entity {
	return l[language.Asked(ctx.Request.Header.Peek("Accept-Language"))]
}

// New prepares all responses, except compressed forms and the pages of certificates, which are made
// when needed. It fails if the build cannot be read, or if its page does not meet the requirements
// in the package comment.
func New(cfg Config) (*Handler, error) {
	w := &Handler{cfg: cfg, policy: policyWith(cfg.Embed, nil), within: policyWith(cfg.Embed, cfg.FrameAncestors)}
	var err error
	if w.shell, w.files, w.app, err = load(cfg.Build, w.policy, cfg.Prefix); err != nil {
		return nil, err
	}
	block, nothing := needsScript, needsScript
	if !w.app {
		if w.shell, w.policy, err = plain(); err != nil {
			return nil, err
		}
		w.within = w.policy
		block, nothing = howToBuild(cfg.Prefix), nothingHere(cfg.Prefix)
	}
	type key struct {
		text   string
		framed bool
	}
	made := map[key]*entity{}
	prepare := func(title string, framed bool, block func(*language.Texts) string) inLanguages {
		in := inLanguages{}
		for _, t := range language.All {
			body := w.shell.fill(t, t.Titles[title], block(t))
			e := made[key{string(body), framed}]
			if e == nil {
				e = w.page(framed)
				e.set(wire.Identity, body)
				// For a page, one coding that every browser supports is enough. A body that is
				// shorter than a packet is not compressed.
				if len(body) >= wire.SmallestCompressed {
					e.zip(func() ([]byte, error) { return body, nil })
				}
				made[key{string(body), framed}] = e
			}
			in[t] = e
		}
		return in
	}
	for _, r := range routes {
		p := &page{verify: r.verify}
		if !r.verify {
			p.inLanguages = prepare(r.title, r.framed, block)
		}
		w.pages.add(r.pattern, p)
	}
	w.missing = prepare(notFound, false, nothing)
	return w, nil
}

// page returns the page of an address, without its text. framed means that the sites in
// FrameAncestors can show the page in frames.
func (w *Handler) page(framed bool) *entity {
	e := &entity{kind: kinds[".html"], cache: ask, policy: w.policy, languages: true}
	if framed && w.within != w.policy {
		e.policy, e.frames = w.within, anyFrame
	}
	return e
}

// App reports whether there is an app to serve.
func (w *Handler) App() bool { return w.app }

// Handle responds to any request. It reads no body.
func (w *Handler) Handle(ctx *fasthttp.RequestCtx) {
	// The path is used as sent. Addresses of the app need no escaping, and an undecoded path has
	// only one meaning.
	path := ctx.URI().PathOriginal()
	ctx.Response.Header.Set("X-Request-Id", naming.NewID())
	file := w.files[string(path)] // no allocation
	var p *page
	if file == nil {
		p = w.pages.find(string(path))
	}
	switch {
	case !ctx.IsGet() && !ctx.IsHead():
		w.refuse(ctx, file != nil || p != nil)
	case file != nil:
		w.answer(ctx, file, fasthttp.StatusOK)
	case p != nil && p.verify:
		w.verify(ctx, string(path[bytes.LastIndexByte(path, '/')+1:]))
	case p != nil:
		w.answer(ctx, p.asked(ctx), fasthttp.StatusOK)
	case strings.HasPrefix(string(path), assets):
		// A client that requested a script cannot use a page, so the response is plain text. It is
		// not cached, because the file can exist again after the next build.
		w.protect(&ctx.Response.Header, w.policy)
		ctx.Response.Header.Set("Cache-Control", never)
		ctx.SetStatusCode(fasthttp.StatusNotFound)
		ctx.SetContentType(kinds[".txt"])
		ctx.SetBodyString("there is no such file\n")
	default:
		w.answer(ctx, w.missing.asked(ctx), fasthttp.StatusNotFound)
	}
}

// refuse responds to a request with another method than GET or HEAD: 405 for a known address, and
// otherwise 404. Browsers do not send such requests.
func (w *Handler) refuse(ctx *fasthttp.RequestCtx, known bool) {
	status, text := fasthttp.StatusNotFound, "not found"
	if known {
		status, text = fasthttp.StatusMethodNotAllowed, "this method is not allowed here"
		ctx.Response.Header.Set("Allow", "GET, HEAD")
	}
	w.protect(&ctx.Response.Header, w.policy)
	ctx.Response.Header.Set("Cache-Control", never)
	ctx.SetStatusCode(status)
	ctx.SetContentType("application/json")
	ctx.SetBodyString(fmt.Sprintf("{\"error\":%q}", text))
}
