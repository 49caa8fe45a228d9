package profile

import (
	"errors"
	"strings"
)

// maxAgent bounds the header UCP-Agent, in bytes.
const maxAgent = 2048

// ParseAgent returns the address of a profile in the header UCP-Agent, as in
//
//	profile="https://platform.example/commerce.json"
//
// Other members of the header are skipped. The header is a dictionary of structured field values
// (RFC 8941), of which strings and tokens are supported.
func ParseAgent(header string) (string, error) {
	if len(header) > maxAgent {
		return "", errors.New("UCP-Agent is too long")
	}
	rest := header
	for {
		rest = strings.TrimLeft(rest, " \t,;")
		if rest == "" {
			return "", errors.New(`UCP-Agent names no profile; want profile="https://…"`)
		}
		end := strings.IndexAny(rest, "=,;")
		if end < 0 || rest[end] != '=' {
			// This is a member without a value.
			if end < 0 {
				end = len(rest)
			}
			rest = rest[end:]
			continue
		}
		key := strings.TrimSpace(rest[:end])
		value, after, err := agentValue(strings.TrimLeft(rest[end+1:], " \t"))
		if err != nil {
			return "", err
		}
		if key == "profile" {
			if value == "" {
				return "", errors.New("UCP-Agent has an empty profile")
			}
			return value, nil
		}
		rest = after
	}
}

// agentValue parses a quoted string, or a token up to the next separator.
func agentValue(s string) (value, rest string, err error) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexAny(s, ",; \t")
		if end < 0 {
			end = len(s)
		}
		return s[:end], s[end:], nil
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:], nil
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case c < 0x20 || c > 0x7e:
			return "", "", errors.New("UCP-Agent has a character that is not printable ASCII")
		default:
			b.WriteByte(c)
		}
	}
	return "", "", errors.New("UCP-Agent has an unterminated string")
}
