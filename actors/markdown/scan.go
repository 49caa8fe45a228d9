package markdown

import "bytes"

// Kind is the kind of a line at the top level of a document.
type Kind byte

// The kinds of lines.
const (
	Blank Kind = iota
	Paragraph
	Heading   // # and its text
	Underline // of the preceding paragraph, which becomes a heading
	Code      // fenced or indented, the fences included
	HTML      // a block of raw HTML
	Quote     // in a block quote
	List      // in a list
	Rule      // a thematic break
	Defining  // a link reference definition
)

// Line is one line of a text.
type Line struct {
	Kind       Kind
	Level      int  // of a heading or underline
	First      bool // begins a block
	Start, End int  // in the text, including the line feed
}

// maxNesting bounds the depth of block quotes and lists. The scanner reads deeper ones as text.
// Without this bound, one line could cost as much as the whole file.
const maxNesting = 32

// Scanner parses the block structure of Markdown line by line, as in CommonMark. For each line it
// returns the kind at the top level. It never parses inline markup. A line is read once per
// enclosing container, so the time is proportional to the length of any text. The scanner needs
// memory only for definitions.
type Scanner struct {
	source []byte
	at     int // beginning of the next line
	stack  []container
	leaf   leaf
	fence  fence
	html   markup
	// defines means that the paragraph consists of definitions so far, and the lines up to defined
	// belong to the last of them.
	defines bool
	defined int
	// strict means parsing like the browser app. A carriage return also ends a line, the end of a
	// box does not end its block, and a definition is ordinary text. A definition followed by an
	// underline can therefore become a heading, which can only make the scanner find more notes.
	strict bool
	// The following fields describe the last line. inner is its kind within its containers, and
	// rest is its text there. opened means that the line opened its fence. item means that it
	// opened a list item as its innermost container.
	inner      Kind
	innerFirst bool // begins a block within its containers
	rest       []byte
	restAt     int // in the text
	opened     bool
	item       bool
	// inside means that rest is needed although strict is not set.
	inside bool
	// The following fields are used only with strict, see sure.
	doubtful bool // a line of the open paragraph may begin a block of HTML in other parsers
	astray   bool // other parsers may have read the preceding lines differently
	hanging  bool // indented lines may belong to something earlier in other parsers
	meaning  bool // the last lines, up to a blank one, may be a definition list in other parsers
	ends     [2]lookedUp
	// Found receives each definition. It can be nil.
	Found func(Definition)
	// steps counts the bytes read, for tests.
	steps int
}

// container is an open block quote, or an open item of a list with the indentation of its content
// in columns.
type container struct {
	quote bool
	width int
	bare  bool // an item that has no content yet
}

// leaf is the innermost open block.
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
	info   []byte
	sure   bool // all parsers agree on the fence's beginning and end
}

// markup is an open block of HTML.
type markup struct {
	sort  sort
	until func(line []byte) bool // the line that ends it
	start int                    // in the text
}

// sort is the kind of an HTML block.
type sort byte

const (
	elements sort = iota
	comment
	preformatted
	raw // not parsed: scripts, styles, and text that only looks like an element
)

// New returns a scanner that is not strict.
func New(source []byte) *Scanner { return &Scanner{source: source} }

// Next reads a line. It returns false at the end.
func (s *Scanner) Next() (Line, bool) {
	if s.at >= len(s.source) {
		return Line{}, false
	}
	l, c := s.line()
	inside := len(s.stack) > 0
	s.opened, s.item = false, false
	l.Kind, l.Level, l.First = s.read(&c, l)
	s.inner, s.innerFirst = l.Kind, l.First
	if s.strict || s.inside {
		_, s.rest = c.peek()
		s.restAt = l.Start + len(c.text) - len(s.rest)
	}
	s.steps += c.steps + l.End - l.Start
	if len(s.stack) > 0 {
		// Lines in a container belong to the container.
		l.Level, l.First = 0, !inside
		l.Kind = List
		if s.stack[0].quote {
			l.Kind = Quote
		}
	}
	return l, true
}

// line reads the next line.
func (s *Scanner) line() (Line, cursor) {
	l := Line{Start: s.at, End: len(s.source)}
	ends := "\n"
	if s.strict {
		ends = "\r\n"
	}
	if i := bytes.IndexAny(s.source[s.at:], ends); i >= 0 {
		l.End = s.at + i + 1
		if s.source[l.End-1] == '\r' && l.End < len(s.source) && s.source[l.End] == '\n' {
			l.End++
		}
	}
	s.at = l.End
	return l, cursor{text: bytes.TrimRight(s.source[l.Start:l.End], "\r\n")}
}

func (s *Scanner) read(c *cursor, l Line) (Kind, int, bool) {
	matched := s.match(c)
	all := matched == len(s.stack)
	if all {
		if k, done := s.goOn(c); done {
			return k, 0, false
		}
	} else if s.leaf != paragraphLeaf {
		s.astray = s.astray || s.leaf == htmlLeaf
		s.close(matched)
	}
	for opened := false; ; {
		indent, rest := c.peek()
		inParagraph := s.leaf == paragraphLeaf && !opened
		doubtful := inParagraph && s.doubtful
		if s.meaning && indent > 0 && indent < 4 && startsBlock.Match(rest) {
			doubtful, s.astray = true, true // in other parsers, the line continues a definition
		}
		switch {
		case len(rest) == 0:
			s.close(matched)
			s.meaning = false
			return Blank, 0, false
		case indent >= 4:
			if inParagraph {
				return s.text(c, l, matched)
			}
			s.close(matched)
			s.leaf = indentedLeaf
			return Code, 0, true
		case rest[0] == '>' && matched < maxNesting:
			s.open(matched, container{quote: true})
			c.quoted(indent)
			matched, opened, s.item = matched+1, true, false
			continue
		}
		if level := atx(rest); level > 0 {
			s.close(matched)
			return Heading, level, true
		}
		if f, ok := opensFence(rest); ok {
			s.close(matched)
			s.leaf, s.fence, s.opened = fenceLeaf, f, true
			s.fence.sure = s.strict && !doubtful && !s.astray && s.closes(f)
			return Code, 0, true
		}
		if h, ok := opensHTML(rest, inParagraph, !s.strict); ok {
			s.close(matched)
			h.start = l.Start
			if s.hanging = true; s.strict {
				s.weigh(&h, rest, l.Start+len(c.text)-len(rest), doubtful)
			}
			if s.leaf, s.html = htmlLeaf, h; h.until(rest) {
				s.leaf = noLeaf
			}
			return HTML, 0, true
		}
		if level := setext(rest); level > 0 && inParagraph && all && !s.defines {
			s.leaf = noLeaf
			return Underline, level, false
		}
		if isRule(rest) {
			s.close(matched)
			return Rule, 0, true
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
		matched, opened, s.item = matched+1, true, true
		if len(content) == 0 {
			return List, 0, true
		}
	}
}

// match consumes the markers of the open containers at the beginning of a line, and returns how
// many of them continue.
func (s *Scanner) match(c *cursor) int {
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
				return i // an item can begin with one empty line, not two
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

// goOn adds a line to the open block of code or HTML.
func (s *Scanner) goOn(c *cursor) (Kind, bool) {
	indent, rest := c.peek()
	switch s.leaf {
	case fenceLeaf:
		if indent <= 3 && s.fence.closed(rest) {
			s.leaf = noLeaf
		}
		return Code, true
	case indentedLeaf:
		if len(rest) == 0 {
			return Blank, true
		}
		if indent >= 4 {
			return Code, true
		}
		s.leaf = noLeaf
	case htmlLeaf:
		if !s.html.until(c.text[c.at:]) {
			return HTML, true
		}
		s.leaf = noLeaf
		if len(rest) == 0 {
			return Blank, true
		}
		return HTML, true
	}
	return 0, false
}

// text processes a line of a paragraph: the open one, even if the line lacks the markers of its
// containers, or a new one.
func (s *Scanner) text(c *cursor, l Line, matched int) (Kind, int, bool) {
	first := s.leaf != paragraphLeaf
	if first {
		s.close(matched)
		s.leaf, s.defines, s.defined, s.doubtful = paragraphLeaf, !s.strict, 0, false
	}
	if s.strict {
		s.leads(c)
	}
	if !s.defines {
		return Paragraph, 0, first
	}
	if l.Start < s.defined {
		return Defining, 0, false
	}
	_, rest := c.peek()
	var follow []byte
	if len(s.stack) == 0 {
		follow = s.source[l.End:]
	}
	if d, more, ok := define(rest, follow); ok {
		d.Span = Span{l.Start, l.End + more}
		if s.Found != nil {
			s.Found(d)
		}
		s.defined = l.End + more
		return Defining, 0, first
	}
	s.defines = false
	return Paragraph, 0, true
}

// close ends the open block and all but the first containers.
func (s *Scanner) close(containers int) {
	s.stack = s.stack[:containers]
	s.leaf = noLeaf
}

func (s *Scanner) open(at int, k container) {
	s.close(at)
	s.hanging = true
	s.stack = append(s.stack, k)
}
