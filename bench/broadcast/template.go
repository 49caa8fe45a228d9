package broadcast

import (
	"regexp"
	"slices"
	"strings"
)

// Template is a text with places to fill in, such as {{stamp}}, or {{token}} for the
// column "token" of the clients' values. Immutable.
type Template []piece

// piece is a text, or a place by its name.
type piece struct{ text, place string }

// places are names in braces: a column is called like that, too.
var places = regexp.MustCompile(`\{\{([A-Za-z0-9_.-]+)\}\}`)

// ParseTemplate reads a text. Everything that is no place is text.
func ParseTemplate(text string) Template {
	var t Template
	at := 0
	for _, m := range places.FindAllStringSubmatchIndex(text, -1) {
		t = t.add(piece{text: text[at:m[0]]}).add(piece{place: text[m[2]:m[3]]})
		at = m[1]
	}
	return t.add(piece{text: text[at:]})
}

// add appends a piece, in one with the text before it.
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

// Fill returns the template with the places that have a value filled in. A value is
// text, whatever it looks like.
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

// Places are the names of the places, each once.
func (t Template) Places() []string {
	var names []string
	for _, p := range t {
		if p.place != "" && !slices.Contains(names, p.place) {
			names = append(names, p.place)
		}
	}
	return names
}

// String is the text; places without a value stay as they were written.
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
