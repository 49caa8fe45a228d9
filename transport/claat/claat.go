// Package claat reads tutorials in the claat flavour of Markdown: metadata lines first, the title
// as H1, a step per H2. The result depends only on the input. It is a tutorial, or an error. Errors
// about the content of a text contain its position: the included fragment, if any, a line and a
// column.
package claat

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path"
	"regexp"
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
	// TitleFrom is the source of the title.
	TitleFrom TitleFrom
	Steps     []Step
	// Polls contains the survey questions, as drafts. A draft's StepId is the number of its step.
	Polls []*pb.Poll
	// Lost lists the parts of the file that a codelab cannot represent, without duplicates.
	Lost  []string
	known map[string]bool // the members of Lost
}

// TitleFrom is the source of a tutorial's title.
type TitleFrom string

// Sources of a title.
const (
	TitleH1     TitleFrom = "h1"
	TitleHeader TitleFrom = "header"
	TitleName   TitleFrom = "name" // of the file
)

func (t *Tutorial) lose(what string) {
	if t.known[what] {
		return
	}
	if t.known == nil {
		t.known = map[string]bool{}
	}
	t.known[what], t.Lost = true, append(t.Lost, what)
}

// Step is one H2 with its content.
type Step struct {
	Title string
	// Duration is rounded up to minutes. It is 0 if no duration is given.
	Duration time.Duration
	// Markdown is the content, with info boxes as <aside> elements.
	Markdown string
}

// Limits of a file.
const (
	// maxDepth bounds the nesting of included fragments, and maxFragments bounds their number.
	// maxText bounds the size of the whole text, in bytes.
	maxDepth     = 8
	maxFragments = 1000
	maxText      = 32 << 20

	// A codelab has at most maxSteps steps, each of at most maxContent/2 code points. Much longer
	// files are refused early.
	maxSteps   = 200
	maxContent = 100_000
	// maxHeading bounds the source of a title, of the tutorial or of a step, in bytes.
	maxHeading = 4000
)

// Include returns a fragment of the same archive.
type Include func(name string) ([]byte, error)

// Options configures the reading of a tutorial.
type Options struct {
	// Name is the name of the file, without its folder. If the text has no title, Name without its
	// extension is the title.
	Name string
	// Include resolves <<file.md>> lines. It is nil if there is no archive from which files can be
	// included.
	Include Include
	// Still is called periodically. If nobody waits for the result any more, it returns an error,
	// and parsing stops with this error.
	Still func() error
	// Picture is called for each embedded image (data:), and returns its replacement. nil keeps the
	// images.
	Picture func(data string) (to string, err error)
}

// Parse parses a tutorial, in time proportional to the size of the text.
func Parse(source []byte, o Options) (*Tutorial, error) {
	source, err := Decode(source)
	if err != nil {
		return nil, err
	}
	in := inclusion{include: o.Include, still: o.Still}
	if err := in.expand(source, nil); err != nil {
		return nil, err
	}
	text, err := pictures(in.out.Bytes(), o.Picture)
	if err != nil {
		return nil, err
	}
	t, err := parse(text, o)
	return t, in.locate(err)
}

// head is an H1 or H2 of the file.
type head struct {
	level      int
	start, end int // byte offsets of its lines in the source
}

// outline contains the positions of a file's parts.
type outline struct {
	// title is the H1 before the first step, if titled.
	title  head
	titled bool
	steps  []head
	// body is the position after the header.
	body int
	// preface is the position of text before the first step, or -1 without such text.
	preface int
	links   definitions
}

func parse(source []byte, with Options) (*Tutorial, error) {
	front, body, err := fencedHeader(source)
	if err != nil {
		return nil, err
	}
	o, err := outlineOf(source, body, with.Still)
	if err == nil && (!o.titled || len(o.steps) == 0) {
		if spaced := withSpaces(source, body, o); spaced != nil {
			source = spaced
			o, err = outlineOf(source, body, with.Still)
		}
	}
	if err != nil {
		return nil, err
	}
	if len(o.steps) == 0 {
		line, _ := place(source, len(bytes.TrimRight(source, "\n")))
		return nil, at(line, 1, "there is no step: each step starts with a line of ## and its title")
	}
	if front == nil {
		front = &header{}
	}
	p := reader{source, o, with, &Tutorial{}}
	if err := p.header(front); err != nil {
		return nil, err
	}
	if err := p.title(front); err != nil {
		return nil, err
	}
	refs, known := o.references(source)
	for i := range o.steps {
		if err := with.Still(); err != nil {
			return nil, err
		}
		if err := p.step(i, refs[i], known); err != nil {
			return nil, err
		}
	}
	return p.t, nil
}

// reader reads the parts of a file whose outline is known.
type reader struct {
	source []byte
	o      *outline
	with   Options
	t      *Tutorial
}

// header reads the metadata before the title.
func (p *reader) header(front *header) error {
	if p.o.preface >= 0 {
		p.t.lose("the text before the first step is not part of any step")
	}
	until := p.o.steps[0].start
	if p.o.titled {
		until = p.o.title.start
	}
	front.lines(p.source[p.o.body:until])
	p.t.ID, p.t.Summary, p.t.Author = front.id, front.summary, front.author
	for _, key := range front.ignored {
		p.t.lose(fmt.Sprintf("the metadata %q", key))
	}
	if p.t.ID == "" {
		return at(1, 1, "the metadata has no id: add a line like \"id: my-codelab\" before the title")
	}
	return nil
}

// title takes the title from the H1, else from the metadata, else from the file's name.
func (p *reader) title(front *header) (err error) {
	name := strings.TrimSpace(strings.TrimSuffix(p.with.Name, path.Ext(p.with.Name)))
	switch {
	case p.o.titled:
		p.t.TitleFrom = TitleH1
		if p.t.Title, err = plain(p.source, p.o.title, p.o.links); err != nil {
			return p.o.title.wrong(p.source, "the title %w", err)
		}
		p.t.Title, _ = named(p.t.Title)
	case front.title != "":
		p.t.Title, p.t.TitleFrom = front.title, TitleHeader
	case name != "":
		p.t.Title, p.t.TitleFrom = name, TitleName
	default:
		return at(1, 1, "the title is missing: add a line with # and the title before the first step")
	}
	return nil
}

// step reads the step with index i. refs contains the labels of the link definitions that the step
// uses. known contains the labels that any step uses.
func (p *reader) step(i int, refs, known map[string]bool) error {
	h := p.o.steps[i]
	title, err := plain(p.source, h, p.o.links)
	if err != nil {
		return h.wrong(p.source, "the title of step %d %w", i+1, err)
	}
	title, id := named(title)
	end := len(p.source)
	if i+1 < len(p.o.steps) {
		end = p.o.steps[i+1].start
	}
	content := p.o.links.without(p.source[h.end:end], refs, known)
	if len(content) > maxContent && utf8.RuneCount(content) > maxContent {
		return tooLong(p.source, h.end, end, i+1, Step{Title: title, Markdown: string(content)})
	}
	st := Step{Title: title}
	asked := func(q question) bool {
		poll := q.poll()
		if poll == nil || len(p.t.Polls) == codelab.Bounds.Polls {
			return false
		}
		poll.StepId = strconv.Itoa(i + 1)
		p.t.Polls = append(p.t.Polls, poll)
		return true
	}
	st.read(string(content), p.o.links, asked, func(what string) {
		p.t.lose(fmt.Sprintf("step %d: %s", i+1, what))
	})
	if id != "" { // for links to this step
		st.Markdown = "<a id=\"" + id + "\"></a>\n\n" + st.Markdown
	}
	if utf8.RuneCountInString(st.Markdown) > codelab.Bounds.Markdown {
		return tooLong(p.source, h.end, end, i+1, st)
	}
	p.t.Steps = append(p.t.Steps, st)
	return nil
}

// wrong returns an error at a heading.
func (h head) wrong(source []byte, format string, args ...any) error {
	line, column := place(source, h.start)
	return at(line, column, format, args...)
}

// tooLong returns the error of a step that is too long, with the cause: its largest block, or the
// link definitions outside the step that it uses.
func tooLong(source []byte, start, end, number int, st Step) error {
	content := source[start:end]
	var largest block
	for _, b := range blocksOf(content) {
		if b.end-b.start > largest.end-largest.start {
			largest = b
		}
	}
	size := utf8.RuneCountInString(st.Markdown)
	what := map[markdown.Kind]string{markdown.Code: "a code block", markdown.HTML: "HTML", markdown.Quote: "a quotation", markdown.List: "a list", markdown.Defining: "definitions of links"}[largest.kind]
	if what == "" {
		what = "a paragraph"
	}
	length := utf8.RuneCount(content[largest.start:largest.end])
	title := st.Title
	if r := []rune(title); len(r) > 60 {
		title = string(r[:60]) + "…"
	}
	tooLong := fmt.Sprintf("step %d (%s) has %d characters, more than the limit of %d", number, title, size, codelab.Bounds.Markdown)
	if carried := size - utf8.RuneCount(content); carried > length {
		line, _ := place(source, start)
		return at(line, 1, "%s; %d of them are link definitions that it uses", tooLong, carried)
	}
	line, _ := place(source, start+largest.start)
	return at(line, 1, "%s; its longest part, %s of %d characters, begins here", tooLong, what, length)
}

// outlineOf finds the title and the steps after a header. It parses Markdown blocks, so a # in a
// code block does not begin a step, and an underlined title does.
func outlineOf(source []byte, body int, still func() error) (*outline, error) {
	o := &outline{preface: -1, body: body, links: definitions{}}
	s := markdown.New(source[body:])
	for _, d := range markdown.Footnotes(source[body:]) {
		o.links.add(d)
	}
	s.Found = func(d markdown.Definition) {
		if !isFootnote(d) {
			o.links.add(d)
		}
	}
	var text int // beginning of the paragraph
	comment, begun, loose := false, false, -1
	n := 0
	for l, more := s.Next(); more; l, more = s.Next() {
		if n++; n%4096 == 0 {
			if err := still(); err != nil {
				return nil, err
			}
		}
		l.Start, l.End = l.Start+body, l.End+body
		h := head{l.Level, l.Start, l.End}
		switch l.Kind {
		case markdown.Paragraph:
			if l.First {
				text = l.Start
			}
			if loose < 0 && !isHeaderLine(source[l.Start:l.End]) {
				loose = l.Start
			}
		case markdown.Underline:
			h.start = text
			if !begun && h.level == 2 && isHeaderLine(source[text:l.End]) {
				// This line ends a header whose first line is missing.
				begun = true
				continue
			}
		case markdown.HTML:
			if l.First {
				comment = bytes.HasPrefix(bytes.TrimLeft(source[l.Start:l.End], " "), []byte("<!--"))
			}
		case markdown.Blank, markdown.Defining:
		default:
			if loose < 0 && h.level == 0 {
				loose = l.Start
			}
		}
		begun = begun || l.Kind != markdown.Blank && l.Kind != markdown.Paragraph
		found := h.level == 1 || h.level == 2
		switch {
		case found && h.level == 1 && !o.titled && len(o.steps) == 0:
			o.title, o.titled = h, true
		case found && h.level == 2: // a later H1 is content of its step
			if len(o.steps) == maxSteps {
				return nil, h.wrong(source, "there are more than %d steps", maxSteps)
			}
			if o.preface == h.start {
				o.preface = -1 // the preface is this title, whose underline was not known yet
			}
			if len(o.steps) == 0 && !o.titled && loose >= 0 && loose < h.start {
				o.preface = loose
			}
			o.steps = append(o.steps, h)
		case o.titled && len(o.steps) == 0 && o.preface < 0 && l.Kind != markdown.Blank && l.Kind != markdown.Defining && (l.Kind != markdown.HTML || !comment):
			o.preface = l.Start
		}
	}
	return o, nil
}

// noSpace matches headings without the space after the #.
var noSpace = regexp.MustCompile(`^ {0,3}(##?)[\pL"'*_` + "`" + `]`)

// withSpaces inserts the space after # that authors forget. It does so in the title if the text has
// no title, and in the headings of steps if the text has no steps. It returns nil if it finds none.
func withSpaces(source []byte, body int, o *outline) []byte {
	var out []byte
	done, titled := 0, o.titled
	s := markdown.New(source[body:])
	for l, more := s.Next(); more; l, more = s.Next() {
		start, end := l.Start+body, l.End+body
		if l.Kind == markdown.Heading && l.Level <= 2 {
			titled = true // a later line with one # is not the title
			continue
		}
		m := noSpace.FindSubmatchIndex(source[start:end])
		if l.Kind != markdown.Paragraph || m == nil {
			continue
		}
		level := m[3] - m[2]
		if level == 1 && titled || level == 2 && len(o.steps) > 0 {
			continue
		}
		titled = true
		out = append(append(out, source[done:start+m[3]]...), ' ')
		done = start + m[3]
	}
	if done == 0 {
		return nil
	}
	return append(out, source[done:]...)
}

// headingID matches a heading's text with an id after it, as many programs write it: {#id}.
var headingID = regexp.MustCompile(`^(.*\S)\s*\{#([A-Za-z][A-Za-z0-9_.:-]{0,99})\}$`)

// named splits the text of a heading from the id after it, if any.
func named(title string) (text, id string) {
	if m := headingID.FindStringSubmatch(title); m != nil {
		return m[1], m[2]
	}
	return title, ""
}

// plain returns the text of a heading without markup.
func plain(source []byte, h head, links definitions) (string, error) {
	if h.end-h.start > maxHeading {
		return "", errors.New("is too long")
	}
	line := source[h.start:h.end]
	// Only the heading is parsed as Markdown, with the link definitions that it uses.
	line = append(append([]byte(nil), line...), "\n\n"+strings.Join(links.carried(line, maxHeading), "\n")...)
	var b strings.Builder
	n := goldmark.DefaultParser().Parse(text.NewReader(line)).FirstChild()
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			switch n := n.(type) {
			case *ast.Text:
				words := string(n.Value(line))
				if !n.IsRaw() {
					words = markdown.Unescape(words)
				}
				b.WriteString(words)
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			case *ast.String:
				b.Write(n.Value)
			case *ast.AutoLink:
				b.Write(n.Label(line))
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

// read reads a step's content. It removes the duration and environment lines at the beginning,
// rewrites the rest, and adds the link definitions that the content uses.
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
		s.Markdown += "\n" + strings.TrimRight(strings.Join(carried, "\n"), "\n") + "\n"
	}
}

// cutComment removes a comment from the beginning of a text, if nothing follows the comment on its
// last line.
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

// ParseDuration reads hh:mm:ss, mm:ss, a number of minutes (7.5), or numbers with their
// units (5 min, 1h, 1h30, 1 hour 30 minutes, 90s), rounded up to minutes. It returns false for
// other texts and for more than 100,000 minutes.
func ParseDuration(s string) (time.Duration, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if strings.Contains(s, ":") {
		return clockTime(strings.Split(s, ":"))
	}
	var seconds float64
	last := 0.0 // the preceding unit in seconds, or 0 without one
	parts := 0
	for s != "" {
		m := quantity.FindStringSubmatch(s)
		if m == nil || parts == 3 {
			return 0, false
		}
		parts++
		s = s[len(m[0]):]
		n, err := strconv.ParseFloat(strings.Replace(m[1], ",", ".", 1), 64)
		if err != nil {
			return 0, false
		}
		unit := map[byte]float64{'h': 3600, 'm': 60, 's': 1}[(m[2] + " ")[0]]
		switch {
		case m[2] == "" && last == 0:
			unit = 60
			if s != "" {
				return 0, false
			}
		case m[2] == "": // 1h30
			unit = last / 60
		case last != 0 && unit >= last:
			return 0, false
		}
		last = unit
		seconds += n * unit
	}
	if parts == 0 || last == 0 || seconds > maxDuration {
		return 0, false
	}
	return time.Duration(math.Ceil(seconds/60)) * time.Minute, true
}

// maxDuration bounds a duration, in seconds.
const maxDuration = 100_000 * 60

var quantity = regexp.MustCompile(`^[ \t]*(?:and[ \t]+)?([0-9]{1,6}(?:[.,][0-9]{1,6})?)[ \t]*(hours?|hrs?|h|minutes?|mins?|min|m|seconds?|secs?|sec|s)?\.?[ \t]*(?:,[ \t]*)?`)

// clockTime parses the parts of hh:mm:ss or mm:ss, rounded up to minutes.
func clockTime(parts []string) (time.Duration, bool) {
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
	if total > maxDuration {
		return 0, false
	}
	return time.Duration((total+59)/60) * time.Minute, true
}
