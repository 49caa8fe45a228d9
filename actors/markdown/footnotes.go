package markdown

import "bytes"

// CommonMark has no footnotes. It parses [^name]: and one word as a definition, and [^name]: and
// more words as a paragraph. The app shows both as footnotes, like GitHub.

// maxFootnoteLabel bounds a footnote's name, in bytes.
const maxFootnoteLabel = 400

// IsFootnote reports whether a line begins a footnote.
func IsFootnote(line []byte) bool {
	label, _, ok := cutFootnote(line)
	return ok && label != ""
}

// cutFootnote removes the name of a footnote, normalized like the labels of definitions, from its
// first line. The name keeps its ^, so it never equals the label of a link.
func cutFootnote(line []byte) (label string, rest []byte, ok bool) {
	trimmed := bytes.TrimLeft(line, " ")
	if len(line)-len(trimmed) > 3 || !bytes.HasPrefix(trimmed, []byte("[^")) {
		return "", nil, false
	}
	end := bytes.IndexByte(trimmed[:min(len(trimmed), maxFootnoteLabel)], ']')
	if end < 3 || bytes.ContainsAny(trimmed[2:end], "[ \t\r\n") || end+1 == len(trimmed) || trimmed[end+1] != ':' {
		return "", nil, false
	}
	return Normal(trimmed[1:end]), trimmed[end+2:], true
}

// Footnotes returns the footnotes of a text in order, except those in quotations, lists and code.
// Each includes the rest of its paragraph, and following lines that are indented by four spaces or
// a tab. Its Text contains all these lines.
func Footnotes(text []byte) (out []Definition) {
	if !bytes.Contains(text, []byte("[^")) {
		return nil
	}
	s := New(text)
	for l, more := s.Next(); more; l, more = s.Next() {
		if l.Kind != Paragraph && l.Kind != Defining {
			continue
		}
		label, first, ok := cutFootnote(text[l.Start:l.End])
		if !ok {
			continue
		}
		until := footnoteEnd(text, l.Start)
		if len(bytes.TrimSpace(first)) == 0 && until <= l.End {
			continue
		}
		out = append(out, Definition{Label: label, Text: string(bytes.TrimRight(text[l.Start:until], "\n")) + "\n", Span: Span{l.Start, until}})
	}
	return out
}

// footnoteEnd returns the end of a footnote that begins at an offset.
func footnoteEnd(text []byte, start int) (end int) {
	blank := false
	for at := start; at < len(text); {
		next := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		line := text[at:next]
		switch {
		case at == start:
			end = next
		case len(bytes.TrimSpace(line)) == 0:
			blank = true
		case bytes.HasPrefix(line, []byte("    ")) || line[0] == '\t':
			blank, end = false, next
		case blank || beginsOther(line) || IsFootnote(line): // their labels have different rules
			return end
		default:
			end = next
		}
		at = next
	}
	return end
}

// beginsOther reports whether a line begins a new block, which ends the paragraph of a footnote.
func beginsOther(line []byte) bool {
	line = bytes.TrimLeft(line, " ")
	if line[0] == '[' {
		_, rest, ok := cutLabel(line)
		return ok && len(rest) > 0 && rest[0] == ':'
	}
	for _, mark := range []string{"#", ">", "- ", "+ ", "* ", "```", "~~~", "<", "$$", ":::", "!!!"} {
		if bytes.HasPrefix(line, []byte(mark)) {
			return true
		}
	}
	digits := bytes.TrimLeft(line, "0123456789")
	return len(digits) < len(line) && (bytes.HasPrefix(digits, []byte(". ")) || bytes.HasPrefix(digits, []byte(") ")))
}
