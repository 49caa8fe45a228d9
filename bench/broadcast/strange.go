//go:build linux

package broadcast

import (
	"strings"
	"unicode"
)

// mostShown is how much is shown of what a server says, characters.
const mostShown = 200

// shown is what a server says as people may see it: printable, short, and without
// what was given to it in confidence, should it say that back.
func (d *Dialect) shown(said []byte) string {
	text := string(said)
	secrets := []string{d.Hello}
	for _, line := range d.Headers {
		_, value, _ := strings.Cut(line, ":")
		secrets = append(secrets, strings.TrimSpace(value))
	}
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "***")
		}
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
	}, text)
}

// estranged keeps the first text to each kind of client in which the dialect finds
// nothing.
func (e *Engine) estranged(c *client, payload []byte) {
	to := &e.out.Strange
	if c.publisher {
		to = &e.out.StrangeAnswer
	}
	if *to == "" {
		*to = e.job.Dialect.shown(payload)
	}
}
