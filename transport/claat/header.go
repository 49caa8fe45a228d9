package claat

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// header is the part before the title and the steps.
type header struct {
	id, summary, author, title string
	// ignored lists "feedback link" and "home url", if the header has them. A codelab cannot
	// represent these keys. Unknown keys are not listed.
	ignored []string
}

// set stores the value of a key. For keys with the same meaning, the first value that is not empty
// counts.
func (h *header) set(key, value string) {
	to := map[string]*string{"id": &h.id, "summary": &h.summary, "description": &h.summary, "author": &h.author, "authors": &h.author, "title": &h.title}[key]
	switch {
	case to != nil && *to == "":
		*to = strings.TrimSpace(value)
	case (key == "feedback link" || key == "home url") && strings.TrimSpace(value) != "":
		h.ignored = append(h.ignored, key)
	}
}

// maxHeader is the maximum size of a fenced header, in bytes. A text whose header does not end
// within it has no header.
const maxHeader = 64 << 10

// fencedHeader reads a header between two lines: --- (or ... at the end) around YAML, +++ around
// TOML. end is the position after the header, or 0 if there is no header.
func fencedHeader(source []byte) (h *header, end int, err error) {
	first, rest, _ := bytes.Cut(source, []byte("\n"))
	mark := string(bytes.TrimRight(first, " \t"))
	if mark != "---" && mark != "+++" {
		return nil, 0, nil
	}
	at := len(source) - len(rest)
	for line := range bytes.Lines(rest[:min(len(rest), maxHeader)]) {
		body := source[len(first)+1 : at]
		at += len(line)
		if l := string(bytes.TrimRight(line, " \t\n")); l == mark || mark == "---" && l == "..." {
			h = &header{}
			if mark == "+++" {
				err = h.toml(body)
			} else {
				err = h.yaml(body)
			}
			return h, at, err
		}
	}
	return nil, 0, nil
}

// fault is an error at a position in the text. line and column count from 1. name is the fragment
// that contains the position, or "" for the file itself.
type fault struct {
	name         string
	line, column int
	error
}

func (f *fault) Error() string {
	in := ""
	if f.name != "" {
		in = f.name + ", "
	}
	return fmt.Sprintf("%sline %d, column %d: %v", in, f.line, f.column, f.error)
}

func (f *fault) Unwrap() error { return f.error }

// at returns an error at a position in the text.
func at(line, column int, format string, args ...any) error {
	return &fault{"", line, column, fmt.Errorf(format, args...)}
}

func (h *header) toml(body []byte) error {
	var values map[string]any
	if err := toml.Unmarshal(body, &values); err != nil {
		var at2 *toml.DecodeError
		if errors.As(err, &at2) {
			line, column := at2.Position()
			return at(line+1, column, "the header is not TOML: %s", strings.TrimPrefix(at2.Error(), "toml: "))
		}
		return at(1, 1, "the header is not TOML: %w", err)
	}
	for _, key := range slices.Sorted(maps.Keys(values)) { // sorted, so that the result is always the same
		value := values[key]
		var words []string
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		for _, v := range list {
			switch v.(type) {
			case string, int64, float64, bool:
				words = append(words, fmt.Sprint(v))
			}
		}
		h.set(strings.ToLower(key), strings.Join(words, ", "))
	}
	return nil
}

// yaml parses YAML. If the text is not valid YAML, it reads lines of keys and values, because
// authors write colons in unquoted texts. If these lines have no id, it returns the YAML error.
func (h *header) yaml(body []byte) error {
	var document yaml.Node
	err := yaml.Unmarshal(body, &document)
	if err != nil {
		lines := &header{}
		if lines.lines(body); lines.id == "" {
			return yamlError(body, err)
		}
		*h = *lines
		return nil
	}
	if len(document.Content) == 0 {
		return nil
	}
	top := document.Content[0]
	if top.Kind != yaml.MappingNode {
		return at(top.Line+1, top.Column, "the header has no keys: add a line like \"id: my-codelab\"")
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		value := top.Content[i+1]
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		var words []string
		for _, v := range append([]*yaml.Node{value}, value.Content...) {
			if v.Kind == yaml.ScalarNode && v.Tag != "!!null" && (v == value || value.Kind == yaml.SequenceNode) {
				words = append(words, strings.TrimSpace(v.Value))
			}
		}
		h.set(strings.ToLower(top.Content[i].Value), strings.Join(strings.Fields(strings.Join(words, ", ")), " "))
	}
	return nil
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`)

// yamlError returns an error with the position where YAML is invalid. The parser reports only the
// line. The column is the position of a second colon, which YAML forbids, or of the line's text.
func yamlError(body []byte, err error) error {
	message := strings.SplitN(err.Error(), "\n", 2)[0]
	line := 1
	if m := yamlLine.FindStringSubmatch(message); m != nil {
		message = m[2]
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
	}
	column := 1
	if lines := bytes.Split(body, []byte("\n")); line <= len(lines) {
		text := lines[line-1]
		column += len(text) - len(bytes.TrimLeft(text, " \t"))
		if first := bytes.Index(text, []byte(": ")); first >= 0 && strings.Contains(message, "mapping values") {
			if second := bytes.Index(text[first+2:], []byte(": ")); second >= 0 {
				column = utf8.RuneCount(text[:first+2+second]) + 1
			}
		}
	}
	return at(line+1, column, "the header is not YAML: %s", message)
}

// lines parses key: value lines.
func (h *header) lines(block []byte) {
	for l := range strings.Lines(string(block)) {
		if key, value, ok := strings.Cut(l, ":"); ok {
			h.set(strings.ToLower(strings.TrimSpace(key)), unquoted(strings.TrimSpace(value)))
		}
	}
}

// unquoted removes quotes around a value.
func unquoted(value string) string {
	if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] && strings.IndexByte(value[1:n-1], value[0]) < 0 {
		return value[1 : n-1]
	}
	return value
}

// isHeaderLine reports whether a line is a header's key and value.
func isHeaderLine(line []byte) bool { return headerLine.Match(line) }

var headerLine = regexp.MustCompile(`^[A-Za-z][A-Za-z _-]{0,40}:(?:[ \t]|$)`)
