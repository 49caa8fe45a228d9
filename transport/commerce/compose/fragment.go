package compose

import (
	"net/url"
	"strings"

	"atelier/transport/commerce/document"
)

// fragment writes a JSON Pointer as the fragment of a URI reference.
func fragment(pointer string) string {
	return fragmentEscaper.Replace(pointer)
}

var fragmentEscaper = strings.NewReplacer("%", "%25", " ", "%20", "\"", "%22", "<", "%3C", ">", "%3E",
	"#", "%23", "^", "%5E", "{", "%7B", "}", "%7D", "[", "%5B", "]", "%5D", "|", "%7C", "\\", "%5C", "`", "%60")

// unfragment reads one token of a pointer in a fragment.
func unfragment(token string) string {
	if plain, err := url.PathUnescape(token); err == nil {
		token = plain
	}
	return document.Unescape(token)
}
