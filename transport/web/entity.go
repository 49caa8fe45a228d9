package web

import (
	"bytes"
	zip "compress/gzip"
	"crypto/sha256"
	"encoding/base64"

	"github.com/valyala/fasthttp"

	"atelier/transport/httpapi"
	"atelier/transport/wire"
)

// entity is something to answer with, in the codings that there are of it.
// Immutable.
type entity struct {
	kind   string // media type
	cache  string // how long it may be kept
	policy string // its Content-Security-Policy
	frames frames
	// shared says that a document without an origin may load it as a module.
	shared   bool
	variants [wire.Count]variant
	// varies says that there is more than one variant, and languages that there
	// is one for each language.
	varies, languages bool
}

// frames says in which frames something may be shown, beside its policy: browsers that know
// no frame-ancestors go by X-Frame-Options, which can name no origins.
type frames uint8

const (
	noFrame  frames = iota
	ownFrame        // of the app
	anyFrame        // as the policy says
)

// variant is an entity in one coding. One without a tag does not exist.
type variant struct {
	body []byte
	tag  string // entity tag, with its quotes
}

// set enters the body in a coding. The tag is that of these bytes, so each
// coding has another, as it must (RFC 9110, 8.8.3.3).
func (e *entity) set(c wire.Coding, body []byte) {
	sum := sha256.Sum256(body)
	e.varies = e.varies || c != wire.Identity
	e.variants[c] = variant{body: body, tag: `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
}

// compress adds a coding to a body that is made at the start; one that every
// browser reads is enough for a page. What is shorter than a packet stays as it
// is. A writer is worth more than a page: all pages share one.
func (e *entity) compress(z *zip.Writer) error {
	plain := e.variants[wire.Identity].body
	if len(plain) < wire.SmallestCompressed {
		return nil
	}
	var b bytes.Buffer
	z.Reset(&b)
	if _, err := z.Write(plain); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	e.set(wire.Gzip, b.Bytes())
	return nil
}

// answer sends the entity with a status, or 304 to clients that have it. Conditions
// count only where the answer would be a success (RFC 9110, 13.2.1).
func (w *Handler) answer(ctx *fasthttp.RequestCtx, e *entity, status int) {
	h := &ctx.Response.Header
	w.protect(h, e.policy)
	switch e.frames {
	case ownFrame:
		h.Set("X-Frame-Options", "SAMEORIGIN")
	case anyFrame:
		h.Del("X-Frame-Options")
	}
	if e.shared {
		h.Set("Access-Control-Allow-Origin", "*")
	}
	h.Set("Cache-Control", e.cache)
	c := wire.Identity
	if e.languages {
		h.Set("Vary", "Accept-Language, Accept-Encoding")
	}
	if e.varies {
		if !e.languages {
			h.Set("Vary", "Accept-Encoding")
		}
		c = wire.ChooseCoding(ctx.Request.Header.Peek("Accept-Encoding"), func(c wire.Coding) bool { return e.variants[c].tag != "" })
	}
	v := &e.variants[c]
	if status == fasthttp.StatusOK {
		h.Set("ETag", v.tag)
		if httpapi.Known(&ctx.Request.Header, v.tag[1:len(v.tag)-1]) {
			ctx.SetStatusCode(fasthttp.StatusNotModified)
			return
		}
	}
	ctx.SetStatusCode(status)
	ctx.SetContentType(e.kind)
	if c != wire.Identity {
		h.Set("Content-Encoding", c.String())
	}
	ctx.Response.SetBodyRaw(v.body)
}
