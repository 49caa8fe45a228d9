package codelab

import (
	"math"
	"net/mail"
	"strings"
	"unicode/utf8"

	"atelier/actors/durable"
	"atelier/actors/naming"
)

// line checks a one-line field. It trims the text, removes characters that change the direction of
// the surrounding text, and counts the length in code points.
func line(field, value string, least, most int) (string, error) {
	value, err := plain(field, value)
	if err != nil {
		return "", err
	}
	return value, text(field, value, least, most)
}

// plain does the same as line, without bounds on the length.
func plain(field, value string) (string, error) {
	if err := text(field, value, 0, math.MaxInt); err != nil {
		return "", err
	}
	value, ok := naming.Line(value)
	if !ok {
		return "", durable.Reject(durable.Invalid, "%s must be one line, without control characters", field)
	}
	return value, nil
}

// PersonName checks the name of a person, or another short text such as a
// seat or a word of a vote. It trims the text and removes invisible
// characters.
func PersonName(field, value string, least, most int) (string, error) {
	value, err := plain(field, value)
	if err != nil {
		return "", err
	}
	// A longer value is not cleaned, because text rejects it in any case.
	const widest = 4 * utf8.UTFMax // bytes per character, including invisible characters
	if len(value) <= most*widest {
		value = naming.Clean(value)
	}
	return value, text(field, value, least, most)
}

// text checks a field that is stored unchanged. most is the maximum length in code points. If least
// is positive, a blank text is rejected; otherwise least has no effect.
func text(field, value string, least, most int) error {
	if !utf8.ValidString(value) {
		return durable.Reject(durable.Invalid, "%s is not valid UTF-8", field)
	}
	n := 0
	if len(value) > most { // otherwise there are at most that many code points
		n = utf8.RuneCountInString(value)
	}
	switch {
	case least > 0 && strings.TrimSpace(value) == "":
		return durable.Reject(durable.Invalid, "%s is required", field)
	case n > most:
		return durable.Reject(durable.Invalid, "%s is longer than %d characters", field, most)
	}
	return nil
}

// email checks an optional e-mail address.
func email(value string) (string, error) {
	value, err := line("email", value, 0, 254)
	if err != nil || value == "" {
		return value, err
	}
	a, err := mail.ParseAddress(value)
	if err != nil || a.Address != value || a.Name != "" {
		return "", durable.Reject(durable.Invalid, "email is not a valid address")
	}
	return value, nil
}
