package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

var printer = message.NewPrinter(language.English)

// say puts a failed keyword into words.
func say(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Required:
		return "misses " + quoteAll(k.Missing)
	case *kind.Type:
		return fmt.Sprintf("must be %s, is %s", article(k.Want), article([]string{k.Got}))
	case *kind.Enum:
		return fmt.Sprintf("must be one of %s, is %s", values(k.Want), value(k.Got))
	case *kind.Const:
		return fmt.Sprintf("must be %s, is %s", value(k.Want), value(k.Got))
	case *kind.Pattern:
		// Patterns guard card numbers and codes: the value is not repeated.
		return "does not match the pattern " + cutWord(k.Want)
	case *kind.Format:
		if k.Want == regexFormat {
			return value(k.Got) + " is not a valid regex"
		}
		return fmt.Sprintf("%s is not a valid %s", value(k.Got), cutWord(k.Want))
	case *kind.AdditionalProperties:
		return "has members it may not have: " + quoteAll(k.Properties)
	case *kind.MinLength:
		return fmt.Sprintf("must be at least %d characters long, is %d", k.Want, k.Got)
	case *kind.MaxLength:
		return fmt.Sprintf("must be at most %d characters long, is %d", k.Want, k.Got)
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %d items, has %d", k.Want, k.Got)
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %d items, has %d", k.Want, k.Got)
	case *kind.UniqueItems:
		return fmt.Sprintf("items %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.Minimum:
		return fmt.Sprintf("must be at least %s, is %s", number(k.Want), number(k.Got))
	case *kind.Maximum:
		return fmt.Sprintf("must be at most %s, is %s", number(k.Want), number(k.Got))
	case *kind.FalseSchema:
		return "must not be there"
	}
	return cutWord(k.LocalizedString(printer))
}

func quote(s string) string { return "\"" + cutWord(s) + "\"" }

// maxListed bounds how many of a stranger's names or values are listed.
const maxSaid = 20

func quoteAll(list []string) string {
	var quoted []string
	for i, s := range list {
		if i == maxSaid {
			quoted = append(quoted, "…")
			break
		}
		quoted = append(quoted, quote(s))
	}
	return strings.Join(quoted, ", ")
}

// article names types as a sentence does.
func article(types []string) string {
	words := make([]string, len(types))
	for i, t := range types {
		switch t {
		case "array", "object", "integer":
			words[i] = "an " + t
		case "null":
			words[i] = t
		default:
			words[i] = "a " + t
		}
	}
	return strings.Join(words, " or ")
}

// value writes a value out, unless it is a large one.
func value(v any) string {
	if room := maxSaid; !small(v, &room) {
		switch v := v.(type) {
		case map[string]any:
			return fmt.Sprintf("an object of %d members", len(v))
		case []any:
			return fmt.Sprintf("an array of %d items", len(v))
		case string:
			return quote(v)
		}
	}
	var text strings.Builder
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	if out.Encode(v) != nil {
		return "something else"
	}
	return cutWord(strings.TrimSuffix(text.String(), "\n"))
}

// small tells whether a value is of few values and short texts.
func small(v any, room *int) bool {
	*room--
	switch v := v.(type) {
	case string:
		*room -= len(v) / 80
	case map[string]any:
		for name, inner := range v {
			if *room -= len(name) / 80; *room < 0 || !small(inner, room) {
				return false
			}
		}
	case []any:
		for _, inner := range v {
			if *room < 0 || !small(inner, room) {
				return false
			}
		}
	}
	return *room >= 0
}

func values(list []any) string {
	words := make([]string, 0, len(list))
	for _, v := range list {
		if words = append(words, value(v)); len(words) > maxSaid {
			words = append(words, "…")
			break
		}
	}
	return strings.Join(words, ", ")
}

func number(r *big.Rat) string {
	if r.IsInt() {
		return cutWord(r.Num().String())
	}
	f, _ := r.Float64()
	return fmt.Sprint(f)
}

// cut keeps a stranger's text from filling the screen.
func cutWord(s string) string {
	const longest = 80
	if len(s) <= longest {
		return s
	}
	end := longest
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
