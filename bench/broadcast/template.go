package broadcast

import (
	"regexp"
	"slices"
	"strings"
)

// Template is a text with places to fill in, such as {{stamp}}, or {{token}} for the
// column "token" of the clients' values. It is immutable.
type Template []piece

// piece is a text, or a place by its name.
type piece struct{ text, place string }

// places matches names in braces, including the names of columns.
var places = regexp.MustCompile(`\{\{([A-Za-z0-9_.-]+)\}\}`)

// ParseTemplate parses a text. Everything that is not a place is text.
func ParseTemplate(text string) Template {
	var t Template
	at := 0
	for _, m := range places.FindAllStringSubmatchIndex(text, -1) {
		t = t.add(piece{text: text[at:m[0]]}).add(piece{place: text[m[2]:m[3]]})
		at = m[1]
	}
	return t.add(piece{text: text[at:]})
}

// add appends a piece, merged with preceding text.
func (t Template) add(p piece) Template {
	last := len(t) - 1
	switch {
	case p == piece{}:
		return t
	case p.place == "" && last >= 0 && t[last].place == "":
		t[last].text += p.text
		return t
	}
	return append(t, p)
}

// Fill returns the template with the values of the given places filled in. A value is always text.
func (t Template) Fill(values map[string]string) Template {
	var out Template
	for _, p := range t {
		if value, ok := values[p.place]; ok && p.place != "" {
			p = piece{text: value}
		}
		out = out.add(p)
	}
	return out
}

// Places returns the names of the places, without duplicates.
func (t Template) Places() []string {
	var names []string
	for _, p := range t {
		if p.place != "" && !slices.Contains(names, p.place) {
			names = append(names, p.place)
		}
	}
	return names
}

// String returns the text; places without a value remain as written.
func (t Template) String() string {
	if len(t) == 1 {
		return t[0].String()
	}
	var b strings.Builder
	for _, p := range t {
		b.WriteString(p.String())
	}
	return b.String()
}

func (p piece) String() string {
	if p.place != "" {
		return "{{" + p.place + "}}"
	}
	return p.text
}
