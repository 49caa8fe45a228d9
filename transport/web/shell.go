package web

import (
	"fmt"
	"html"
	"strings"
)

// mark is where the server writes into a page.
const mark = "<!--app:noscript-->"

// shell is a page, cut where the server writes into it. Immutable.
type shell struct {
	// before the title, between it and the marked place, and after that.
	before, between, after string
	// name is the title that it came with.
	name string
	// noscript says that what is written is for those without JavaScript.
	noscript bool
}

// cut takes a page apart. It must have one title and one marked place in this
// order.
func cut(page string) (shell, error) {
	const open, end = "<title>", "</title>"
	for _, part := range []string{open, end, mark} {
		if n := strings.Count(page, part); n != 1 {
			return shell{}, fmt.Errorf("%s stands in it %d times, must be once", part, n)
		}
	}
	before, rest, ok := strings.Cut(page, open)
	name, rest, ok2 := strings.Cut(rest, end)
	between, after, ok3 := strings.Cut(rest, mark)
	if !ok || !ok2 || !ok3 {
		return shell{}, fmt.Errorf("%s, %s and %s must come in this order", open, end, mark)
	}
	return shell{
		before: before + open, between: end + between, after: after,
		name: html.UnescapeString(strings.TrimSpace(name)), noscript: true,
	}, nil
}

// fill writes a title, which is text, and a block, which is HTML, into the
// page. No title leaves the one that it came with.
func (s *shell) fill(title, block string) []byte {
	if title == "" {
		title = s.name
	} else {
		title += " · " + s.name
	}
	if s.noscript {
		block = "<noscript>" + block + "</noscript>"
	}
	return []byte(s.before + html.EscapeString(title) + s.between + block + s.after)
}

// needsScript is what people without JavaScript read on a page of the app.
const needsScript = `<main><h1>This page needs JavaScript</h1>` +
	`<p>Allow it for this address in the settings of your browser, and load the page again.</p></main>`
