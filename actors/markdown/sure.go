package markdown

import (
	"bytes"
	"regexp"
	"unicode"
	"unicode/utf8"
)

// Markdown parsers differ after unclosed constructs, after possible HTML, and in the content of
// list items. The server follows CommonMark; a page follows the app's parser and the browser. Text
// that looks like a note for facilitators remains only if all parsers treat it as code. Otherwise
// it is removed.

// sure reports whether every parser treats the last line as code, given that the scanner does.
func (s *Scanner) sure() bool {
	if s.leaf == fenceLeaf {
		return s.fence.sure
	}
	return !s.astray && (s.leaf != indentedLeaf || !s.hanging)
}

// leads examines the beginning of a paragraph's line, and sets doubtful, hanging and meaning.
func (s *Scanner) leads(c *cursor) {
	_, rest := c.peek()
	if rest[0] == '<' || rest[0] == '[' {
		s.doubtful = true
	}
	s.meaning = s.meaning || rest[0] == ':'
	// In other parsers, this can begin a box, a table, a footnote, or a numbered list.
	if r, _ := utf8.DecodeRune(rest); !unicode.IsLetter(r) && !unicode.IsNumber(r) || listMark.Match(rest) {
		s.hanging = true
	}
}

var listMark = regexp.MustCompile(`^[0-9]{1,9}[.)]`)

// startsBlock matches each line that begins a block here, but not within a definition. It also
// matches some lines of text. These can only make the scanner find more notes.
var startsBlock = regexp.MustCompile("^(?:```|~~~|#|<|>|[-+*](?:[ \\t]|$)|[-=]+[ \\t]*$|(?:[-*_][ \\t]*){3,}$|[0-9]{1,9}[.)])")

// weigh decides how to treat a block of HTML that begins at a position. If a page can show its
// text, the text is treated as elements.
func (s *Scanner) weigh(h *markup, rest []byte, at int, doubtful bool) {
	hides := false // not for <?, <![CDATA[ and <!x: a page hides them only up to the first >
	if tag := rawTag.FindSubmatch(rest); tag != nil {
		end := s.end(rawEnds, at)
		hides = !bytes.EqualFold(tag[1], []byte("textarea")) && bytes.EqualFold(end, tag[1])
	} else if h.sort == comment {
		hides = string(s.end(commentEnds, at+len("<!--"))) == "-->"
	} else if h.sort == elements {
		return
	}
	if !hides || doubtful {
		h.sort, s.astray = elements, true
	}
}

// The ends for weigh: the names of raw elements, and the ends of comments. A page also ends a
// comment at --!>.
const (
	rawEnds = iota
	commentEnds
)

var ends = [2]*regexp.Regexp{rawEnds: rawEnd, commentEnds: regexp.MustCompile(`(--!?>)`)}

// lookedUp is the result of a search for an end from a position on.
type lookedUp struct {
	looked     bool
	at         int // position of the end, or len(source) if there is none
	start, end int // position of its name
}

// end returns the name in the first end of a kind at or after a position, or nil. Positions only
// increase, so all calls together read the text only once.
func (s *Scanner) end(kind, from int) []byte {
	f := &s.ends[kind]
	if !f.looked || f.at < from {
		*f = lookedUp{looked: true, at: len(s.source)}
		from = min(from, len(s.source))
		if m := ends[kind].FindSubmatchIndex(s.source[from:]); m != nil {
			f.at, f.start, f.end = from+m[0], from+m[2], from+m[3]
		}
		s.steps += f.at - from
	}
	return s.source[f.start:f.end]
}

// closes reports whether a later line closes a fence before its containers end.
func (s *Scanner) closes(f fence) bool {
	ahead := Scanner{source: s.source, at: s.at, strict: true, stack: append([]container(nil), s.stack...)}
	for ahead.at < len(ahead.source) {
		l, c := ahead.line()
		matched := ahead.match(&c)
		indent, rest := c.peek()
		s.steps += c.steps + l.End - l.Start
		if matched < len(ahead.stack) {
			return false
		}
		if indent <= 3 && f.closed(rest) {
			return true
		}
	}
	return false
}
