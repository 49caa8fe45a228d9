package claat

import (
	"regexp"
	"strings"

	"atelier/actors/markdown"
)

// block is a run of lines of one kind, as byte offsets in the text.
type block struct {
	kind       markdown.Kind
	start, end int
}

// blocksOf returns the blocks of a text.
func blocksOf(text []byte) (out []block) {
	s := markdown.New(text)
	for l, more := s.Next(); more; l, more = s.Next() {
		if n := len(out); n > 0 && !l.First && out[n-1].kind == l.Kind && l.Kind != markdown.Blank {
			out[n-1].end = l.End
			continue
		}
		out = append(out, block{l.Kind, l.Start, l.End})
	}
	return out
}

// rewrite returns the content of a step in the form that the app shows. Boxes have two Markdown
// forms, a definition list ("Positive" and ": text") and a blockquote ("> aside positive"). Each of
// them becomes the third form, an <aside> element, of which every Markdown viewer shows at least
// the text. Videos become images. Frames of other hosts, and buttons with a link, become links.
// Questions of surveys are passed to asked. If asked returns false, they become text; otherwise
// they are removed. lost is called for questions that become text, for shortcodes, and for elements
// that the app does not show.
func rewrite(body string, asked func(question) bool, lost func(what string)) string {
	var b strings.Builder
	blocks := blocksOf([]byte(body))
	var forms forms
	for i := 0; i < len(blocks); i++ {
		at := blocks[i]
		text := body[at.start:at.end]
		kind, content := "", ""
		switch at.kind {
		case markdown.Paragraph:
			var last int
			if kind, content, last = boxed(body, blocks[i:]); kind != "" {
				i += last
			}
		case markdown.Quote:
			kind, content = quoted(text)
		case markdown.HTML:
			if questions, last, behind := forms.survey(body, blocks[i:]); len(questions) > 0 {
				for _, q := range questions {
					if !asked(q) {
						lost("a survey that cannot become a poll is shown as text, and cannot be answered")
						q.write(&b)
					}
				}
				b.WriteByte('\n')
				if strings.TrimSpace(behind) != "" {
					b.WriteString(videos(written(strings.TrimLeft(behind, " \t\n"), lost)))
				}
				i += last
				continue
			}
			if link, ok := buttonLink(text); ok {
				text = link
			}
		}
		if content = written(content, lost); kind == "" && at.kind != markdown.Code {
			text = written(text, lost)
		}
		switch {
		case kind != "":
			b.WriteString("<aside class=\"" + kind + "\">\n\n" + strings.TrimSpace(videos(content)) + "\n\n</aside>\n")
		case at.kind == markdown.Code:
			b.WriteString(text)
		default:
			b.WriteString(videos(text))
		}
		// Raw HTML extends to the next empty line. Without an empty line here, the viewer would
		// treat the following text as HTML.
		if (kind != "" || at.kind == markdown.HTML && markdown.EndsAside(lastLine(text))) && i+1 < len(blocks) && blocks[i+1].kind != markdown.Blank {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// shortcode matches the shortcodes that Hugo ({{< >}}) and Jekyll ({% %}) replace, with their name.
var shortcode = regexp.MustCompile(`\{(?:\{([<%])|%)-?[ \t]*(/?[A-Za-z][A-Za-z0-9_.-]{0,40})`)

// written returns a block with links instead of the frames and videos of other hosts. lost is
// called for shortcodes, and for elements that the app does not show.
func written(text string, lost func(what string)) string {
	if strings.Contains(text, "{{") || strings.Contains(text, "{%") {
		for _, m := range shortcode.FindAllStringSubmatch(withoutCode(text), -1) {
			mark := "{%"
			if m[1] != "" {
				mark = "{{" + m[1]
			}
			lost(mark + " " + m[2] + " belongs to another program and is kept unchanged")
		}
	}
	if !strings.Contains(text, "<") {
		return text
	}
	text = linked(text, withoutCode(text))
	hiddenIn(withoutCode(text), func(tag string) { lost("<" + tag + "> is not shown") })
	return text
}

// boxed reads a box in the form of a definition list. last is the index of its last block. Without
// a box, kind is "".
func boxed(body string, blocks []block) (kind, content string, last int) {
	term, def, _ := strings.Cut(body[blocks[0].start:blocks[0].end], "\n")
	if kind = boxKind(term); kind == "" {
		return "", "", 0
	}
	if strings.TrimSpace(def) == "" {
		// A blank line can precede the definition.
		for last = 1; last < len(blocks) && blocks[last].kind == markdown.Blank; last++ {
		}
		if last == 1 || last == len(blocks) || blocks[last].kind != markdown.Paragraph {
			return "", "", 0
		}
		def = body[blocks[last].start:blocks[last].end]
	}
	content, ok := strings.CutPrefix(strings.TrimLeft(def, " "), ":")
	if !ok {
		return "", "", 0
	}
	return kind, content, last
}

// quoted reads a box in the form of a blockquote. Without a box, kind is "".
func quoted(text string) (kind, content string) {
	first, rest, _ := strings.Cut(text, "\n")
	name, ok := strings.CutPrefix(strings.TrimSpace(unquote(first)), "aside ")
	if !ok || boxKind(name) == "" {
		return "", ""
	}
	var b strings.Builder
	for l := range strings.Lines(rest) {
		b.WriteString(unquote(l))
	}
	return boxKind(name), b.String()
}

func boxKind(term string) string {
	switch k := strings.ToLower(strings.TrimSpace(term)); k {
	case "positive", "negative":
		return k
	}
	return ""
}

func unquote(line string) string {
	line = strings.TrimPrefix(strings.TrimLeft(line, " "), ">")
	return strings.TrimPrefix(line, " ")
}

func lastLine(text string) string {
	text = strings.TrimSuffix(text, "\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}
