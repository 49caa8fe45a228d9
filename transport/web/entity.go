package web

import (
	"bytes"
	zip "compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"sync"

	"github.com/valyala/fasthttp"

	"atelier/transport/httpapi"
	"atelier/transport/wire"
)

// entity is something to answer with, in the codings that there are of it.
// Immutable; safe for concurrent use.
type entity struct {
	kind   string // media type
	cache  string // how long it may be kept
	policy string // its Content-Security-Policy
	frames frames
	// shared means that a document without an origin may load it as a module.
	shared   bool
	variants [wire.Count]variant
	// made are the variants that are made when somebody asks first.
	made [wire.Count]func() (variant, error)
	// varies means that there is more than one variant, and languages that there
	// is one for each language.
	varies, languages bool
}

// frames says in which frames something may be shown, in addition to its policy: browsers that know
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

// set enters the body in a coding.
func (e *entity) set(c wire.Coding, body []byte) {
	e.varies = e.varies || c != wire.Identity
	e.variants[c] = tagged(body)
}

// tagged is a body with the tag of its bytes, so each coding has another, as it must
// (RFC 9110, 8.8.3.3).
func tagged(body []byte) variant {
	sum := sha256.Sum256(body)
	return variant{body: body, tag: `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
}

// pack enters a body that is there in Brotli alone. Nearly all browsers ask for that; over
// http they ask for gzip, and some programs for neither. These are made once, when they are
// asked for, and kept.
func (e *entity) pack(coded []byte) {
	e.set(wire.Brotli, coded)
	e.made[wire.Identity] = sync.OnceValues(func() (variant, error) {
		plain, err := wire.Expand(coded)
		return tagged(plain), err
	})
	e.made[wire.Gzip] = sync.OnceValues(func() (variant, error) {
		plain, err := wire.Expand(coded)
		if err != nil {
			return variant{}, err
		}
		z, err := zip.NewWriterLevel(nil, zip.BestCompression)
		if err != nil {
			return variant{}, err
		}
		body, err := zipped(z, plain)
		return tagged(body), err
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

// compress adds a coding to a body that is made at the start; one that every browser reads
// is enough for a page. Bodies shorter than a packet are not compressed. A writer is worth
// more than a page: all pages share one.
func (e *entity) compress(z *zip.Writer) error {
	plain := e.variants[wire.Identity].body
	if len(plain) < wire.SmallestCompressed {
		return nil
	}
	body, err := zipped(z, plain)
	if err != nil {
		return err
	}
	e.set(wire.Gzip, body)
	return nil
}

func zipped(z *zip.Writer, plain []byte) ([]byte, error) {
	var b bytes.Buffer
	z.Reset(&b)
	if _, err := z.Write(plain); err != nil {
		return nil, err
	}
	err := z.Close()
	return b.Bytes(), err
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
		c = wire.ChooseCoding(ctx.Request.Header.Peek("Accept-Encoding"), e.has)
	}
	v, err := e.variant(c)
	if err != nil { // of a build that was damaged before it was embedded
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
