package schema

import (
	"errors"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// The formats hostname (RFC 1123, with the A-labels of RFC 5890), idn-hostname
// (RFC 5890 to 5893) and idn-email (RFC 6531).

const (
	maxHostname = 253
	maxLabel    = 63
)

// internationalLabel has the Unicode rules for labels. inContext adds the rules of RFC 5892 that
// depend on neighbouring characters.
var internationalLabel = idna.New(idna.ValidateLabels(true), idna.CheckHyphens(true), idna.CheckJoiners(true), idna.BidiRule(), idna.StrictDomainName(true))

var errLabel = errors.New("it has a label that is not valid in a host name")

func checkHostname(text string) error {
	if len(text) > maxHostname {
		return errors.New("it is too long")
	}
	for label := range strings.SplitSeq(text, ".") {
		if !asciiLabel(label) {
			return errLabel
		}
	}
	return nil
}

// asciiLabel checks letters, digits and inner hyphens; an A-label must encode an international
// label.
func asciiLabel(label string) bool {
	if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	for _, c := range []byte(label) {
		if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	if len(label) < 4 || label[2:4] != "--" {
		return true
	}
	if !strings.EqualFold(label[:2], "xn") {
		return false
	}
	plain, err := idna.Punycode.ToUnicode(strings.ToLower(label))
	return err == nil && !isASCII(plain) && unicodeLabel(plain)
}

func isASCII(text string) bool {
	return strings.IndexFunc(text, func(c rune) bool { return c >= utf8.RuneSelf }) < 0
}

// unicodeLabel checks a label with non-ASCII characters.
func unicodeLabel(label string) bool {
	encoded, err := internationalLabel.ToASCII(label)
	return err == nil && len(encoded) <= maxLabel && inContext([]rune(label))
}

// separators reports whether a character is one of the dots of an international host name.
func separators(c rune) bool { return c == '.' || c == '\u3002' || c == '\uFF0E' || c == '\uFF61' }

func checkInternationalHostname(text string) error {
	if utf8.RuneCountInString(text) > maxHostname {
		return errors.New("it is too long")
	}
	labels := strings.Split(strings.Map(func(c rune) rune {
		if separators(c) {
			return '.'
		}
		return c
	}, text), ".")
	for _, label := range labels {
		if isASCII(label) && !asciiLabel(label) || !isASCII(label) && !unicodeLabel(label) {
			return errLabel
		}
	}
	return nil
}

// inContext checks the characters that RFC 5892 permits only next to certain others, and those that
// it excludes by name. The rules of bidirectional text already forbid mixing both kinds of Arabic
// digits.
func inContext(label []rune) bool {
	for i, c := range label {
		before, after := rune(-1), rune(-1)
		if i > 0 {
			before = label[i-1]
		}
		if i+1 < len(label) {
			after = label[i+1]
		}
		switch {
		case strings.ContainsRune("\u0640\u07FA\u302E\u302F\u3031\u3032\u3033\u3034\u3035\u303B", c):
			return false
		case c == '\u00B7' && (before != 'l' || after != 'l'):
			return false
		case c == '\u0375' && !unicode.Is(unicode.Greek, after):
			return false
		case (c == '\u05F3' || c == '\u05F4') && !unicode.Is(unicode.Hebrew, before):
			return false
		case c == '\u30FB' && !hasJapanese(label):
			return false
		}
	}
	return true
}

func hasJapanese(label []rune) bool {
	for _, c := range label {
		if c != '\u30FB' && unicode.In(c, unicode.Hiragana, unicode.Katakana, unicode.Han) {
			return true
		}
	}
	return false
}

// Limits of an address (RFC 5321), in bytes.
const (
	maxAddress = 254
	maxLocal   = 64
)

func checkInternationalEmail(text string) error {
	at := strings.LastIndexByte(text, '@')
	if at < 0 || len(text) > maxAddress || at > maxLocal || at == 0 {
		return errors.New("it is not of the form local@domain, or too long")
	}
	if local := text[:at]; !quotedLocal(local) && !dotted(local) {
		return errors.New("the part before the @ has characters that are not allowed")
	}
	domain := text[at+1:]
	if inside, ok := strings.CutPrefix(domain, "["); ok && strings.HasSuffix(inside, "]") {
		inside = strings.TrimSuffix(inside, "]")
		six, isSix := strings.CutPrefix(inside, "IPv6:")
		address, err := netip.ParseAddr(six)
		if err != nil || address.Is6() != isSix || address.Zone() != "" {
			return errors.New("its domain in brackets is not an IP address")
		}
		return nil
	}
	return checkInternationalHostname(domain)
}

// quotedLocal reports whether a local part is a quoted text.
func quotedLocal(local string) bool {
	return len(local) > 2 && local[0] == '"' && local[len(local)-1] == '"' && !strings.ContainsAny(local[1:len(local)-1], "\"\\\r\n")
}

// dotted reports whether a local part consists of atoms separated by dots.
func dotted(local string) bool {
	for atom := range strings.SplitSeq(local, ".") {
		if atom == "" || strings.ContainsFunc(atom, func(c rune) bool {
			return c <= ' ' || c == 0x7f || c >= 0x80 && c < 0xa0 || strings.ContainsRune(`"(),:;<>@[\]`, c)
		}) {
			return false
		}
	}
	return true
}
