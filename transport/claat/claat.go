// Package claat reads tutorials in the claat flavour of Markdown: metadata
// lines first, the title as H1, a step for each H2. It is pure: text in,
// tutorial or a clear error out.
package claat

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/markdown"
)

// Tutorial is a parsed file.
type Tutorial struct {
	// ID, Summary and Author are from the metadata; only the id is required.
	ID, Summary, Author string
	Title               string
	Steps               []Step
	// Polls are the questions of its surveys, as drafts. Their StepId is the number of the step.
	Polls []*pb.Poll
	// Lost says what of the file a codelab does not have, each once.
	Lost []string
}

func (t *Tutorial) lose(what string) {
	if !slices.Contains(t.Lost, what) {
		t.Lost = append(t.Lost, what)
	}
}

// Step is one H2 and what stands under it.
type Step struct {
	Title string
	// Duration is rounded up to minutes; 0 when none is given.
	Duration time.Duration
	// Markdown is the content, with the boxes as <aside> elements.
	Markdown string
}

// Limits of a file.
const (
	// maxDepth is how deep fragments are included, maxFragments how many are
	// in all, and maxText how large the whole may get, bytes.
	maxDepth     = 8
	maxFragments = 1000
	maxText      = 32 << 20

	// A codelab has no more steps, and none is longer than half of maxContent,
	// in code points: what is far above is refused before it is looked at.
	maxSteps   = 200
	maxContent = 100_000
	// maxHeading bounds the lines of a title, bytes.
	maxHeading = 4000
)

// Include returns a fragment of the same archive.
type Include func(name string) ([]byte, error)

// Parse reads a tutorial. include resolves <<file.md>> lines; nil when there
// is no archive to include from. still is asked now and then whether anybody
// waits for the outcome; its error ends the work. The time is in proportion to
// the size of the text.
func Parse(source []byte, include Include, still func() error) (*Tutorial, error) {
	if !utf8.Valid(source) {
		return nil, errors.New("the file is not valid UTF-8")
	}
	source = bytes.TrimPrefix(source, []byte("\ufeff"))
	source = bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n"))
	in := inclusion{include: include, still: still}
	if err := in.expand(source, nil); err != nil {
		return nil, err
	}
	return parse(in.out.Bytes(), still)
}

// head is an H1 or H2 of the file.
type head struct {
	level      int
	start, end int // the lines it takes, of the source
}

// outline is where things stand in a file.
type outline struct {
	title head
	steps []head
	// preface is where text before the first step begins, -1 for nowhere.
	preface int
	links   definitions
}

func parse(source []byte, still func() error) (*Tutorial, error) {
	o, err := outlineOf(source, still)
	if err != nil {
		return nil, err
	}
	t := &Tutorial{}
	if o.preface >= 0 {
		t.lose("the text before the first step belongs to none")
	}
	if err := t.metadata(source[:o.title.start]); err != nil {
		return nil, err
	}
	if t.Title, err = plain(source, o.title, o.links); err != nil {
		return nil, fmt.Errorf("the title %w", err)
	}
	for i, h := range o.steps {
		if err := still(); err != nil {
			return nil, err
		}
		title, err := plain(source, h, o.links)
		if err != nil {
			return nil, fmt.Errorf("the title of step %d %w", i+1, err)
		}
		end := len(source)
		if i+1 < len(o.steps) {
			end = o.steps[i+1].start
		}
		content := source[h.end:end]
		if len(content) > maxContent && utf8.RuneCount(content) > maxContent {
			return nil, fmt.Errorf("step %d is far too long", i+1)
		}
		st := Step{Title: title}
		asked := func(q question) bool {
			p := q.poll()
			if p == nil || len(t.Polls) == codelab.Bounds.Polls {
				return false
			}
			p.StepId = strconv.Itoa(i + 1)
			t.Polls = append(t.Polls, p)
			return true
		}
		st.read(string(content), o.links, asked, func(what string) {
			t.lose(fmt.Sprintf("step %d: %s", i+1, what))
		})
		t.Steps = append(t.Steps, st)
	}
	return t, nil
}

// outlineOf finds the title and the steps. It reads the blocks of Markdown, so
// that a # in a code block is none and an underlined title is one.
func outlineOf(source []byte, still func() error) (*outline, error) {
	o := &outline{preface: -1, links: definitions{}}
	s := markdown.New(source)
	s.Found = o.links.add
	var text int // where the paragraph began
	titled, comment := false, false
	n := 0
	for l, more := s.Next(); more; l, more = s.Next() {
		if n++; n%4096 == 0 {
			if err := still(); err != nil {
				return nil, err
			}
		}
		h := head{l.Level, l.Start, l.End}
		switch l.Kind {
		case markdown.Paragraph:
			if l.First {
				text = l.Start
			}
		case markdown.Underline:
			h.start = text
		case markdown.HTML:
			if l.First {
				comment = bytes.HasPrefix(bytes.TrimLeft(source[l.Start:l.End], " "), []byte("<!--"))
			}
		}
		found := h.level == 1 || h.level == 2
		switch {
		case found && !titled:
			if h.level == 2 {
				return nil, errNoTitle
			}
			o.title, titled = h, true
		case found && h.level == 2: // a further H1 is content of its step
			if len(o.steps) == maxSteps {
				return nil, fmt.Errorf("there are more than %d steps", maxSteps)
			}
			if o.preface == h.start {
				o.preface = -1 // it was this title, before its underline was seen
			}
			o.steps = append(o.steps, h)
		case titled && len(o.steps) == 0 && o.preface < 0 && l.Kind != markdown.Blank && l.Kind != markdown.Defining && (l.Kind != markdown.HTML || !comment):
			o.preface = l.Start
		}
	}
	switch {
	case !titled:
		return nil, errNoTitle
	case len(o.steps) == 0:
		return nil, errors.New("there is no step: each step starts with a line of ## and its title")
	}
	return o, nil
}

var errNoTitle = errors.New("the title is missing: a line with # and the title, before the first step")

// plain is the text of a heading without its marks.
func plain(source []byte, h head, links definitions) (string, error) {
	if h.end-h.start > maxHeading {
		return "", errors.New("is too long")
	}
	line := source[h.start:h.end]
	// Nothing but the heading is read as Markdown, with what it refers to.
	line = append(append([]byte(nil), line...), "\n\n"+strings.Join(links.carried(line, maxHeading), "\n")...)
	var b strings.Builder
	n := goldmark.DefaultParser().Parse(text.NewReader(line)).FirstChild()
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			switch n := n.(type) {
			case *ast.Text:
				b.Write(n.Value(line))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			case *ast.String:
				b.Write(n.Value)
			}
		}
		return ast.WalkContinue, nil
	})
	title := strings.TrimSpace(b.String())
	if title == "" {
		return "", errors.New("is empty")
	}
	return title, nil
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
		case "feedback link", "home url":
			if value != "" {
				t.lose(fmt.Sprintf("the metadata %q", strings.ToLower(strings.TrimSpace(key))))
			}
		}
	}
	if t.ID == "" {
		return errors.New("the metadata has no id: a line like \"id: my-codelab\" before the title")
	}
	return nil
}

// read takes the lines about the step off its content, and gives it the definitions that
// it refers to.
func (s *Step) read(body string, links definitions, asked func(question) bool, lost func(what string)) {
	carried := links.carried([]byte(body), maxContent)
	var comments strings.Builder
	for {
		body = strings.TrimLeft(body, "\n")
		if comment, rest, ok := cutComment(body); ok {
			comments.WriteString(comment)
			body = rest
			continue
		}
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
		body = rest
	}
	s.Markdown = strings.TrimRight(comments.String()+rewrite(body, asked, lost), " \t\n")
	if s.Markdown != "" {
		s.Markdown += "\n"
	}
	if len(carried) > 0 {
		s.Markdown += "\n" + strings.Join(carried, "\n") + "\n"
	}
}

// cutComment takes a comment that stands alone off the beginning of a text.
func cutComment(text string) (comment, rest string, ok bool) {
	if !strings.HasPrefix(text, "<!--") {
		return "", "", false
	}
	i := strings.Index(text, "-->")
	if i < 0 {
		return "", "", false
	}
	behind, rest, _ := strings.Cut(text[i+len("-->"):], "\n")
	if strings.TrimSpace(behind) != "" {
		return "", "", false
	}
	return text[:i] + "-->\n\n", rest, true
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
