package schema

import (
	"strings"
	"unicode/utf8"
)

const (
	// maxText bounds a name, a value or an address that is repeated, bytes.
	maxText = 120
	// MaxMessage bounds a whole message, bytes.
	MaxMessage = 1000
	// maxListed bounds a list.
	maxListed = 10
)

// Text gives a text as it may be repeated: its beginning.
func Brief(s string) string { return cut(s, maxText) }

// Message gives a message as it may be sent.
func BriefMessage(s string) string { return cut(s, MaxMessage) }

// List joins names with commas: the first of them.
func BriefList(names []string) string {
	listed := make([]string, 0, maxListed)
	for i, name := range names {
		if i == maxListed {
			listed = append(listed, "…")
			break
		}
		listed = append(listed, Brief(name))
	}
	return strings.Join(listed, ", ")
}

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
