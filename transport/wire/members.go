package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Programs disagree on the meaning of an object with a duplicate name. All other differences
// between two texts of the same data have no meaning (RFC 7493, RFC 8785). Once and Canonical keep
// and report no part of a body, because a body can contain a credential.

// maxDepth bounds the nesting of a body.
const maxDepth = 512

var (
	errTwice = Invalid("a member name occurs twice in one object")
	errDeep  = Invalid("the body is nested too deeply")
	errJSON  = Invalid("the body is not valid JSON")
)

// Once returns an error if an object in a body, at any depth, has a duplicate member. Names are
// compared after unescaping. Once also refuses a body that is nested too deeply or has a broken
// structure.
func Once(body []byte) error {
	m := members{b: body}
	return m.all(nil)
}

// Canonical appends the RFC 8785 form of a body to out, so that bodies with the same data have the
// same bytes. A number that a double cannot represent exactly, or that has more than maxNumber bytes,
// is left unchanged. Canonical fails as Once does. It appends at most six times the length of the
// body.
func Canonical(out, body []byte) ([]byte, error) {
	m := members{b: body}
	var root node
	if err := m.all(&root); err != nil {
		return nil, err
	}
	return root.write(out, body), nil
}

// members parses a body.
type members struct {
	b     []byte
	i     int
	names [][]byte // of the open objects, innermost last
}

// node is a value of a body: its text or its elements.
type node struct {
	start, end int
	in         []member
	object     bool
}

type member struct {
	name  []byte // unescaped
	value node
}

// all parses the body, and stores its structure in into unless that is nil.
func (m *members) all(into *node) error {
	m.names = make([][]byte, 0, few) // the only allocation for most bodies
	if err := m.value(into, 0); err != nil {
		return err
	}
	if m.space(); m.i < len(m.b) {
		return errJSON
	}
	return nil
}

func (m *members) space() {
	for m.i < len(m.b) && (m.b[m.i] == ' ' || m.b[m.i] == '\t' || m.b[m.i] == '\n' || m.b[m.i] == '\r') {
		m.i++
	}
}

// take consumes one character if it is next.
func (m *members) take(c byte) bool {
	if m.space(); m.i >= len(m.b) || m.b[m.i] != c {
		return false
	}
	m.i++
	return true
}

func (m *members) value(into *node, depth int) error {
	if depth > maxDepth {
		return errDeep
	}
	m.space()
	if m.i >= len(m.b) {
		return errJSON
	}
	start := m.i
	var err error
	switch m.b[m.i] {
	case '{':
		err = m.object(into, depth)
	case '[':
		err = m.array(into, depth)
	case '"':
		err = m.text()
	default:
		for m.i < len(m.b) && bytes.IndexByte([]byte(",]} \t\n\r"), m.b[m.i]) < 0 {
			m.i++
		}
		if m.i == start {
			err = errJSON
		}
	}
	if into != nil {
		into.start, into.end = start, m.i
	}
	return err
}

func (m *members) array(into *node, depth int) error {
	m.i++
	if m.take(']') {
		return nil
	}
	for {
		var v *node
		if into != nil {
			into.in = append(into.in, member{})
			v = &into.in[len(into.in)-1].value
		}
		if err := m.value(v, depth+1); err != nil {
			return err
		}
		if m.take(']') {
			return nil
		}
		if !m.take(',') {
			return errJSON
		}
	}
}

func (m *members) object(into *node, depth int) error {
	m.i++
	if into != nil {
		into.object = true
	}
	first := len(m.names)
	defer func() { m.names = m.names[:first] }()
	if m.take('}') {
		return nil
	}
	for {
		m.space()
		start := m.i
		if err := m.text(); err != nil {
			return err
		}
		name, _ := unquoted(m.b[start:m.i])
		m.names = append(m.names, name)
		if !m.take(':') {
			return errJSON
		}
		var v *node
		if into != nil {
			into.in = append(into.in, member{name: name})
			v = &into.in[len(into.in)-1].value
		}
		if err := m.value(v, depth+1); err != nil {
			return err
		}
		if m.take('}') {
			return once(m.names[first:])
		}
		if !m.take(',') {
			return errJSON
		}
	}
}

// few is the number of names up to which each name is compared with every other.
const few = 16

func once(names [][]byte) error {
	if len(names) > few {
		seen := make(map[string]struct{}, len(names))
		for _, name := range names {
			if _, twice := seen[string(name)]; twice {
				return errTwice
			}
			seen[string(name)] = struct{}{}
		}
		return nil
	}
	for i, name := range names {
		for _, other := range names[:i] {
			if bytes.Equal(name, other) {
				return errTwice
			}
		}
	}
	return nil
}

// text consumes a text with its quotes.
func (m *members) text() error {
	if m.i >= len(m.b) || m.b[m.i] != '"' {
		return errJSON
	}
	for i := m.i + 1; i < len(m.b); i++ {
		switch m.b[i] {
		case '\\':
			i++
		case '"':
			m.i = i + 1
			return nil
		}
	}
	return errJSON
}

// unquoted returns the text inside quotes: a part of the input if nothing is escaped, else a copy.
// An unpaired surrogate is encoded in the manner of UTF-8, so that it equals no other text.
func unquoted(quoted []byte) (text []byte, copied bool) {
	in := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(in, '\\') < 0 {
		return in, false
	}
	out := make([]byte, 0, len(in))
	for i := 0; i < len(in); i++ {
		if in[i] != '\\' || i+1 >= len(in) {
			out = append(out, in[i])
			continue
		}
		i++
		switch in[i] {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, ok := unit(in, i+1)
			if !ok {
				return in, false
			}
			i += 4
			if utf16.IsSurrogate(r) {
				second, pair := unit(in, i+3)
				if whole := utf16.DecodeRune(r, second); pair && in[i+1] == '\\' && in[i+2] == 'u' && whole != utf8.RuneError {
					r, i = whole, i+6
				} else {
					out = append(out, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
					continue
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, in[i])
		}
	}
	return out, true
}

// unit parses four hexadecimal digits.
func unit(in []byte, i int) (rune, bool) {
	if i+4 > len(in) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(in[i:i+4]), 16, 16)
	return rune(n), err == nil
}

func (n *node) write(out, body []byte) []byte {
	if n.start >= len(body) {
		return out
	}
	switch c := body[n.start]; {
	case n.object:
		slices.SortFunc(n.in, func(a, b member) int {
			return cmp.Or(slices.Compare(utf16.Encode([]rune(string(a.name))), utf16.Encode([]rune(string(b.name)))), bytes.Compare(a.name, b.name))
		})
		out = append(out, '{')
		for i := range n.in {
			if i > 0 {
				out = append(out, ',')
			}
			out = quoted(out, n.in[i].name)
			out = append(out, ':')
			out = n.in[i].value.write(out, body)
		}
		return append(out, '}')
	case c == '[':
		out = append(out, '[')
		for i := range n.in {
			if i > 0 {
				out = append(out, ',')
			}
			out = n.in[i].value.write(out, body)
		}
		return append(out, ']')
	case c == '"':
		text, copied := unquoted(body[n.start:n.end])
		if out = quoted(out, text); copied {
			clear(text) // it may be secret
		}
		return out
	case c == '-' || c >= '0' && c <= '9':
		return number(out, body[n.start:n.end])
	}
	return append(out, body[n.start:n.end]...)
}

// quoted appends a text with quotes, escaping only what must be escaped.
func quoted(out, text []byte) []byte {
	out = append(out, '"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c >= ' ':
			out = append(out, c)
		default:
			if i := bytes.IndexByte([]byte("\b\t\n\f\r"), c); i >= 0 {
				out = append(out, '\\', "btnfr"[i])
				continue
			}
			out = append(out, `\u00`...)
			out = append(out, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		}
	}
	return append(out, '"')
}

// maxNumber bounds the length, in bytes, of numbers that are compared by value. Nobody writes
// longer numbers that a double represents exactly.
const maxNumber = 40

// number appends the canonical form of a number.
func number(out, text []byte) []byte {
	if len(text) > maxNumber {
		return append(out, text...)
	}
	if i := bytes.IndexAny(text, "eE"); i >= 0 {
		if e, err := strconv.Atoi(string(text[i+1:])); err != nil || e > 400 || e < -400 {
			return append(out, text...)
		}
	}
	exact, ok := new(big.Rat).SetString(string(text))
	if !ok {
		return append(out, text...)
	}
	f, same := exact.Float64()
	if !same {
		return append(out, text...)
	}
	if f == 0 { // also -0
		return append(out, '0')
	}
	b, err := json.Marshal(f) // in the format of ECMAScript
	if err != nil {
		return append(out, text...)
	}
	return append(out, b...)
}
