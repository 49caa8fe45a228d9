package codelab

import (
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"atelier/actors/durable"
)

// line checks a one-line field: it is trimmed, and its length counts code
// points.
func line(field, value string, least, most int) (string, error) {
	value = strings.TrimSpace(value)
	if strings.ContainsFunc(value, unicode.IsControl) {
		return "", durable.Reject(durable.Invalid, "%s must be one line, without control characters", field)
	}
	return value, text(field, value, least, most)
}

// text checks a field that is stored as it was sent.
func text(field, value string, least, most int) error {
	if !utf8.ValidString(value) {
		return durable.Reject(durable.Invalid, "%s is not valid UTF-8", field)
	}
	n := 0
	if len(value) > most { // bytes are at least as many as code points
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

// NameKey is what makes two names the same: trimmed, NFC, case-folded.
func NameKey(name string) string {
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(strings.TrimSpace(name))))
}
