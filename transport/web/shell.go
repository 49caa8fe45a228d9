package web

import (
	"fmt"
	"html"
	"strings"

	"atelier/transport/language"
)

// mark is the comment in a page that the server replaces with text.
const mark = "<!--app:noscript-->"

// tongue is the beginning of the page's html element with the language of the file. The server
// replaces the language.
const tongue = `<html lang="en"`

// shell is a page, split where the server inserts text. It is immutable.
type shell struct {
	// The parts are the text before the language, between language and title, between title and
	// mark, and after the mark.
	before, head, between, after string
	// name is the title in the file.
	name string
	// noscript means that the inserted text is for people without JavaScript.
	noscript bool
	// texts are the addresses of the app's first texts by language, which the page preloads.
	texts map[string]string
}

// cut splits a page. It must have one language, one title and one mark, in this order.
func cut(page string) (shell, error) {
	const open, end = "<title>", "</title>"
	for _, part := range []string{tongue, open, end, mark} {
		if n := strings.Count(page, part); n != 1 {
			return shell{}, fmt.Errorf("contains %s %d times, must be once", part, n)
		}
	}
	before, rest, ok := strings.Cut(page, tongue)
	head, rest, ok2 := strings.Cut(rest, open)
	name, rest, ok3 := strings.Cut(rest, end)
	between, after, ok4 := strings.Cut(rest, mark)
	if !ok || !ok2 || !ok3 || !ok4 {
		return shell{}, fmt.Errorf("%s, %s, %s and %s must come in this order", tongue, open, end, mark)
	}
	return shell{
		before: before, head: head + open, between: between, after: after,
		name: html.UnescapeString(strings.TrimSpace(name)), noscript: true,
	}, nil
}

// fill inserts a title, which is text, and a block, which is HTML, into the page in a language. With
// an empty title, the page keeps the title in the file.
func (s *shell) fill(t *language.Texts, title, block string) []byte {
	if title == "" {
		title = s.name
	} else {
		title += " · " + s.name
	}
	if s.noscript {
		block = "<noscript>" + block + "</noscript>"
	}
	preload := ""
	if path := s.texts[t.Tag]; path != "" {
		preload = `<link rel="modulepreload" crossorigin href="` + html.EscapeString(path) + `">`
	}
	return []byte(s.before + `<html lang="` + t.Tag + `" dir="` + t.Direction + `"` + s.head +
		html.EscapeString(title) + "</title>" + preload + s.between + block + s.after)
}

// needsScript returns the text of the app's pages for people without JavaScript.
func needsScript(t *language.Texts) string {
	return "<main>" + messageHTML(t.Plain.NeedsScript) + "</main>"
}

// messageHTML formats a message as HTML.
func messageHTML(m language.Message) string {
	return "<h1>" + html.EscapeString(m.Title) + "</h1><p>" + html.EscapeString(m.Text) + "</p>"
}
