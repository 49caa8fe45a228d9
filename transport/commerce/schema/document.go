package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Read parses a file. Errors other than *SyntaxError are errors of the file system, or report that
// the path is not a regular file.
func Read(path string) (*Document, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	// Only regular files are read, because reading a pipe or a device could block or never end.
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return Parse(path, data)
}

// Limits of one document. A published schema has about ten KiB and eight levels.
const (
	maxBytes = 4 << 20
	MaxDepth = 96
	// maxValues bounds memory: a value takes far more memory than its text, which can be one byte.
	maxValues = 500_000
	// maxPaths bounds the total length, in bytes, of the pointers to all values. A response with
	// the positions of values contains these pointers, and a long name is part of every pointer
	// below it.
	maxPaths = 64 << 20
	// maxDigits bounds the text of a number, in bytes.
	maxDigits = 400
)

// Document is a parsed file or response. It is immutable after Parse.
type Document struct {
	// File is the name that messages show: a path or an address.
	File string
	// Value is the root of the tree.
	Value any

	data []byte
}

// Size returns the length of the document's text, in bytes.
func (d *Document) Size() int { return len(d.data) }

// SyntaxError is the reason why a document could not be read.
type SyntaxError struct {
	File string
	// Line counts from 1. It is 0 if the line is unknown.
	Line   int
	Reason string
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", Brief(e.File), e.Reason)
	}
	return fmt.Sprintf("%s:%d: %s", Brief(e.File), e.Line, e.Reason)
}

// Parse parses data, which the document keeps. The error is a *SyntaxError.
func Parse(file string, data []byte) (*Document, error) { return ParseSmall(file, data, maxValues) }

// ParseSmall does the same as Parse for a document of at most the given number of values. A value
// can take up to about 350 bytes of memory.
func ParseSmall(file string, data []byte, values int) (*Document, error) {
	if len(data) > maxBytes {
		return nil, &SyntaxError{File: file, Reason: fmt.Sprintf("larger than %d bytes", maxBytes)}
	}
	if !utf8.Valid(data) {
		return nil, &SyntaxError{File: file, Reason: "not valid UTF-8"}
	}
	// Check the whole text first, because the token reader below does not detect every fault
	// between tokens.
	if err := wellFormed(data); err != nil {
		line := 0
		if s := (*json.SyntaxError)(nil); errors.As(err, &s) {
			line = lineAt(data, s.Offset)
		}
		return nil, &SyntaxError{File: file, Line: line, Reason: "not JSON: " + err.Error()}
	}
	p := newParser(data, nil, values)
	value, err := p.value("", 0, 0)
	if err != nil {
		return nil, &SyntaxError{File: file, Line: lineAt(data, p.in.InputOffset()), Reason: err.Error()}
	}
	return &Document{File: file, Value: value, data: data}, nil
}

func wellFormed(data []byte) error {
	if json.Valid(data) {
		return nil
	}
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	return errors.New("invalid")
}

func lineAt(data []byte, offset int64) int {
	offset = min(max(offset, 0), int64(len(data)))
	return 1 + bytes.Count(data[:offset], []byte("\n"))
}

// parser builds a tree from tokens, and the lines of its values on request.
type parser struct {
	in     *json.Decoder
	data   []byte
	values int
	paths  int // bytes of the pointers to the values so far
	lines  *lineIndex
	most   int // the maximum number of values
}

func newParser(data []byte, lines *lineIndex, most int) *parser {
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	return &parser{in: in, data: data, lines: lines, most: most}
}

// value parses a value at a pointer of the given length; the parser builds the pointer itself only
// if it collects lines.
func (p *parser) value(pointer string, path, depth int) (any, error) {
	token, err := p.in.Token()
	if err != nil {
		return nil, err
	}
	if p.values++; p.values > p.most {
		return nil, fmt.Errorf("more than %d values", p.most)
	}
	if p.paths += path; p.paths > maxPaths {
		return nil, errors.New("the names of its members are too long together")
	}
	if depth > MaxDepth {
		return nil, fmt.Errorf("nested deeper than %d", MaxDepth)
	}
	if p.lines != nil {
		p.lines.add(pointer, p.in.InputOffset())
	}
	switch token {
	case json.Delim('{'):
		return p.object(pointer, path, depth)
	case json.Delim('['):
		return p.array(pointer, path, depth)
	}
	if n, ok := token.(json.Number); ok {
		return n, checkNumber(n)
	}
	return token, nil
}

// checkNumber refuses numbers whose exact value would take much more memory than their text, such
// as 1e999999.
func checkNumber(n json.Number) error {
	if _, err := n.Float64(); err != nil || len(n) > maxDigits {
		return errors.New("a number is too large or too long")
	}
	if _, exponent, ok := strings.Cut(strings.ToLower(n.String()), "e"); ok {
		if e, err := strconv.Atoi(exponent); err != nil || e < -400 {
			return errors.New("a number is too small")
		}
	}
	return nil
}

func (p *parser) object(pointer string, path, depth int) (any, error) {
	object := map[string]any{}
	for p.in.More() {
		token, err := p.in.Token()
		if err != nil {
			return nil, err
		}
		key, _ := token.(string)
		if _, twice := object[key]; twice {
			return nil, fmt.Errorf("member %q occurs twice in one object", Brief(key))
		}
		if object[key], err = p.value(p.below(pointer, key), path+1+len(key), depth+1); err != nil {
			return nil, err
		}
	}
	_, err := p.in.Token()
	return object, err
}

func (p *parser) array(pointer string, path, depth int) (any, error) {
	array := []any{}
	for p.in.More() {
		item, err := p.value(p.below(pointer, itoa(len(array))), path+8, depth+1)
		if err != nil {
			return nil, err
		}
		array = append(array, item)
	}
	_, err := p.in.Token()
	return array, err
}

// below returns the pointer of a child; it is built only if lines are collected.
func (p *parser) below(pointer, token string) string {
	if p.lines == nil {
		return ""
	}
	return pointer + "/" + Escape(token)
}

// Lines contains the line of every value in a document.
type Lines struct{ byPointer map[string]int }

// lineIndex collects the lines while a parser reads a document.
type lineIndex struct {
	Lines
	data []byte
	line int
	at   int64
}

func (x *lineIndex) add(pointer string, offset int64) {
	x.line += bytes.Count(x.data[x.at:offset], []byte("\n"))
	x.at = offset
	x.byPointer[pointer] = x.line
}

// Lines parses the document again for the lines. It costs as much as parsing, so callers call it
// once, and only for documents with findings.
func (d *Document) Lines() Lines {
	x := &lineIndex{Lines: Lines{map[string]int{}}, data: d.data, line: 1}
	if _, err := newParser(d.data, x, maxValues).value("", 0, 0); err != nil {
		return Lines{}
	}
	return x.Lines
}

// Of returns the line of the value at pointer, or of the nearest enclosing value if it is missing;
// at least 1.
func (l Lines) Of(pointer string) int {
	for {
		if line, ok := l.byPointer[pointer]; ok {
			return line
		}
		cut := strings.LastIndexByte(pointer, '/')
		if cut < 0 {
			return 1
		}
		pointer = pointer[:cut]
	}
}
