package httpapi

import (
	"regexp"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// Fresh sets the entity tag of the answer. When the client has what it stands
// for, it answers 304 and returns true. control is the answer's Cache-Control.
func (r *Exchange) Fresh(tag, control string) bool {
	h := &r.Response.Header
	h.Set("ETag", `"`+tag+`"`)
	h.Set("Cache-Control", control)
	if r.NoneMatch(tag) {
		r.SetStatusCode(fasthttp.StatusNotModified)
		return true
	}
	return false
}

// NoneMatch says that the client has what the tag stands for.
func (r *Exchange) NoneMatch(tag string) bool {
	tags, star := r.Tags("If-None-Match")
	return star || slices.Contains(tags, tag)
}

// coded is what servers in front of this one put at the end of the tag of an
// answer that they have compressed.
var coded = regexp.MustCompile(`[-;]+(?:gzip|br|zstd|deflate)$`)

// Tags reads a list of entity tags (RFC 9110, 8.8.3) without what makes them
// weak and without the mark of a coding; star says that the header is a star.
// What is malformed matches nothing.
func (r *Exchange) Tags(header string) (tags []string, star bool) {
	for _, line := range r.Request.Header.PeekAll(header) {
		rest := strings.TrimSpace(string(line))
		if rest == "*" {
			return nil, true
		}
		for {
			rest = strings.TrimLeft(rest, " \t,")
			quoted, ok := strings.CutPrefix(strings.TrimPrefix(rest, "W/"), `"`)
			if !ok {
				break
			}
			tag, behind, ok := strings.Cut(quoted, `"`)
			if !ok {
				break
			}
			tags = append(tags, coded.ReplaceAllString(tag, ""))
			rest = behind
		}
	}
	return tags, false
}
