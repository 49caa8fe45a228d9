package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

var printer = message.NewPrinter(language.English)

// describeFailure describes a failed keyword.
func describeFailure(k jsonschema.ErrorKind) string {
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
		// The value can be a card number or a code, so it is not repeated.
		return "does not match the pattern " + cut(k.Want, maxWord)
	case *kind.Format:
		return fmt.Sprintf("%s is not a valid %s", value(k.Got), cut(strings.TrimPrefix(k.Want, ownFormat), maxWord))
	case *kind.AdditionalProperties:
		return "has members that are not allowed: " + quoteAll(k.Properties)
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
	return cut(k.LocalizedString(printer), maxWord)
}

func quote(s string) string { return "\"" + cut(s, maxWord) + "\"" }

func quoteAll(list []string) string { return enumerate(list, maxEntries, quote) }

// article joins types with articles, as in a sentence.
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

// value formats a small value. For a large value it returns the size or the beginning.
func value(v any) string {
	if room := maxEntries; !small(v, &room) {
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
	return cut(strings.TrimSuffix(text.String(), "\n"), maxWord)
}

// small reports whether a value has few values and short texts.
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

func values(list []any) string { return enumerate(list, maxEntries, value) }

func number(r *big.Rat) string {
	if r.IsInt() {
		return cut(r.Num().String(), maxWord)
	}
	f, _ := r.Float64()
	return fmt.Sprint(f)
}
