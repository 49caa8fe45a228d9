package claat

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// boxes writes the two Markdown forms of a box, a definition list ("Positive"
// and ": text") and a blockquote ("> aside positive"), as the third: an
// <aside> element, which every Markdown viewer at least shows the text of.
func boxes(body string) string {
	source := []byte(body)
	var b strings.Builder
	done := 0
	replace := func(from, to int, kind, content string) {
		b.WriteString(body[done:from])
		b.WriteString("<aside class=\"" + kind + "\">\n\n" + strings.TrimSpace(content) + "\n\n</aside>\n")
		done = to
	}
	doc := goldmark.DefaultParser().Parse(text.NewReader(source))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Paragraph:
			from, to := span(n, source)
			if from < done {
				continue
			}
			term, def, more := strings.Cut(body[from:to], "\n")
			kind := boxKind(term)
			if kind == "" {
				continue
			}
			if !more || strings.TrimSpace(def) == "" {
				// The definition may stand behind a blank line.
				next, ok := n.NextSibling().(*ast.Paragraph)
				if !ok {
					continue
				}
				var start int
				start, to = span(next, source)
				def = body[start:to]
			}
			if text, ok := strings.CutPrefix(strings.TrimLeft(def, " "), ":"); ok {
				replace(from, to, kind, text)
			}
		case *ast.Blockquote:
			p, ok := n.FirstChild().(*ast.Paragraph)
			if !ok {
				continue
			}
			from, _ := span(p, source)
			to := quoteEnd(source, from)
			if from < done {
				continue
			}
			content := unquote(body[from:to])
			first, rest, _ := strings.Cut(content, "\n")
			if name, ok := strings.CutPrefix(strings.TrimSpace(first), "aside "); ok && boxKind(name) != "" {
				replace(from, to, boxKind(name), rest)
			}
		}
	}
	b.WriteString(body[done:])
	return b.String()
}

func boxKind(term string) string {
	switch k := strings.ToLower(strings.TrimSpace(term)); k {
	case "positive", "negative":
		return k
	}
	return ""
}

// span is the whole lines of a block.
func span(n ast.Node, source []byte) (from, to int) {
	l := n.Lines()
	if l.Len() == 0 {
		return len(source), len(source)
	}
	from = bytes.LastIndexByte(source[:l.At(0).Start], '\n') + 1
	return from, lineEnd(source, l.At(l.Len()-1).Stop)
}

// quoteEnd is where the lines that start with > end.
func quoteEnd(source []byte, from int) int {
	for from < len(source) && bytes.HasPrefix(bytes.TrimLeft(source[from:], " "), []byte(">")) {
		from = lineEnd(source, from+1)
	}
	return from
}

func unquote(quoted string) string {
	var b strings.Builder
	for l := range strings.Lines(quoted) {
		l = strings.TrimPrefix(strings.TrimLeft(l, " "), ">")
		b.WriteString(strings.TrimPrefix(l, " "))
	}
	return b.String()
}
