package web

import (
	"bytes"
	zip "compress/gzip"
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

// Config of a Handler.
type Config struct {
	// Build is the built app, with its index.html at the root; see Built.
	// Required. Without an index.html there is a plain page instead of the app.
	Build fs.FS
	// Certificate returns the content of an attendee's certificate; false if there is none with
	// this id. An error means that this cannot be determined now. Required.
	Certificate func(id string) (Certificate, bool, error)
	// Wait says how long the caller must wait before it may ask for another
	// certificate; 0 for not at all. May be nil.
	Wait func(ctx *fasthttp.RequestCtx) time.Duration
	// HTTPS means that browsers reach the server by https, and that answers can restrict them to
	// it.
	HTTPS bool
	// FrameAncestors are the origins whose pages may show those of attendees in frames.
	FrameAncestors []string
	// Prefix is the path at which browsers reach the server.
	Prefix httpapi.Prefix
	// Embed are the hosts whose pages the app may show in frames, by https; *.host is all
	// below one.
	Embed []string
}

// Handler serves the app.
type Handler struct {
	cfg   Config
	app   bool // there is one
	shell shell
	// policy is of pages and files, and within of the pages that others may show in frames.
	policy, within string
	pages          node
	files          map[string]*entity // by their paths, with the slash
	// missing is the page for addresses that do not exist.
	missing inLanguages
}

// page is the answer of an address of the app.
type page struct {
	inLanguages
	verify bool // tells of a certificate, and is made for each request
}

// inLanguages is a page by its language.
type inLanguages map[*language.Texts]*entity

// asked returns the page in the language that a request asks for.
func (l inLanguages) asked(ctx *fasthttp.RequestCtx) *entity {
	return l[language.Asked(ctx.Request.Header.Peek("Accept-Language"))]
}

// New prepares everything that will be served. It fails when the build cannot
// be read, or when its page is not as the server needs it (see the package).
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
	z, err := zip.NewWriterLevel(nil, zip.BestCompression)
	if err != nil {
		return nil, err
	}
	type key struct {
		text   string
		framed bool
	}
	made := map[key]*entity{}
	prepare := func(title string, framed bool, block func(*language.Texts) string) (inLanguages, error) {
		in := inLanguages{}
		for _, t := range language.All {
			body := w.shell.fill(t, t.Titles[title], block(t))
			e := made[key{string(body), framed}]
			if e == nil {
				e = w.page(framed)
				e.set(wire.Identity, body)
				if err := e.compress(z); err != nil {
					return nil, err
				}
				made[key{string(body), framed}] = e
			}
			in[t] = e
		}
		return in, nil
	}
	for _, r := range routes {
		p := &page{verify: r.verify}
		if !r.verify {
			if p.inLanguages, err = prepare(r.title, r.framed, block); err != nil {
				return nil, fmt.Errorf("page %s: %w", r.pattern, err)
			}
		}
		w.pages.add(r.pattern, p)
	}
	if w.missing, err = prepare(notFound, false, nothing); err != nil {
		return nil, fmt.Errorf("page for unknown addresses: %w", err)
	}
	return w, nil
}

// page is the page of an address, without its text; framed says that others may show it in
// frames, where there are any.
func (w *Handler) page(framed bool) *entity {
	e := &entity{kind: kinds[".html"], cache: ask, policy: w.policy, languages: true}
	if framed && w.within != w.policy {
		e.policy, e.frames = w.within, anyFrame
	}
	return e
}

// App reports whether there is an app to serve.
func (w *Handler) App() bool { return w.app }

// Handle answers any request. It reads no body.
func (w *Handler) Handle(ctx *fasthttp.RequestCtx) {
	// The path is read as sent. Addresses of the app need no escaping, and a path that is not
	// decoded has only one meaning.
	path := ctx.URI().PathOriginal()
	ctx.Response.Header.Set("X-Request-Id", naming.NewID())
	file := w.files[string(path)] // no copy
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
		// A page would not help who asked for a script. It may be there again
		// after the next build, so nobody keeps this.
		w.protect(&ctx.Response.Header, w.policy)
		ctx.Response.Header.Set("Cache-Control", never)
		ctx.SetStatusCode(fasthttp.StatusNotFound)
		ctx.SetContentType(kinds[".txt"])
		ctx.SetBodyString("there is no such file\n")
	default:
		w.answer(ctx, w.missing.asked(ctx), fasthttp.StatusNotFound)
	}
}

// refuse answers other methods than GET and HEAD, which browsers do not use
// here.
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
