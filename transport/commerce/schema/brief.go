package schema

import (
	"strings"
	"unicode/utf8"
)

// Foreign input in errors must not fill logs, screens and responses, so texts and lists are
// truncated.
const (
	// maxText bounds a name or an address, in bytes.
	maxText = 120
	// maxWord bounds a value or a pattern in a Problem, in bytes. A Problem can contain many of
	// them.
	maxWord = 80
	// maxMessage bounds a whole message, in bytes.
	maxMessage = 1000
	// maxListed bounds a list of names.
	maxListed = 10
	// maxEntries bounds a list of names or values in a Problem.
	maxEntries = 20
)

// Brief returns the beginning of a text, for messages.
func Brief(s string) string { return cut(s, maxText) }

// BriefMessage truncates a message.
func BriefMessage(s string) string { return cut(s, maxMessage) }

// BriefList joins the first names with commas.
func BriefList(names []string) string { return enumerate(names, maxListed, Brief) }

// enumerate joins the results of format with commas, for the first most entries. If there are more,
// an ellipsis follows.
func enumerate[T any](list []T, most int, format func(T) string) string {
	words := make([]string, 0, min(len(list), most+1))
	for i, entry := range list {
		if i == most {
			words = append(words, "…")
			break
		}
		words = append(words, format(entry))
	}
	return strings.Join(words, ", ")
}

// cut truncates a text at a character boundary.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end := most
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
