package claat

import (
	"regexp"
	"strings"

	parser "golang.org/x/net/html"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
)

var formEnd = regexp.MustCompile("(?i)</form>")

// forms tracks the survey forms of a step. over is set once a form without an end was found. until
// is the end of the last form without questions, in which no other form is searched.
type forms struct {
	over  bool
	until int
}

// survey reads a claat form, which has questions and possible answers. last is the index of its
// last block, and behind is the text of this block after the form. asked is nil if blocks does not
// begin with such a form.
func (f *forms) survey(body string, blocks []block) (asked []question, last int, behind string) {
	const begin = "<form"
	from := blocks[0].start
	if first := strings.TrimLeft(body[from:blocks[0].end], " "); f.over || from < f.until || len(first) < len(begin) || !strings.EqualFold(first[:len(begin)], begin) {
		return nil, 0, ""
	}
	end := formEnd.FindStringIndex(body[from:])
	if end == nil {
		f.over = true // later forms have no end, either
		return nil, 0, ""
	}
	if asked = questions(body[from : from+end[0]]); len(asked) == 0 {
		f.until = from + end[1]
		return nil, 0, ""
	}
	for blocks[last].end < from+end[1] {
		last++
	}
	return asked, last, body[from+end[1] : blocks[last].end]
}

// question is a question of a survey.
type question struct {
	text    string
	answers []string
	// several means that more than one answer can be chosen.
	several bool
}

// questions returns the questions of a form. Each <name> is a question, and each value of an
// <input> after it is an answer.
func questions(form string) (out []question) {
	named := false
	for t := parser.NewTokenizer(strings.NewReader(form)); ; {
		switch t.Next() {
		case parser.ErrorToken:
			return out
		case parser.StartTagToken, parser.SelfClosingTagToken:
			tag := t.Token()
			named = tag.Data == "name"
			if tag.Data == "input" {
				out = answer(out, tag.Attr)
			}
		case parser.EndTagToken:
			named = false
		case parser.TextToken:
			if text := strings.TrimSpace(t.Token().Data); named && text != "" {
				out = append(out, question{text: oneLine(text)})
			}
		}
	}
}

// answer adds an input to the preceding question, or to a new one without text.
func answer(to []question, input []parser.Attribute) []question {
	value, several := "", false
	for _, a := range input {
		switch a.Key {
		case "value":
			value = oneLine(a.Val)
		case "type":
			several = strings.EqualFold(a.Val, "checkbox")
		}
	}
	if value == "" {
		return to
	}
	if len(to) == 0 {
		to = append(to, question{})
	}
	q := &to[len(to)-1]
	q.answers = append(q.answers, value)
	q.several = q.several || several
	return to
}

// poll returns a question as the draft of a poll, or nil if a poll cannot represent it.
func (q question) poll() *pb.Poll {
	kind := "choice"
	if q.several {
		kind = "several"
	}
	p := &pb.Poll{Kind: codelab.PollKind(kind), Question: q.text, Options: q.answers}
	if codelab.CheckPoll(p) != nil {
		return nil
	}
	return p
}

// write writes a question as text: a paragraph, and each answer as an item.
func (q question) write(out *strings.Builder) {
	if q.text != "" {
		out.WriteString("\n**" + literal(q.text) + "**\n")
	}
	for i, a := range q.answers {
		if i == 0 {
			out.WriteByte('\n')
		}
		out.WriteString("- " + literal(a) + "\n")
	}
}

// marked matches characters with a meaning in Markdown.
var marked = regexp.MustCompile("[\\\\`*_\\[\\]<>&#|~]")

// literal escapes a line of text for Markdown.
func literal(text string) string { return marked.ReplaceAllString(text, `\$0`) }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// hidden lists the elements whose content or function the app does not show.
var hidden = map[string]bool{
	"form": true, "input": true, "button": true, "select": true, "textarea": true, "iframe": true, "object": true, "embed": true, "script": true, "style": true, "dialog": true,
}

// hiddenIn calls found for the elements of a block of HTML that are not shown.
func hiddenIn(text string, found func(tag string)) {
	for t := parser.NewTokenizer(strings.NewReader(text)); ; {
		switch t.Next() {
		case parser.ErrorToken:
			return
		case parser.StartTagToken, parser.SelfClosingTagToken:
			if name, _ := t.TagName(); hidden[string(name)] {
				found(string(name))
			}
		}
	}
}
