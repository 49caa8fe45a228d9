package markdown

import (
	"bytes"
	"strings"
)

// Definition defines a reference: [label]: address "title". It can be anywhere in a file, and
// applies to the whole file.
type Definition struct {
	Label string // normalized
	Text  string // the definition on one line
	Span         // its lines
}

// MaxLabel bounds a label, in bytes; CommonMark permits 999 characters.
const MaxLabel = 4 * 999

// define parses a definition at the beginning of a line. Its address and title can be on the
// following lines, at the beginning of follow. more is the number of bytes of follow that belong to
// the definition.
func define(text, follow []byte) (l Definition, more int, ok bool) {
	label, rest, ok := cutLabel(text)
	if !ok || len(rest) == 0 || rest[0] != ':' {
		return l, 0, false
	}
	name := Normal(label)
	if name == "" {
		return l, 0, false
	}
	head := text[:len(text)-len(rest)+1]
	rest = bytes.Trim(rest[1:], " \t")
	if len(rest) == 0 {
		next, size := firstLine(follow)
		if !plainAddress(next) {
			return l, 0, false
		}
		rest, more = next, size
		follow = follow[size:]
	}
	address, title, ok := cutAddress(rest)
	if !ok || len(title) > 0 && !isTitle(title) {
		return l, 0, false
	}
	l = Definition{Label: name, Text: string(head) + " " + string(address)}
	if len(title) == 0 {
		if next, size := firstLine(follow); isTitle(next) {
			title = next
			more += size
		}
	}
	if len(title) > 0 {
		l.Text += " " + string(title)
	}
	return l, more, true
}

// firstLine returns the first line of a text, trimmed, and its size including the line feed.
func firstLine(text []byte) ([]byte, int) {
	size := len(text)
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		size = i + 1
	}
	return bytes.Trim(text[:size], " \t\r\n"), size
}

// cutLabel removes the label, in its brackets, from a text.
func cutLabel(text []byte) (label, rest []byte, ok bool) {
	if len(text) == 0 || text[0] != '[' {
		return nil, nil, false
	}
	for i := 1; i < len(text) && i <= MaxLabel; i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			return nil, nil, false
		case ']':
			return text[1:i], text[i+1:], true
		}
	}
	return nil, nil, false
}

// plainAddress reports whether a line is an address that cannot be mistaken for the beginning of a
// block.
func plainAddress(text []byte) bool {
	return len(text) > 0 && !bytes.ContainsAny(text, " \t<[") && (isLetter(text[0]) || text[0] == '/' || text[0] == '.' || bytes.Contains(text, []byte(":/")))
}

func cutAddress(text []byte) (address, rest []byte, ok bool) {
	end := bytes.IndexAny(text, " \t")
	if text[0] == '<' {
		i := bytes.IndexByte(text, '>')
		if i < 0 || bytes.IndexByte(text[1:i], '<') >= 0 {
			return nil, nil, false
		}
		end = i + 1
		if end < len(text) && text[end] != ' ' && text[end] != '\t' {
			return nil, nil, false
		}
	}
	if end < 0 {
		end = len(text)
	}
	return text[:end], bytes.TrimLeft(text[end:], " \t"), true
}

// isTitle reports whether the whole text is a title in quotation marks or parentheses.
func isTitle(text []byte) bool {
	if len(text) < 2 {
		return false
	}
	end, ok := map[byte]byte{'"': '"', '\'': '\'', '(': ')'}[text[0]]
	if !ok {
		return false
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case end:
			return i == len(text)-1
		}
	}
	return false
}

// Normal returns the normalized form of a label: in lower case, with one space for each run of
// white space.
func Normal(label []byte) string {
	return strings.ToLower(strings.ToUpper(strings.Join(strings.Fields(string(label)), " ")))
}
