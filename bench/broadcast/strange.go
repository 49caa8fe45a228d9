package broadcast

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// maxShown is the maximum length of a shown server text, in characters.
const maxShown = 200

// Escape escapes a value so that it is a single segment of a path, or part of a query.
func Escape(value string) string { return strings.ReplaceAll(url.QueryEscape(value), "+", "%20") }

// mask hides secrets that the server repeats.
type mask struct {
	replacer *strings.Replacer
	// binary means that unprintable bytes are shown as escapes such as \x00 instead of spaces.
	binary bool
}

// newMask returns a mask of secrets. It hides them in the forms in which a server can repeat them:
// unchanged, escaped as in an address, or as in JSON text.
func newMask(secrets []string, binary bool) mask {
	var forms []string
	for _, s := range secrets {
		quoted, _ := json.Marshal(s) // a text always has a JSON form
		forms = append(forms, s, Escape(s), string(quoted[1:len(quoted)-1]))
	}
	// If one secret is part of another, the longer one is hidden.
	slices.SortFunc(forms, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	var pairs []string
	for _, form := range slices.Compact(forms) {
		if form != "" {
			pairs = append(pairs, form, "***")
		}
	}
	return mask{strings.NewReplacer(pairs...), binary}
}

// shown returns a server's text in a readable form: printable, short, and without secrets.
func (m mask) shown(text string) string {
	text = m.replacer.Replace(text)
	if m.binary {
		quoted := strconv.Quote(text)
		text = quoted[1 : len(quoted)-1]
	}
	n := 0
	return strings.Map(func(r rune) rune {
		switch n++; {
		case n > maxShown:
			return -1
		case !unicode.IsPrint(r):
			return ' '
		}
		return r
	}, text)
}

// estranged keeps, per kind of client, a text in which the dialect finds nothing. The kept text is
// the first one to a ready client. Until a client is ready, it is the newest text, since servers
// first send a greeting and then report problems.
func (e *Engine) estranged(c *client, payload []byte) {
	to, first := &e.out.Strange, &e.strange
	if c.publisher {
		to, first = &e.out.StrangeAnswer, &e.strangeAnswer
	}
	if *first {
		return
	}
	*first = c.ready
	*to = e.mask.shown(string(payload))
}
