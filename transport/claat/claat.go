// Package claat reads tutorials in the claat flavour of Markdown: metadata
// lines first, the title as H1, a step for each H2. It is pure: text in,
// tutorial or a clear error out.
package claat

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// Tutorial is a parsed file.
type Tutorial struct {
	// ID, Summary and Author are from the metadata; only the id is required.
	ID, Summary, Author string
	Title               string
	Steps               []Step
}

// Step is one H2 and what stands under it.
type Step struct {
	Title string
	// Duration is rounded up to minutes; 0 when none is given.
	Duration time.Duration
	// Markdown is the content, with the boxes as <aside> elements.
	Markdown string
}

// Limits of includes: how deep, and how large the whole text may get, bytes.
const (
	maxDepth = 8
	maxText  = 32 << 20
)

// Include returns a fragment of the same archive.
type Include func(name string) ([]byte, error)

// Parse reads a tutorial. include resolves <<file.md>> lines; nil when there
// is no archive to include from.
func Parse(source []byte, include Include) (*Tutorial, error) {
	if !utf8.Valid(source) {
		return nil, errors.New("the file is not valid UTF-8")
	}
	source = bytes.TrimPrefix(source, []byte("\ufeff"))
	source = bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n"))
	expanded, err := expand(source, include, nil, new(int))
	if err != nil {
		return nil, err
	}
	return parse(expanded)
}

// heading is an H1 or H2 of the file.
type heading struct {
	level      int
	title      string
	start, end int // the lines it takes, of the source
}

func parse(source []byte) (*Tutorial, error) {
	heads := headings(source)
	if len(heads) == 0 || heads[0].level != 1 {
		return nil, errors.New("the title is missing: a line with # and the title, before the first step")
	}
	t := &Tutorial{Title: heads[0].title}
	if err := t.metadata(source[:heads[0].start]); err != nil {
		return nil, err
	}
	if t.Title == "" {
		return nil, errors.New("the title is empty")
	}
	for i, h := range heads[1:] {
		if h.level != 2 {
			continue // a further H1 is content of its step
		}
		if h.title == "" {
			return nil, fmt.Errorf("step %d has no title", len(t.Steps)+1)
		}
		end := len(source)
		for _, next := range heads[i+2:] {
			if next.level == 2 {
				end = next.start
				break
			}
		}
		t.Steps = append(t.Steps, newStep(h.title, string(source[h.end:end])))
	}
	if len(t.Steps) == 0 {
		return nil, errors.New("there is no step: each step starts with a line of ## and its title")
	}
	return t, nil
}

// headings finds the H1 and H2 of a text with a real Markdown parser, so that
// a # in a code block is none and an underlined title is one.
func headings(source []byte) []heading {
	var out []heading
	doc := goldmark.DefaultParser().Parse(text.NewReader(source))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok || h.Level > 2 {
			continue
		}
		at := h.Pos()
		if h.Lines().Len() > 0 {
			at = h.Lines().At(0).Start
		}
		start := bytes.LastIndexByte(source[:at], '\n') + 1
		last := at
		if n := h.Lines().Len(); n > 0 {
			last = h.Lines().At(n - 1).Stop
		}
		end := lineEnd(source, last)
		// The underline of a setext heading is part of it.
		if !bytes.HasPrefix(bytes.TrimLeft(source[start:], " "), []byte("#")) {
			if i := bytes.IndexByte(source[end:], '\n'); i >= 0 {
				end += i + 1
			} else {
				end = len(source)
			}
		}
		out = append(out, heading{h.Level, plain(h, source), start, end})
	}
	return out
}

// lineEnd is the position behind the line that contains at.
func lineEnd(source []byte, at int) int {
	if at > 0 && at <= len(source) && source[at-1] == '\n' {
		at--
	}
	if i := bytes.IndexByte(source[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(source)
}

// plain is the text of a heading without its marks.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			switch n := n.(type) {
			case *ast.Text:
				b.Write(n.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			case *ast.String:
				b.Write(n.Value)
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(b.String())
}

// metadata reads the key: value lines before the title.
func (t *Tutorial) metadata(block []byte) error {
	for l := range strings.Lines(string(block)) {
		key, value, ok := strings.Cut(l, ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "id":
			t.ID = value
		case "summary":
			t.Summary = value
		case "author", "authors":
			t.Author = value
		}
	}
	if t.ID == "" {
		return errors.New("the metadata has no id: a line like \"id: my-codelab\" before the title")
	}
	return nil
}

// newStep takes the lines about the step off its content.
func newStep(title, body string) Step {
	s := Step{Title: title}
	body = strings.TrimLeft(body, "\n")
	for {
		line, rest, _ := strings.Cut(body, "\n")
		key, value, ok := strings.Cut(line, ":")
		key = strings.ToLower(strings.TrimSpace(key))
		if !ok || key != "duration" && key != "environment" {
			break
		}
		if key == "duration" {
			d, ok := ParseDuration(value)
			if !ok {
				break
			}
			s.Duration = d
		}
		body = strings.TrimLeft(rest, "\n")
	}
	s.Markdown = strings.TrimRight(boxes(body), " \t\n") + "\n"
	if s.Markdown == "\n" {
		s.Markdown = ""
	}
	return s
}

// ParseDuration reads hh:mm:ss, mm:ss or a bare number of minutes, rounded up
// to minutes.
func ParseDuration(s string) (time.Duration, bool) {
	parts := strings.Split(strings.TrimSpace(s), ":")
	if len(parts) > 3 {
		return 0, false
	}
	total := 0
	for _, p := range parts {
		n, err := strconv.Atoi(strings.TrimSpace(p))
		if err != nil || n < 0 || n > 100_000 {
			return 0, false
		}
		total = total*60 + n
	}
	if len(parts) == 1 {
		total *= 60
	}
	return time.Duration((total+59)/60) * time.Minute, true
}
