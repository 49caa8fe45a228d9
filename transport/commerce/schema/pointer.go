package schema

import (
	"strconv"
	"strings"
)

var (
	escaper   = strings.NewReplacer("~", "~0", "/", "~1")
	unescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

func itoa(i int) string { return strconv.Itoa(i) }

// Escape encodes a member name as a token of a JSON Pointer (RFC 6901).
func Escape(token string) string {
	if !strings.ContainsAny(token, "~/") {
		return token
	}
	return escaper.Replace(token)
}

// Unescape decodes a token of a JSON Pointer to a member name.
func Unescape(token string) string { return unescaper.Replace(token) }

// Pointer joins member names into a JSON Pointer.
func Pointer(tokens ...string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		b.WriteString(Escape(t))
	}
	return b.String()
}

// Lookup follows a JSON Pointer from value.
func Lookup(value any, pointer string) (any, bool) {
	if pointer == "" {
		return value, true
	}
	if pointer[0] != '/' {
		return nil, false
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		switch v := value.(type) {
		case map[string]any:
			child, ok := v[unescaper.Replace(token)]
			if !ok {
				return nil, false
			}
			value = child
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) || strconv.Itoa(i) != token {
				return nil, false
			}
			value = v[i]
		default:
			return nil, false
		}
	}
	return value, true
}
