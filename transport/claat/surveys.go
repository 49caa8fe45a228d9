package claat

import (
	"regexp"
	"strings"

	parser "golang.org/x/net/html"
)

var formEnd = regexp.MustCompile("(?i)</form>")

// forms finds those of a step. The zero value has found none.
type forms struct{ over bool }

// survey reads a form of claat, which holds questions and the answers to choose from,
// and gives them as text; last is the last of the blocks that it takes. "" is none.
func (f *forms) survey(body string, blocks []block) (text string, last int) {
	const begin = "<form"
	from := blocks[0].start
	if first := strings.TrimLeft(body[from:blocks[0].end], " "); f.over || len(first) < len(begin) || !strings.EqualFold(first[:len(begin)], begin) {
		return "", 0
	}
	end := formEnd.FindStringIndex(body[from:])
	if end == nil {
		f.over = true // for all that begin behind it, too
		return "", 0
	}
	for blocks[last].end < from+end[1] {
		last++
	}
	return questions(body[from : from+end[0]]), last
}

// questions writes each name of a form as a paragraph, and each value as an item.
func questions(form string) string {
	var out strings.Builder
	named, listed := false, false
	for t := parser.NewTokenizer(strings.NewReader(form)); ; {
		switch t.Next() {
		case parser.ErrorToken:
			return out.String()
		case parser.StartTagToken, parser.SelfClosingTagToken:
			tag := t.Token()
			named = tag.Data == "name"
			for _, a := range tag.Attr {
				if tag.Data == "input" && a.Key == "value" && strings.TrimSpace(a.Val) != "" {
					out.WriteString("- " + literal(a.Val) + "\n")
					listed = true
				}
			}
		case parser.EndTagToken:
			named = false
		case parser.TextToken:
			if text := strings.TrimSpace(t.Token().Data); named && text != "" {
				if listed {
					out.WriteByte('\n')
				}
				out.WriteString("**" + literal(text) + "**\n\n")
				listed = false
			}
		}
	}
}

// marked are the characters that mean something in Markdown.
var marked = regexp.MustCompile("[\\\\`*_\\[\\]<>&#|~]")

// literal writes a text so that Markdown shows it as it is, in one line.
func literal(text string) string {
	return marked.ReplaceAllString(strings.Join(strings.Fields(text), " "), `\$0`)
}

// hidden are the elements that no viewer of this server shows, with their contents or
// with what can be done with them.
var hidden = map[string]bool{
	"form": true, "input": true, "button": true, "select": true, "textarea": true, "iframe": true, "object": true, "embed": true, "script": true, "style": true, "dialog": true,
}

// hiddenIn names the elements of a block of HTML that are not shown.
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
