package markdown

import (
	"bytes"
	"regexp"
	"strings"
)

// The functions in this file recognize the markers with which blocks begin and end. Each examines
// only one line.

func run(text []byte, b byte) int {
	n := 0
	for n < len(text) && text[n] == b {
		n++
	}
	return n
}

// atx returns the level of a heading with #, or 0 if the line is not a heading.
func atx(text []byte) int {
	n := run(text, '#')
	if n == 0 || n > 6 || n < len(text) && text[n] != ' ' && text[n] != '\t' {
		return 0
	}
	return n
}

// setext returns the level of a heading with this underline, or 0 if the line is not an underline.
func setext(text []byte) int {
	text = bytes.TrimRight(text, " \t")
	switch {
	case run(text, '=') == len(text):
		return 1
	case run(text, '-') == len(text):
		return 2
	}
	return 0
}

func isRule(text []byte) bool {
	b, n := text[0], 0
	if b != '*' && b != '-' && b != '_' {
		return false
	}
	for _, x := range text {
		switch x {
		case b:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3
}

func opensFence(text []byte) (fence, bool) {
	b := text[0]
	n := run(text, b)
	if b != '`' && b != '~' || n < 3 || b == '`' && bytes.IndexByte(text[n:], '`') >= 0 {
		return fence{}, false
	}
	return fence{char: b, length: n, info: text[n:]}, true
}

func (f fence) closed(text []byte) bool {
	n := run(text, f.char)
	return n >= f.length && len(bytes.TrimLeft(text[n:], " \t")) == 0
}

// blockTags contains the tags that begin a block of HTML in any context.
var blockTags = func() map[string]bool {
	out := map[string]bool{}
	for tag := range strings.FieldsSeq(`address article aside base basefont blockquote body caption center col colgroup dd details
		dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe
		legend li link main menu menuitem meta nav noframes ol optgroup option p param search section summary table tbody td
		tfoot th thead title tr track ul`) {
		out[tag] = true
	}
	return out
}()

var (
	rawTag   = regexp.MustCompile(`(?i)^<(script|pre|style|textarea)(?:[\s>]|$)`)
	rawEnd   = regexp.MustCompile(`(?i)</(script|pre|style|textarea)>`)
	blockTag = regexp.MustCompile(`^</?([a-zA-Z][a-zA-Z0-9-]*)(?:[ \t>]|/>|$)`)
	closeRaw = regexp.MustCompile(`(?i)^</(?:script|pre|style|textarea)\s*>`)
	anyTag   = regexp.MustCompile(`^(?:<[a-zA-Z][a-zA-Z0-9-]*(?:\s+[a-zA-Z_:][a-zA-Z0-9_.:-]*(?:\s*=\s*(?:[^ \t"'=<>` + "`" + `]+|'[^']*'|"[^"]*"))?)*\s*/?>|</[a-zA-Z][a-zA-Z0-9-]*\s*>)[ \t]*$`)
)

// opensHTML reports whether a line begins a block of HTML, and which line ends it. With boxes, the
// end of a box also ends its block, as the authors of tutorials expect. Without boxes, the end tag
// of a script begins a block even if no script began, as in the browser app's parser.
func opensHTML(text []byte, inParagraph, boxes bool) (m markup, ok bool) {
	if text[0] != '<' {
		return m, false
	}
	ends := func(sort sort, with string) (markup, bool) {
		return markup{sort: sort, until: func(text []byte) bool { return bytes.Contains(text, []byte(with)) }}, true
	}
	endsBox := func(text []byte) bool { return boxes && EndsAside(string(text[:min(len(text), 100)])) }
	empty := markup{until: func(text []byte) bool { return len(bytes.TrimLeft(text, " \t")) == 0 || endsBox(text) }}
	switch {
	case rawTag.Match(text):
		m = markup{sort: raw, until: rawEnd.Match}
		if bytes.EqualFold(text[1:4], []byte("pre")) {
			m.sort = preformatted
		}
		return m, true
	case bytes.HasPrefix(text, []byte("<!--")):
		return ends(comment, "-->")
	case bytes.HasPrefix(text, []byte("<?")):
		return ends(raw, "?>")
	case bytes.HasPrefix(text, []byte("<![CDATA[")):
		return ends(raw, "]]>")
	case len(text) > 2 && text[1] == '!' && (text[2]|0x20) >= 'a' && (text[2]|0x20) <= 'z':
		return ends(raw, ">")
	}
	if endsBox(text) {
		return markup{until: func([]byte) bool { return true }}, true
	}
	if m := blockTag.FindSubmatch(text); m != nil && len(m[1]) <= len("figcaption") && blockTags[strings.ToLower(string(m[1]))] {
		return empty, true
	}
	if !inParagraph && !(boxes && closeRaw.Match(text)) && anyTag.Match(text) {
		return empty, true
	}
	return m, false
}

// EndsAside reports whether a line consists of the end tag of a box.
func EndsAside(line string) bool { return strings.EqualFold(strings.TrimSpace(line), "</aside>") }
