package markdown

import (
	"bytes"
	"html"
	"strings"

	parser "golang.org/x/net/html"
)

// Address is the target of a link or of a displayed element, with its position in the text.
type Address struct {
	// Span is the position of the address. It includes enclosing < and >, but not an attribute's
	// quotes.
	Span
	// URL is the address with Markdown escapes and HTML entities decoded.
	URL string
	// Shows means that the target is a displayed image, video or sound, not a link.
	Shows bool
	// Words is the text of a Markdown link, as written.
	Words string
}

// Addresses finds the addresses in a text, in order. These are the addresses of links, of images
// and of definitions of references, used or not. They also include the attributes of <a> elements
// and of elements that display a medium (shownBy). All forms that CommonMark and HTML permit are
// recognized, except for addresses in angle brackets (<https://example.org>) and bare addresses.
// Code contains no addresses; code lists its spans, in order. The time is proportional to the size
// of the text. To ensure this for any text, Addresses skips links that no person would write.
func Addresses(text string) (found []Address, code []Span) {
	f := finder(text, true)
	return f.found, f.code
}

// finder parses a text. If notes is set, it parses fenced blocks of notes not as code but as
// Markdown, as facilitators see them.
func finder(text string, notes bool) *addressFinder {
	f := &addressFinder{shown: map[string]bool{}}
	note := -1 // beginning of the text of an open note
	s := New([]byte(text))
	s.inside = true
	kind := Blank
	for l, more := s.Next(); more; l, more = s.Next() {
		inner := s.inner
		if inner == Defining && IsFootnote(s.rest) {
			inner = Paragraph // its text is not an address
		}
		if s.innerFirst || inner != kind {
			f.flush(kind)
		}
		kind = inner
		if note >= 0 && (kind != Code || s.opened || s.leaf != fenceLeaf) {
			f.note(text[note:l.Start], note)
			note = -1
		}
		switch {
		case note >= 0:
			continue
		case notes && s.opened && s.fence.isNotes():
			note = l.End
		}
		switch kind {
		case Code:
			f.code = append(f.code, Span{l.Start, l.End})
		case Paragraph, Heading, HTML, Defining:
			f.add(s.rest, s.restAt)
		}
	}
	f.flush(kind)
	if note >= 0 {
		f.note(text[note:], note)
	}
	for _, d := range f.defined {
		f.found[d.at].Shows = f.shown[d.label]
	}
	return f
}

// addressFinder collects the results of Addresses.
type addressFinder struct {
	found   []Address
	code    []Span
	shown   map[string]bool // labels referenced by images
	defined []defined

	// text is the text of the current block, without the markers of enclosing blocks. lines
	// contains the beginning of each of its lines, in text and in the source.
	text  []byte
	lines []place
	// wasted counts the bytes of the current block that were read for failed constructs. steps
	// counts all bytes that were read more than once.
	wasted, steps int
}

// defined is the label of a definition, and the index of its address in found.
type defined struct {
	label string
	at    int
}

type place struct{ at, source int }

// wasted is bounded by vainTimes times the size of the block, plus vainBytes.
const (
	vainTimes = 16
	vainBytes = 4096
)

// maxWords bounds Address.Words, in bytes.
const maxWords = 400

// note parses a note for facilitators that begins at an offset of the source.
func (f *addressFinder) note(text string, at int) {
	in := finder(text, false)
	for _, a := range in.found {
		a.Start, a.End = a.Start+at, a.End+at
		f.found = append(f.found, a)
	}
	for _, c := range in.code {
		f.code = append(f.code, Span{c.Start + at, c.End + at})
	}
	f.steps += in.steps
}

func (f *addressFinder) add(line []byte, source int) {
	f.lines = append(f.lines, place{len(f.text), source})
	f.text = append(append(f.text, line...), '\n')
}

// flush parses the block that has ended.
func (f *addressFinder) flush(kind Kind) {
	if len(f.lines) == 0 {
		return
	}
	switch kind {
	case HTML:
		f.elements()
	case Defining:
		f.definitions()
	default:
		f.inline()
	}
	f.text, f.lines, f.wasted = f.text[:0], f.lines[:0], 0
}

// source returns the position in the source of a part of the block. It returns false if the part
// spans several lines.
func (f *addressFinder) source(start, end int) (Span, bool) {
	for i := len(f.lines) - 1; i >= 0; i-- {
		if l := f.lines[i]; l.at <= start {
			if i+1 < len(f.lines) && end >= f.lines[i+1].at {
				return Span{}, false
			}
			return Span{l.source + start - l.at, l.source + end - l.at}, true
		}
	}
	return Span{}, false
}

func (f *addressFinder) addAddress(start, end int, a Address) bool {
	at, ok := f.source(start, end)
	if ok && a.URL != "" {
		a.Span = at
		f.found = append(f.found, a)
	}
	return ok
}

func (f *addressFinder) hopeless() bool { return f.wasted > vainTimes*len(f.text)+vainBytes }

// bracket is a [ whose ] was not found yet.
type bracket struct {
	at      int // offset after the [
	picture bool
}

// inline parses the text of a paragraph or a heading.
func (f *addressFinder) inline() {
	var open []bracket
	links := 0 // open brackets below this index contain a link, and cannot be links
	nested := 0
	var last []int
	uncommented := false
	text := f.text
	for i := 0; i < len(text); {
		switch text[i] {
		case '\\':
			i += 2
			continue
		case '`':
			if last == nil {
				last = lastRuns(text, i)
			}
			end := codeEnd(text, i, last)
			if n := run(text[i:], '`'); end > i+n {
				f.inlineCode(i, end)
			}
			i = end
			continue
		case '<':
			if bytes.HasPrefix(text[i:], []byte("<!--")) && !uncommented {
				end := bytes.Index(text[i+4:], []byte("-->"))
				if uncommented = end < 0; !uncommented {
					i += 4 + end + 3
					continue
				}
			} else if end := f.angle(i); end > 0 {
				i = end
				continue
			}
		case '[':
			open = append(open, bracket{i + 1, i > 0 && text[i-1] == '!' && !escaped(text, i-1)})
			nested = i
		case ']':
			if len(open) == 0 {
				break
			}
			b := open[len(open)-1]
			open = open[:len(open)-1]
			plain := b.picture || len(open) >= links
			links = min(links, len(open))
			if !plain {
				break
			}
			if end, ok := f.target(b, i); ok {
				if !b.picture {
					links = len(open)
				}
				i = end
				continue
			}
			if b.picture {
				f.refers(text, b.at, i, nested)
			}
		}
		i++
	}
}

// inlineCode records the span of code between backticks, one span per line.
func (f *addressFinder) inlineCode(start, end int) {
	for start < end {
		stop := end
		if n := bytes.IndexByte(f.text[start:end], '\n'); n >= 0 {
			stop = start + n
		}
		if at, ok := f.source(start, stop); ok && stop > start {
			f.code = append(f.code, at)
		}
		start = stop + 1
	}
}

// target parses the address in parentheses that follows the ] at i.
func (f *addressFinder) target(b bracket, i int) (end int, ok bool) {
	text := f.text
	if i+1 >= len(text) || text[i+1] != '(' || f.hopeless() {
		return 0, false
	}
	at := skipSpace(text, i+2)
	if at < len(text) && text[at] == ')' {
		return at + 1, true
	}
	stop, looked := destination(text, at)
	if stop > at {
		var title int
		end, title = titled(text, stop, ')')
		looked = max(looked, title)
	}
	f.steps += looked - i
	if stop <= at || end < 0 {
		f.wasted += looked - i
		return 0, false
	}
	a := Address{URL: plainDestination(text[at:stop]), Shows: b.picture}
	if !b.picture {
		a.Words = strings.TrimSpace(string(text[b.at:min(i, b.at+maxWords)]))
	}
	f.addAddress(at, stop, a)
	return end, true
}

// refers records the label of an image that has its address in a definition.
func (f *addressFinder) refers(text []byte, start, end, nested int) {
	label := text[start:end]
	if end+1 < len(text) && text[end+1] == '[' {
		if own, _, ok := cutLabel(text[end+1 : min(len(text), end+1+MaxLabel)]); ok && len(bytes.TrimSpace(own)) > 0 {
			label, nested = own, start-1
		}
	}
	if nested < start && len(label) <= MaxLabel {
		f.shown[Normal(label)] = true
	}
}

// definitions parses a block of definitions.
func (f *addressFinder) definitions() {
	text := f.text
	for i := 0; ; {
		i = skipSpace(text, i)
		label, rest, ok := cutLabel(text[i:])
		if !ok || len(rest) == 0 || rest[0] != ':' {
			return
		}
		at := skipSpace(text, len(text)-len(rest)+1)
		end, looked := destination(text, at)
		f.steps += looked - i
		if end <= at {
			return
		}
		if f.addAddress(at, end, Address{URL: plainDestination(text[at:end])}) && len(f.found) > 0 {
			f.defined = append(f.defined, defined{Normal(label), len(f.found) - 1})
		}
		if i, looked = titled(text, end, '\n'); i < 0 {
			i = end
		}
		if f.steps += looked - end; f.steps > vainTimes*len(text)+vainBytes {
			return
		}
	}
}

// angle parses an address or an element that begins with <. It returns 0 if the text is neither.
func (f *addressFinder) angle(i int) (end int) {
	text := f.text
	if f.hopeless() {
		return 0
	}
	if end := autolink(text, i); end > 0 {
		return end
	}
	end, ok := element(text, i)
	f.steps += end - i
	if !ok {
		f.wasted += end - i
		return 0
	}
	f.attributes(i, end)
	return end
}

// elements parses a block of HTML.
func (f *addressFinder) elements() {
	at := 0
	t := parser.NewTokenizer(bytes.NewReader(f.text))
	for {
		kind := t.Next()
		if kind == parser.ErrorToken {
			return
		}
		n := len(t.Raw())
		if kind == parser.StartTagToken || kind == parser.SelfClosingTagToken {
			f.attributes(at, at+n)
		}
		at += n
	}
}

// shownBy maps elements to the attributes whose addresses they display.
var shownBy = map[string]string{"img": "src srcset", "source": "src srcset", "video": "src poster", "audio": "src", "track": "src"}

// attributes parses the addresses in the attributes of an element.
func (f *addressFinder) attributes(start, end int) {
	tag := f.text[start:end]
	name := 1
	for name < len(tag) && !isTagEnd(tag[name]) {
		name++
	}
	element := strings.ToLower(string(tag[1:name]))
	shows, of := shownBy[element], element == "a"
	if shows == "" && !of {
		return
	}
	eachAttribute(tag, name, func(key string, from, to int) {
		value := string(tag[from:to])
		switch {
		case key == "srcset" && strings.Contains(shows, key):
			eachCandidate(value, func(a, b int) {
				f.addAddress(start+from+a, start+from+b, Address{URL: html.UnescapeString(value[a:b]), Shows: true})
			})
		case of && key == "href", !of && key != "" && (key == "src" || key == "poster") && strings.Contains(shows, key):
			lead := len(value) - len(strings.TrimLeft(value, " \t\n\f\r"))
			f.addAddress(start+from+lead, start+from+len(strings.TrimRight(value, " \t\n\f\r")), Address{URL: html.UnescapeString(strings.TrimSpace(value)), Shows: !of})
		}
	})
}

// eachAttribute calls fn for each attribute that has a value, with the position of the value. i is
// the end of the tag's name.
func eachAttribute(tag []byte, i int, fn func(key string, from, to int)) {
	seen := map[string]bool{}
	for i < len(tag) {
		for i < len(tag) && (isHTMLSpace(tag[i]) || tag[i] == '/') {
			i++
		}
		from := i
		for i < len(tag) && (!isTagEnd(tag[i]) && tag[i] != '=' || tag[i] == '=' && i == from) {
			i++
		}
		if i == from {
			return
		}
		key := strings.ToLower(string(tag[from:i]))
		at := skipHTMLSpace(tag, i)
		if at >= len(tag) || tag[at] != '=' {
			continue
		}
		i = skipHTMLSpace(tag, at+1)
		if i >= len(tag) {
			return
		}
		from, to := i, i
		if q := tag[i]; q == '"' || q == '\'' {
			n := bytes.IndexByte(tag[i+1:], q)
			if n < 0 {
				return
			}
			from, to = i+1, i+1+n
			i = to + 1
		} else {
			for i < len(tag) && !isHTMLSpace(tag[i]) && tag[i] != '>' {
				i++
			}
			to = i
		}
		if !seen[key] { // the first of several attributes with the same name counts
			seen[key] = true
			fn(key, from, to)
		}
	}
}

// eachCandidate calls fn with the positions of the addresses in a srcset.
func eachCandidate(value string, fn func(from, to int)) {
	for i := 0; i < len(value); {
		for i < len(value) && (value[i] == ',' || isHTMLSpace(value[i])) {
			i++
		}
		from := i
		for i < len(value) && !isHTMLSpace(value[i]) {
			i++
		}
		to := i
		for to > from && value[to-1] == ',' {
			to--
		}
		if to > from {
			fn(from, to)
		}
		if to < i {
			continue
		}
		for i < len(value) && value[i] != ',' {
			i++
		}
	}
}

// element returns the end of the element that begins at i, as in CommonMark. If there is none, it
// returns how far it has read.
func element(text []byte, i int) (end int, ok bool) {
	i++
	if i < len(text) && text[i] == '/' {
		i++
	}
	if i >= len(text) || !isLetter(text[i]) {
		return i, false
	}
	for i < len(text) && (isLetter(text[i]) || text[i] >= '0' && text[i] <= '9' || text[i] == '-') {
		i++
	}
	for {
		at := skipSpace(text, i)
		if at >= len(text) {
			return at, false
		}
		switch {
		case text[at] == '>':
			return at + 1, true
		case text[at] == '/':
			return at + 2, at+1 < len(text) && text[at+1] == '>'
		case at == i:
			return at, false
		}
		i = at
		for i < len(text) && (isLetter(text[i]) || text[i] == '_' || text[i] == ':' || i > at && (text[i] == '.' || text[i] == '-' || text[i] >= '0' && text[i] <= '9')) {
			i++
		}
		if i == at {
			return at, false
		}
		if at = skipSpace(text, i); at >= len(text) || text[at] != '=' {
			continue
		}
		i = skipSpace(text, at+1)
		if i >= len(text) {
			return i, false
		}
		if q := text[i]; q == '"' || q == '\'' {
			n := bytes.IndexByte(text[i+1:], q)
			if n < 0 {
				return len(text), false
			}
			i += n + 2
			continue
		}
		from := i
		for i < len(text) && bytes.IndexByte([]byte(" \t\r\n\"'=<>`"), text[i]) < 0 {
			i++
		}
		if i == from {
			return i, false
		}
	}
}

// autolink returns the end of the address in angle brackets that begins at i, or 0 if there is
// none.
func autolink(text []byte, i int) int {
	const maxScheme = 32
	at := i + 1
	for at < len(text) && at-i <= maxScheme+1 && (isLetter(text[at]) || at > i+1 && bytes.IndexByte([]byte("0123456789+.-"), text[at]) >= 0) {
		at++
	}
	if at-i < 3 || at-i > maxScheme+1 || at >= len(text) || text[at] != ':' {
		return 0
	}
	n := bytes.IndexAny(text[at:], "<> \t\r\n")
	if n < 0 || text[at+n] != '>' {
		return 0
	}
	return at + n + 1
}

// destination returns the end of the address that begins at i, or i if there is none. looked is the
// position up to which it has read.
func destination(text []byte, i int) (end, looked int) {
	if i < len(text) && text[i] == '<' {
		for at := i + 1; at < len(text); at++ {
			switch text[at] {
			case '\\':
				at++
			case '>':
				return at + 1, at + 1
			case '<', '\n':
				return i, at
			}
		}
		return i, len(text)
	}
	open, at := 0, i
	for ; at < len(text) && text[at] > ' ' && text[at] != 0x7f; at++ {
		switch text[at] {
		case '\\':
			if at+1 < len(text) && isPunct(text[at+1]) {
				at++
			}
		case '(':
			open++
		case ')':
			if open--; open < 0 {
				return at, at
			}
		}
	}
	if open > 0 {
		return i, at
	}
	return at, at
}

// titled skips a title, if there is one, and the byte last, which ends the link or definition. It
// returns the position after this byte, or -1 if the byte is missing. looked is the position up to
// which it has read.
func titled(text []byte, i int, last byte) (end, looked int) {
	at := skipSpace(text, i)
	looked = at
	if at > i {
		var ok bool
		if end, looked, ok = title(text, at); ok {
			behind := skipBlanks(text, end)
			if last == ')' {
				behind = skipSpace(text, end)
			}
			if behind < len(text) && text[behind] == last {
				return behind + 1, behind
			}
		}
	}
	if last == '\n' { // the title is optional, or on the next line
		at = skipBlanks(text, i)
	}
	if at < len(text) && text[at] == last {
		return at + 1, max(looked, at)
	}
	return -1, max(looked, at)
}

// title returns the end of the title in quotes or parentheses that begins at i, and how far it has
// read.
func title(text []byte, i int) (end, looked int, ok bool) {
	if i >= len(text) {
		return 0, i, false
	}
	closing, ok := map[byte]byte{'"': '"', '\'': '\'', '(': ')'}[text[i]]
	if !ok {
		return 0, i, false
	}
	for at := i + 1; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case closing:
			return at + 1, at, true
		}
	}
	return 0, len(text), false
}

// plainDestination decodes an address.
func plainDestination(written []byte) string {
	if len(written) > 1 && written[0] == '<' {
		written = written[1 : len(written)-1]
	}
	return Unescape(string(written))
}

// Unescape decodes the backslashes and entities in Markdown text. \_ becomes _, and &amp; becomes
// &.
func Unescape(text string) string {
	if !strings.ContainsAny(text, "\\&") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && isPunct(text[i+1]):
			i++
			b.WriteByte(text[i])
		case c == '&':
			n := strings.IndexByte(text[i:min(len(text), i+maxEntity)], ';')
			if n < 0 {
				b.WriteByte(c)
				break
			}
			// HTML permits some entities without the semicolon, but Markdown does not.
			entity := text[i : i+n+1]
			plain := html.UnescapeString(entity)
			if strings.HasSuffix(plain, ";") && plain != ";" {
				plain = entity
			}
			b.WriteString(plain)
			i += n
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// maxEntity bounds an entity, including its & and ;, in bytes.
const maxEntity = 40

func isPunct(b byte) bool {
	return b >= '!' && b <= '/' || b >= ':' && b <= '@' || b >= '[' && b <= '`' || b >= '{' && b <= '~'
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func isHTMLSpace(b byte) bool {
	return b == ' ' || b == '\t' || b == '\n' || b == '\f' || b == '\r'
}

func isTagEnd(b byte) bool { return isHTMLSpace(b) || b == '/' || b == '>' }

func skipSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
		i++
	}
	return i
}

func skipBlanks(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	return i
}

func skipHTMLSpace(text []byte, i int) int {
	for i < len(text) && isHTMLSpace(text[i]) {
		i++
	}
	return i
}
