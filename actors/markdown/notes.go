package markdown

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
)

// Span is a part of a text: the bytes from Start up to End.
type Span struct{ Start, End int }

// maxPasses bounds the passes over a text to remove its notes. Removing a note can turn other text
// into a note. In real texts this does not happen twice.
const maxPasses = 8

// WithoutNotes returns a text without the notes for facilitators. For each note, it removes whole
// lines and one blank line after them. If notes are left after maxPasses, it also removes the rest
// of the text from the first of them. It returns a text without notes unchanged, and is idempotent.
func WithoutNotes(text string) string {
	for range maxPasses {
		notes := Notes(text)
		if len(notes) == 0 {
			return text
		}
		text = without(text, notes)
	}
	if notes := Notes(text); len(notes) > 0 {
		return text[:notes[0].Start]
	}
	return text
}

func without(text string, notes []Span) string {
	var b strings.Builder
	b.Grow(len(text))
	at := 0
	for _, n := range notes {
		b.WriteString(text[at:n.Start])
		at = n.End
	}
	b.WriteString(text[at:])
	return b.String()
}

// Notes returns the notes for facilitators in a text, in order. Nearly all texts have none. Notes
// detects most of these without parsing them as Markdown.
func Notes(text string) []Span {
	if !hasFold(text, word) && !hasFold(text, "<"+aside) {
		return nil
	}
	out, _ := read(text)
	return out
}

// read parses the whole text. For tests, it also returns how many bytes were read.
func read(text string) (out []Span, steps int) {
	s := &Scanner{source: []byte(text), strict: true}
	var a asides
	found := func(start int) {
		out = append(out, Span{start, s.takeBlank()})
	}
	for l, more := s.Next(); more; l, more = s.Next() {
		if f, loose, ok := s.opensNotes(); ok && a.open == 0 && !a.drop() {
			s.skipFence(f, loose)
			found(l.Start)
			continue
		}
		if a.line(s, l); a.begun && a.open == 0 {
			a.begun = false
			found(a.start)
		}
	}
	if a.open > 0 || a.drop() {
		out = append(out, Span{a.start, len(text)})
	}
	return out, s.steps + a.steps
}

// hasFold reports whether a text contains a word in upper or lower case. The word must be
// lower-case ASCII.
func hasFold(text, word string) bool {
	for _, c := range []byte{word[0], word[0] &^ 0x20} {
		for rest := text; ; {
			i := strings.IndexByte(rest, c)
			if i < 0 || len(rest)-i < len(word) {
				break
			}
			if rest = rest[i:]; strings.EqualFold(rest[:len(word)], word) {
				return true
			}
			rest = rest[1:]
		}
	}
	return false
}

// opensNotes reports whether the last line that was read opens a fenced block of notes. loose means
// that some parsers see no fence in this line, so more closing fences are accepted.
func (s *Scanner) opensNotes() (f fence, loose, ok bool) {
	switch {
	case s.opened:
		return s.fence, false, s.fence.isNotes()
	case s.inner == HTML && s.leaf == htmlLeaf && s.html.sort != elements:
		return f, false, false
	}
	// Authors indent the fence too much, put it in a box (": ") or a footnote, or nest it too
	// deeply for this scanner. They also forget the empty line between HTML and Markdown. Parsers
	// differ in these cases. A byte order mark can begin the text.
	const marks = " \t\ufeff:>-+*0123456789.)"
	rest := bytes.TrimLeft(s.rest, marks)
	if bytes.HasPrefix(rest, []byte("[^")) {
		if _, text, labelled := bytes.Cut(rest, []byte("]")); labelled && bytes.HasPrefix(text, []byte(":")) {
			rest = bytes.TrimLeft(text, marks)
		}
	}
	if len(rest) > 0 {
		f, ok = opensFence(rest)
	}
	if !ok || !f.isNotes() {
		return f, false, false
	}
	// Inside a block with the same fences, only the first closing fence can close it.
	nested := s.leaf == fenceLeaf && f.char == s.fence.char && f.length >= s.fence.length
	return f, true, s.inner != Code || nested || !s.sure()
}

// word is the info string of notes. Upper and lower case count as equal, because attendees would
// see a note that is not recognized.
const word = "notes"

// isNotes reports whether the first word of the info string is that of notes. Any white space ends
// a word, as in the browser's parser.
func (f fence) isNotes() bool {
	info := bytes.TrimLeftFunc(f.info, isSpace)
	if len(info) < len(word) || !bytes.EqualFold(info[:len(word)], []byte(word)) {
		return false
	}
	rest := info[len(word):]
	return len(rest) == 0 || bytes.IndexFunc(rest, isSpace) == 0
}

func isSpace(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' }

// skipFence reads to the end of a fenced block. If an enclosing container ends before a closing
// fence, the author probably meant the block to continue. The note therefore extends to a closing
// fence, regardless of its position. The scanner itself reads the lines as a parser does. If the
// rest of the text has another meaning without the note, the next pass handles it.
func (s *Scanner) skipFence(f fence, loose bool) {
	for l, more := s.Next(); more; l, more = s.Next() {
		switch {
		case s.opened && s.fence.isNotes():
			f, loose = s.fence, false
			continue
		case !loose && s.leaf == fenceLeaf && !s.opened:
			continue
		case !loose && s.leaf == noLeaf && s.inner == Code:
			return
		}
		loose = true
		if f.closed(bytes.Trim(s.source[l.Start:l.End], " \t>\r\n")) {
			return
		}
	}
}

// takeBlank consumes the next line if it is blank, and returns the beginning of the next line that
// is left.
func (s *Scanner) takeBlank() int {
	if s.at >= len(s.source) {
		return s.at
	}
	ahead := Scanner{source: s.source, at: s.at, strict: true, stack: append([]container(nil), s.stack...)}
	_, c := ahead.line()
	ahead.match(&c)
	if _, rest := c.peek(); len(rest) == 0 {
		s.Next()
	}
	return s.at
}

const aside = "aside"

// maxTag bounds an opening tag over several lines, in bytes.
const maxTag = 512

// maxRun bounds the backticks around inline code.
const maxRun = 16

// asides tracks the <aside> elements of a text.
type asides struct {
	begun bool // a note has begun
	open  int  // number of open elements in it
	start int  // beginning of its first line
	// tag is the beginning of an incomplete opening tag. tagAt is the beginning of its line.
	tag   []byte
	tagAt int
	code  fence // open fence in a block that the parser treats as HTML
	steps int   // number of bytes read
}

// facilitators matches the class attribute of a tag. It also matches the same text in the
// value of another attribute. No author writes this text there by accident.
var facilitators = regexp.MustCompile(`["'\s/][cC][lL][aA][sS][sS]\s*=\s*(?:"([^"]*)"?|'([^']*)'?|([^\s"'=<>` + "`" + `]+))`)

func forFacilitators(tag []byte) bool {
	for _, m := range facilitators.FindAllSubmatch(tag, -1) {
		for _, value := range m[1:] {
			if bytes.IndexByte(value, '&') >= 0 { // a browser decodes it: "&#102;acilitator"
				return true
			}
			for word := range bytes.FieldsFuncSeq(value, isSpace) {
				if strings.EqualFold(string(word), "facilitator") {
					return true
				}
			}
		}
	}
	return false
}

// drop ends an incomplete tag that cannot be completed. It reports whether the tag begins a note.
func (a *asides) drop() bool {
	if a.tag == nil {
		return false
	}
	tag := a.tag
	a.tag = nil
	return a.opens(tag, a.tagAt)
}

// opens processes an opening tag, and reports whether the tag begins a note.
func (a *asides) opens(tag []byte, at int) bool {
	if !forFacilitators(tag) {
		return false
	}
	a.begun, a.open, a.start = true, 1, at
	return true
}

// line processes the elements in the line that the scanner has just read. Code contains no
// elements.
func (a *asides) line(s *Scanner, l Line) {
	text := s.rest
	hidden := false // a comment covers the rest of this line
	if a.code.length > 0 {
		if a.code.closed(text) {
			a.code = fence{}
		}
		return
	}
	switch s.inner {
	case Blank:
		a.drop()
		return
	case Code:
		if s.sure() {
			a.drop()
			return
		}
	case HTML:
		switch s.html.sort {
		case raw:
			a.drop()
			return
		case comment:
			a.drop()
			if hidden = true; s.html.start < l.Start {
				_, behind, ok := bytes.Cut(text, []byte("-->"))
				if !ok {
					return
				}
				text, hidden = behind, false
			}
		case elements:
			if s.leaf == htmlLeaf && a.open > 0 && len(text) > 0 {
				if f, ok := opensFence(text); ok {
					a.code = f // see opensNotes
					return
				}
			}
		}
	}
	if a.tag != nil {
		from := len(a.tag) + 1
		a.tag = append(append(a.tag, '\n'), text...)
		end := tagEnd(a.tag, len("<"+aside))
		a.steps += len(a.tag)
		switch {
		case end < 0 && len(a.tag) <= maxTag:
			return
		case end < 0:
			a.drop()
			text = nil
		default:
			text = a.tag[end:]
			if end < from {
				text = a.tag[from:]
			}
			a.tag = a.tag[:end:end]
			a.drop()
		}
	}
	a.read(text, l.Start, hidden, s.inner != HTML && s.sure())
}

// read processes the elements in a text on the line that begins at at. inline means that the text
// can contain inline code.
func (a *asides) read(text []byte, at int, hidden, inline bool) {
	uncommented := false
	var last []int // last run of backticks of each length, where known
	for i := 0; i < len(text); {
		next := bytes.IndexAny(text[i:], "`<")
		if next < 0 {
			return
		}
		i += next
		a.steps += next + 1
		// HTML has no inline code. Inside a note, backticks count nevertheless, so that a closing
		// tag between them does not end the note.
		if text[i] == '`' && !inline && a.open == 0 {
			i++
			continue
		}
		if text[i] == '`' {
			if last == nil {
				last = lastRuns(text, i)
				a.steps += len(text) - i
			}
			end := codeEnd(text, i, last)
			a.steps += end - i
			i = end
			continue
		}
		behind := text[i+1:]
		if !uncommented && bytes.HasPrefix(behind, []byte("!--")) {
			end := bytes.Index(behind[1:], []byte("-->"))
			a.steps += looked(end, len(behind))
			switch {
			case end >= 0:
				i += 2 + end + 3
				continue
			case hidden || a.open > 0:
				return
			}
			uncommented = true // the <!-- is text; elements can follow
		}
		closing := bytes.HasPrefix(behind, []byte("/"))
		if closing {
			behind = behind[1:]
		}
		if !isAside(behind) {
			i++
			continue
		}
		from := len(text) - len(behind) + len(aside)
		switch {
		case closing:
			if a.open > 0 && !escaped(text, i) {
				a.open--
			}
		case a.open > 0:
			a.open++
		default:
			end := tagEnd(text, from)
			a.steps += looked(end, len(text)) - from
			if end < 0 {
				a.tag, a.tagAt = append([]byte(nil), text[i:]...), at
				if len(a.tag) > maxTag {
					a.drop()
				}
				return
			}
			a.opens(text[i:end], at)
			from = end
		}
		i = from
	}
}

// looked returns the number of bytes that a search has read: up to the match at, or all bytes if at
// is negative.
func looked(at, all int) int {
	if at < 0 {
		return all
	}
	return at
}

// isAside reports whether a text begins with the element's name.
func isAside(text []byte) bool {
	if len(text) < len(aside) || !bytes.EqualFold(text[:len(aside)], []byte(aside)) {
		return false
	}
	return len(text) == len(aside) || bytes.IndexByte([]byte(" \t\f/>"), text[len(aside)]) >= 0
}

// escaped reports whether the byte at i is escaped: an odd number of backslashes precedes it.
func escaped(text []byte, i int) bool {
	n := 0
	for n < i && text[i-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// tagEnd returns the position after the > of the tag whose attributes begin at i, or -1 if the tag
// is incomplete.
func tagEnd(text []byte, i int) int {
	quote := byte(0)
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '>':
			return i + 1
		case (c == '"' || c == '\'') && bytes.IndexByte([]byte("= \t\n"), text[i-1]) >= 0:
			quote = c
		}
	}
	return -1
}

// lastRuns returns, for each length up to maxRun, the beginning of the last run of backticks of
// that length from i on.
func lastRuns(text []byte, i int) []int {
	last := make([]int, maxRun+1)
	for i < len(text) {
		if text[i] != '`' {
			i++
			continue
		}
		n := run(text[i:], '`')
		if n <= maxRun {
			last[n] = i
		}
		i += n
	}
	return last
}

// codeEnd returns the end of the inline code that the backticks at i open. If they open none, it
// returns their own end.
func codeEnd(text []byte, i int, last []int) int {
	n := run(text[i:], '`')
	if n > maxRun || last[n] <= i {
		return i + n
	}
	for at := i + n; ; {
		at += bytes.IndexByte(text[at:], '`')
		m := run(text[at:], '`')
		at += m
		if m == n {
			return at
		}
	}
}
