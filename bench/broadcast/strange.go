package broadcast

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// mostShown is how much of a server's text is shown, in characters.
const mostShown = 200

// Escape writes a value so that it is one piece of a path, or of a query.
func Escape(value string) string { return strings.ReplaceAll(url.QueryEscape(value), "+", "%20") }

// mask hides what was given to the server in confidence, should it say that back.
type mask struct {
	replacer *strings.Replacer
	// binary means that bytes are shown as \x00, and not as spaces.
	binary bool
}

// newMask hides secrets in the forms in which a server may say them: as they are, as in
// an address, and as in a text of JSON.
func newMask(secrets []string, binary bool) mask {
	var forms []string
	for _, s := range secrets {
		quoted, _ := json.Marshal(s) // a text always has a form in JSON
		forms = append(forms, s, Escape(s), string(quoted[1:len(quoted)-1]))
	}
	// Where one secret is a part of another, the whole is hidden.
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

// shown is a server's text in a form for people: printable, short, and without secrets.
func (m mask) shown(said string) string {
	said = m.replacer.Replace(said)
	if m.binary {
		quoted := strconv.Quote(said)
		said = quoted[1 : len(quoted)-1]
	}
	n := 0
	return strings.Map(func(r rune) rune {
		switch n++; {
		case n > mostShown:
			return -1
		case !unicode.IsPrint(r):
			return ' '
		}
		return r
	}, said)
}

// estranged keeps a text to each kind of client in which the dialect finds nothing. It is
// the first text to a ready client. Until a client is ready it is the newest text, since
// servers first greet and then report problems.
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
