package markdown

import (
	"bytes"
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// inlineText returns the text of a paragraph without markup. Links and emphasis become their text,
// images their alternative text, and elements are removed. labels are the labels that the document
// defines. Each run of white space becomes one space, and Unicode is composed. The time is
// proportional to the size of the text.
func inlineText(text string, labels map[string]bool) string {
	r := &inlineReader{text: []byte(text), labels: labels}
	r.read()
	return spaced(norm.NFC.String(string(r.plain())))
}

// spaced puts a text on one line. strings.Fields splits at Unicode white space.
func spaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// inlineReader reads a paragraph once, left to right.
type inlineReader struct {
	text   []byte
	labels map[string]bool
	out    []byte
	// marks contains the parts of out that can be markup.
	marks  []mark
	wasted int // bytes that were read without a result, see hopeless
}

// mark is a part of the output that can be markup: a run of emphasis characters, or the [ or ![ of
// a link or image.
type mark struct {
	at, size int
	kept     int // number of its bytes that are not markup and stay in the output
	// The following fields are set only for a run of emphasis characters.
	char              byte
	canOpen, canClose bool
}

// entity matches an entity of CommonMark.
var entity = regexp.MustCompile(`^&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{0,31});`)

// mail matches an e-mail address in angle brackets.
var mail = regexp.MustCompile(`^<[a-zA-Z0-9.!#$%&'*+/=?^_{|}~-]{1,64}@[a-zA-Z0-9.-]{1,255}>`)

// opening is a [ whose ] was not found yet.
type opening struct {
	bracket
	out, marks int // the length of the output and the number of marks before the bracket
}

// hopeless reports whether too many bytes were read without a result. Links and elements in the
// rest of the text are then ignored, which bounds the time for hostile texts.
func (r *inlineReader) hopeless() bool { return r.wasted > vainTimes*len(r.text)+vainBytes }

func (r *inlineReader) read() {
	var open []opening
	links := 0   // open brackets below this index contain a link, and cannot be links
	nested := -1 // position of the last [
	var last []int
	text := r.text
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '\\':
			if i+1 < len(text) && (isPunct(text[i+1]) || text[i+1] == '\n') {
				r.out = append(r.out, text[i+1])
				i += 2
				continue
			}
		case '`':
			if last == nil {
				last = lastRuns(text, i)
			}
			end := codeEnd(text, i, last)
			if n := run(text[i:], '`'); end > i+n {
				r.code(text[i+n : end-n])
			} else {
				r.out = append(r.out, text[i:end]...)
			}
			i = end
			continue
		case '&':
			if m := entity.Find(text[i:min(len(text), i+maxEntity)]); m != nil {
				r.out = append(r.out, resolved(string(m))...)
				i += len(m)
				continue
			}
		case '<':
			if end := r.angle(i); end > 0 {
				i = end
				continue
			}
		case '[':
			b := bracket{i + 1, i > 0 && text[i-1] == '!' && !escaped(text, i-1)}
			open = append(open, opening{b, len(r.out), len(r.marks)})
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
			if end := r.target(b.bracket, i, nested); end > 0 {
				if !b.picture {
					links = len(open)
				}
				r.pair(b.marks)
				m := mark{at: b.out, size: 1}
				if b.picture {
					m.at, m.size = m.at-1, 2
				}
				r.marks = append(r.marks, m)
				i = end
				continue
			}
		case '*', '_', '~':
			i = r.emphasis(i)
			continue
		}
		r.out = append(r.out, text[i])
		i++
	}
	r.pair(0)
}

// code appends the text of a code span. If the text begins and ends with a space, and is not only
// spaces, one space is removed at each end.
func (r *inlineReader) code(inside []byte) {
	inside = bytes.ReplaceAll(inside, []byte("\n"), []byte(" "))
	if n := len(inside); n > 1 && inside[0] == ' ' && inside[n-1] == ' ' && len(bytes.Trim(inside, " ")) > 0 {
		inside = inside[1 : n-1]
	}
	r.out = append(r.out, inside...)
}

// resolved decodes an entity. It returns an entity that is unknown to HTML unchanged.
func resolved(entity string) string {
	plain := html.UnescapeString(entity)
	if strings.HasSuffix(plain, ";") && plain != ";" {
		return entity
	}
	return plain
}

// angle parses an element or address that begins with <, and returns its end, or 0 if the text is
// neither.
func (r *inlineReader) angle(i int) (end int) {
	text := r.text
	if r.hopeless() {
		return 0
	}
	if end := autolink(text, i); end > 0 {
		r.out = append(r.out, text[i+1:end-1]...)
		return end
	}
	if m := mail.Find(text[i:min(len(text), i+400)]); m != nil {
		r.out = append(r.out, m[1:len(m)-1]...)
		return i + len(m)
	}
	if bytes.HasPrefix(text[i:], []byte("<!--")) {
		if n := bytes.Index(text[i+4:], []byte("-->")); n >= 0 {
			return i + 4 + n + 3
		}
		r.wasted += len(text) - i
		return 0
	}
	end, ok := element(text, i)
	if !ok {
		r.wasted += end - i
		return 0
	}
	return end
}

// target returns the end of the link or image whose text ends with the ] at i, or 0 if the ] ends
// neither.
func (r *inlineReader) target(b bracket, i, nested int) (end int) {
	text := r.text
	if r.hopeless() {
		return 0
	}
	next := byte(0)
	if i+1 < len(text) {
		next = text[i+1]
	}
	if next == '(' {
		at := skipSpace(text, i+2)
		if at < len(text) && text[at] == ')' {
			return at + 1
		}
		stop, looked := destination(text, at)
		if stop > at {
			var title int
			end, title = titled(text, stop, ')')
			looked = max(looked, title)
		}
		if stop > at && end > 0 {
			return end
		}
		r.wasted += looked - i
	}
	if len(r.labels) == 0 {
		return 0
	}
	label, end := text[b.at:i], i+1
	if next == '[' {
		named, _, ok := cutLabel(text[i+1:])
		if r.wasted += len(named); ok {
			if end = i + 3 + len(named); len(bytes.TrimSpace(named)) > 0 {
				label, nested = named, -1
			}
		}
	}
	if nested >= b.at || len(label) > MaxLabel {
		return 0
	}
	if r.wasted += len(label); !r.labels[Normal(label)] {
		return 0
	}
	return end
}

// emphasis records the run of emphasis characters at i, and returns its end.
func (r *inlineReader) emphasis(i int) (end int) {
	c := r.text[i]
	n := run(r.text[i:], c)
	before, _ := utf8.DecodeLastRune(r.text[:i])
	after, _ := utf8.DecodeRune(r.text[i+n:])
	left, right := flanks(before, after, i == 0, i+n == len(r.text))
	m := mark{at: len(r.out), size: n, kept: n, char: c, canOpen: left, canClose: right}
	if c == '_' {
		m.canOpen, m.canClose = left && (!right || isMark(before)), right && (!left || isMark(after))
	}
	if c == '~' && n > 2 {
		m.canOpen, m.canClose = false, false
	}
	r.out = append(r.out, r.text[i:i+n]...)
	r.marks = append(r.marks, m)
	return i + n
}

// flanks reports whether a run between two characters is left-flanking and right-flanking. The ends
// of the text count as white space.
func flanks(before, after rune, first, end bool) (left, right bool) {
	blankBefore, blankAfter := first || unicode.IsSpace(before), end || unicode.IsSpace(after)
	markBefore, markAfter := !first && isMark(before), !end && isMark(after)
	return !blankAfter && (!markAfter || blankBefore || markBefore), !blankBefore && (!markBefore || blankAfter || markAfter)
}

func isMark(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// pair finds the pairs among the emphasis runs whose index is at least from. After that, these runs
// cannot pair with any other run.
func (r *inlineReader) pair(from int) {
	var open []int // runs that can open
	// unfit contains, for each kind of closing run, how many of the first open runs are known not
	// to match it.
	var unfit [3][2][3]int
	cut := func(n int) {
		open = open[:n]
		for i := range unfit {
			for j := range unfit[i] {
				for k := range unfit[i][j] {
					unfit[i][j][k] = min(unfit[i][j][k], n)
				}
			}
		}
	}
	for i := from; i < len(r.marks); i++ {
		m := &r.marks[i]
		for m.canClose && m.kept > 0 {
			both := 0
			if m.canOpen {
				both = 1
			}
			least := &unfit[bytes.IndexByte([]byte("*_~"), m.char)][both][m.size%3]
			at := len(open) - 1
			for ; at >= *least && !r.marks[open[at]].fits(m); at-- {
			}
			if at < *least {
				*least = len(open)
				break
			}
			with := &r.marks[open[at]]
			n := 1
			if m.char == '~' {
				n = m.kept
			} else if m.kept >= 2 && with.kept >= 2 {
				n = 2
			}
			with.kept -= n
			m.kept -= n
			if with.kept == 0 {
				at--
			}
			cut(at + 1)
		}
		if m.canOpen && m.kept > 0 {
			open = append(open, i)
		}
	}
	for i := from; i < len(r.marks); i++ {
		r.marks[i].canOpen, r.marks[i].canClose = false, false
	}
}

// fits reports whether m, an opening run, pairs with a closing run (CommonMark, rules 9 and 10:
// multiples of 3).
func (m *mark) fits(closing *mark) bool {
	if m.char != closing.char {
		return false
	}
	if m.char == '~' {
		return m.kept == closing.kept
	}
	return !m.canClose && !closing.canOpen || (m.size+closing.size)%3 != 0 || m.size%3 == 0 && closing.size%3 == 0
}

// plain returns the text without markup.
func (r *inlineReader) plain() (out []byte) {
	slices.SortFunc(r.marks, func(a, b mark) int { return a.at - b.at })
	at := 0
	for _, m := range r.marks {
		out = append(out, r.out[at:m.at+m.kept]...)
		at = m.at + m.size
	}
	return append(out, r.out[at:]...)
}
