package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"sync"

	"github.com/valyala/fasthttp"

	"atelier/transport/httpapi"
	"atelier/transport/wire"
)

// entity is a response body in its available codings. It is immutable and safe for concurrent use.
type entity struct {
	kind   string // media type
	cache  string // Cache-Control
	policy string // Content-Security-Policy
	frames frames
	// shared allows documents with an opaque origin, such as sandboxed frames, to load the entity
	// as a module.
	shared   bool
	variants [wire.Count]variant
	// made contains functions that produce a variant at the first request for it.
	made [wire.Count]func() (variant, error)
	// varies means that the entity has several variants. languages means that its address has an
	// entity per language.
	varies, languages bool
}

// frames states which pages can frame an entity. It repeats frame-ancestors of the policy for
// browsers that support only X-Frame-Options, which cannot name origins.
type frames uint8

const (
	noFrame  frames = iota
	ownFrame        // frames of the app
	anyFrame        // as in the policy
)

// variant is an entity in one coding. If the tag is empty, there is no such variant, or it is in
// made.
type variant struct {
	body []byte
	tag  string // entity tag, with its quotes
}

// set sets the body for a coding.
func (e *entity) set(c wire.Coding, body []byte) {
	e.varies = e.varies || c != wire.Identity
	e.variants[c] = tagged(body)
}

// tagged returns a body with a tag derived from its bytes, so that each coding has a different
// tag. RFC 9110, 8.8.3.3, requires this.
func tagged(body []byte) variant {
	sum := sha256.Sum256(body)
	return variant{body: body, tag: `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
}

// pack sets a body that is stored only in Brotli, which nearly all browsers request over https.
// Over plain http they request gzip, and some programs request no compression. These two variants
// are produced at the first request for them, and kept.
func (e *entity) pack(coded []byte) {
	e.set(wire.Brotli, coded)
	plain := func() ([]byte, error) { return wire.Expand(coded) }
	e.made[wire.Identity] = sync.OnceValues(func() (variant, error) {
		body, err := plain()
		return tagged(body), err
	})
	e.zip(plain)
}

// zip adds a gzip variant, which is produced at the first request for it, and kept.
func (e *entity) zip(plain func() ([]byte, error)) {
	e.varies = true
	e.made[wire.Gzip] = sync.OnceValues(func() (variant, error) {
		body, err := plain()
		if err != nil {
			return variant{}, err
		}
		var b bytes.Buffer
		z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			return variant{}, err
		}
		if _, err := z.Write(body); err != nil {
			return variant{}, err
		}
		err = z.Close()
		return tagged(b.Bytes()), err
	})
}

// has reports whether a variant in a coding exists.
func (e *entity) has(c wire.Coding) bool { return e.variants[c].tag != "" || e.made[c] != nil }

// variant returns the entity's variant in a coding that it has.
func (e *entity) variant(c wire.Coding) (variant, error) {
	if e.made[c] != nil {
		return e.made[c]()
	}
	return e.variants[c], nil
}

// answer sends the entity with a status, or 304 if the client has it. Conditions apply only if the
// answer would be a success (RFC 9110, 13.2.1).
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
		c = wire.ChooseCoding(ctx.Request.Header.Peek("Accept-Encoding"), e.has)
	}
	v, err := e.variant(c)
	if err != nil { // the file was already damaged when it was embedded
		h.Set("Cache-Control", never)
		ctx.SetStatusCode(fasthttp.StatusInternalServerError)
		return
	}
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
