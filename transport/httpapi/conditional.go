package httpapi

import (
	"bytes"

	"github.com/valyala/fasthttp"
)

// Fresh sets the response's entity tag. If the client has that version, Fresh responds 304 and
// returns true. control is the response's Cache-Control.
func (r *Exchange) Fresh(tag, control string) bool {
	h := &r.Response.Header
	h.SetCanonical(etag, []byte(`"`+tag+`"`))
	h.SetCanonical(cacheControl, []byte(control))
	if r.NoneMatch(tag) {
		r.SetStatusCode(fasthttp.StatusNotModified)
		return true
	}
	return false
}

// NoneMatch reports whether the client already has the version of the tag.
func (r *Exchange) NoneMatch(tag string) bool { return Known(&r.Request.Header, tag) }

// Known reports whether the sender of these headers has the version of a tag (If-None-Match; RFC
// 9110, 13.1.2). The tag is passed without its quotes.
func Known(h *fasthttp.RequestHeader, tag string) bool {
	for _, line := range h.PeekAll(fasthttp.HeaderIfNoneMatch) {
		if isStar(line) {
			return true
		}
		for {
			found, behind, ok := nextTag(line)
			if !ok {
				break
			}
			// A tag of this server can end like a tag with a coding.
			if string(found) == tag || string(uncoded(found)) == tag {
				return true
			}
			line = behind
		}
	}
	return false
}

// Tags parses a list of entity tags, without weak prefixes and coding suffixes. star means that the
// header is "*". Tags ignores the rest of a line after a malformed tag.
func (r *Exchange) Tags(header string) (tags []string, star bool) {
	for _, line := range r.Request.Header.PeekAll(header) {
		if isStar(line) {
			return nil, true
		}
		for {
			found, behind, ok := nextTag(line)
			if !ok {
				break
			}
			tags = append(tags, string(uncoded(found)))
			line = behind
		}
	}
	return tags, false
}

func isStar(line []byte) bool { return string(bytes.TrimSpace(line)) == "*" }

// nextTag cuts the first entity tag (RFC 9110, 8.8.3) off a list.
func nextTag(list []byte) (tag, behind []byte, ok bool) {
	list = bytes.TrimPrefix(bytes.TrimLeft(list, " \t,"), []byte("W/"))
	if len(list) == 0 || list[0] != '"' {
		return nil, nil, false
	}
	return bytes.Cut(list[1:], []byte{'"'})
}

// uncoded removes the suffix that a proxy adds to a response's tag after compressing the response.
func uncoded(tag []byte) []byte {
	for _, coding := range []string{"gzip", "br", "zstd", "deflate"} {
		if len(tag) > len(coding) && string(tag[len(tag)-len(coding):]) == coding {
			before := tag[:len(tag)-len(coding)]
			if plain := bytes.TrimRight(before, "-;"); len(plain) < len(before) {
				return plain
			}
		}
	}
	return tag
}
