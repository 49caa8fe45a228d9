package claat

import (
	"bytes"
)

// kind says what a line is at the top level of a document.
type kind byte

const (
	blank kind = iota
	paragraph
	heading    // # and its text
	underline  // of the paragraph before it, which makes that a heading
	code       // fenced or indented, the fences included
	html       // a block of raw HTML
	quote      // in a block quote
	list       // in a list
	rule       // a thematic break
	definition // of the address of a reference
)

// line is one line of a text.
type line struct {
	kind       kind
	level      int  // of a heading or an underline
	first      bool // begins a block
	start, end int  // in the text, with the line feed
}

// maxNesting is how deep block quotes and lists are followed. What is deeper
// is read as text: without a bound a line may cost as much as the file is long.
const maxNesting = 32

// scanner reads the block structure of Markdown, as CommonMark has it, line by
// line, and knows of each what it is at the top level; inline markup is never
// looked at. A line is read once for each container around it, so a text takes
// time in proportion to its length, whatever is in it, and no memory but for
// its definitions.
type scanner struct {
	source []byte
	at     int // where the next line starts
	stack  []container
	leaf   leaf
	fence  fence
	until  func(line []byte) bool // the line that ends a block of HTML
	// defines: the paragraph consists of definitions so far, and up to
	// defined the lines belong to the last of them.
	defines bool
	defined int
	// found gets each definition; nil for nobody.
	found func(link)
	// steps counts the bytes that were looked at, for tests.
	steps int
}

// container is an open block quote, or an open item of a list with the columns
// that its content is indented by.
type container struct {
	quote bool
	width int
	bare  bool // an item without content so far
}

// leaf is the open block that has no blocks in it.
type leaf byte

const (
	noLeaf leaf = iota
	paragraphLeaf
	fenceLeaf
	indentedLeaf
	htmlLeaf
)

type fence struct {
	char   byte
	length int
}

func newScanner(source []byte) *scanner { return &scanner{source: source} }

// next reads a line; false at the end.
func (s *scanner) next() (line, bool) {
	if s.at >= len(s.source) {
		return line{}, false
	}
	l := line{start: s.at, end: len(s.source)}
	if i := bytes.IndexByte(s.source[s.at:], '\n'); i >= 0 {
		l.end = s.at + i + 1
	}
	s.at = l.end
	inside := len(s.stack) > 0
	c := cursor{text: bytes.TrimRight(s.source[l.start:l.end], "\r\n")}
	l.kind, l.level, l.first = s.read(&c, l)
	s.steps += c.steps + l.end - l.start
	if len(s.stack) > 0 {
		// What is in a container is the container's to the outside.
		l.level, l.first = 0, !inside
		l.kind = list
		if s.stack[0].quote {
			l.kind = quote
		}
	}
	return l, true
}

func (s *scanner) read(c *cursor, l line) (kind, int, bool) {
	matched := s.match(c)
	all := matched == len(s.stack)
	if all {
		if k, done := s.goOn(c); done {
			return k, 0, false
		}
	} else if s.leaf != paragraphLeaf {
		s.close(matched)
	}
	for opened := false; ; {
		indent, rest := c.peek()
		inParagraph := s.leaf == paragraphLeaf && !opened
		switch {
		case len(rest) == 0:
			s.close(matched)
			return blank, 0, false
		case indent >= 4:
			if inParagraph {
				return s.text(c, l, matched)
			}
			s.close(matched)
			s.leaf = indentedLeaf
			return code, 0, true
		case rest[0] == '>' && matched < maxNesting:
			s.open(matched, container{quote: true})
			c.quoted(indent)
			matched, opened = matched+1, true
			continue
		}
		if level := atx(rest); level > 0 {
			s.close(matched)
			return heading, level, true
		}
		if f, ok := opensFence(rest); ok {
			s.close(matched)
			s.leaf, s.fence = fenceLeaf, f
			return code, 0, true
		}
		if until, ok := opensHTML(rest, inParagraph); ok {
			s.close(matched)
			if s.leaf, s.until = htmlLeaf, until; until(rest) {
				s.leaf = noLeaf
			}
			return html, 0, true
		}
		if level := setext(rest); level > 0 && inParagraph && all && !s.defines {
			s.leaf = noLeaf
			return underline, level, false
		}
		if isRule(rest) {
			s.close(matched)
			return rule, 0, true
		}
		width, ok := c.item(indent, rest, inParagraph && all)
		if !ok || matched >= maxNesting {
			if opened {
				s.leaf = noLeaf
			}
			return s.text(c, l, matched)
		}
		_, content := c.peek()
		s.open(matched, container{width: width, bare: len(content) == 0})
		matched, opened = matched+1, true
		if len(content) == 0 {
			return list, 0, true
		}
	}
}

// match takes off the line what the open containers ask of it, and says how
// many of them go on.
func (s *scanner) match(c *cursor) int {
	for i := range s.stack {
		k := &s.stack[i]
		indent, rest := c.peek()
		switch {
		case k.quote:
			if indent > 3 || len(rest) == 0 || rest[0] != '>' {
				return i
			}
			c.quoted(indent)
		case len(rest) == 0:
			if k.bare {
				return i // an item may begin with one empty line, not two
			}
		case indent < k.width:
			return i
		default:
			c.skip(k.width)
			k.bare = false
		}
	}
	return len(s.stack)
}

// goOn lets a line belong to the block of code or HTML that is open.
func (s *scanner) goOn(c *cursor) (kind, bool) {
	indent, rest := c.peek()
	switch s.leaf {
	case fenceLeaf:
		if indent <= 3 && s.fence.closed(rest) {
			s.leaf = noLeaf
		}
		return code, true
	case indentedLeaf:
		if len(rest) == 0 {
			return blank, true
		}
		if indent >= 4 {
			return code, true
		}
		s.leaf = noLeaf
	case htmlLeaf:
		if !s.until(c.text[c.at:]) {
			return html, true
		}
		s.leaf = noLeaf
		if len(rest) == 0 {
			return blank, true
		}
		return html, true
	}
	return 0, false
}

// text is a line of a paragraph: of the open one, also when the line lacks
// the marks of the containers around it, or of a new one.
func (s *scanner) text(c *cursor, l line, matched int) (kind, int, bool) {
	first := s.leaf != paragraphLeaf
	if first {
		s.close(matched)
		s.leaf, s.defines, s.defined = paragraphLeaf, true, 0
	}
	if !s.defines {
		return paragraph, 0, first
	}
	if l.start < s.defined {
		return definition, 0, false
	}
	_, rest := c.peek()
	var follow []byte
	if len(s.stack) == 0 {
		follow = s.source[l.end:]
	}
	if d, more, ok := define(rest, follow); ok {
		if s.found != nil {
			s.found(d)
		}
		s.defined = l.end + more
		return definition, 0, first
	}
	s.defines = false
	return paragraph, 0, true
}

// close ends the open block and all but the first containers.
func (s *scanner) close(containers int) {
	s.stack = s.stack[:containers]
	s.leaf = noLeaf
}

func (s *scanner) open(at int, k container) {
	s.close(at)
	s.stack = append(s.stack, k)
}
