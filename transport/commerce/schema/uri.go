package schema

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
)

// The formats of RFC 3986 (URI), RFC 3987 (IRI) and RFC 6570 (URI templates).

// parts splits a reference, RFC 3986 appendix B. It matches every text.
var parts = regexp.MustCompile(`(?s)^(?:([^:/?#]*):)?(?://([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$`)

var (
	schemeText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*$`)
	// plainText contains the characters that user information, host, path, query and fragment
	// allow. All except the host also allow further delimiters, and an IRI allows non-ASCII
	// characters.
	plainText = `A-Za-z0-9._~!$&'()*+,;=\-`
	futureIP  = regexp.MustCompile(`^[vV][0-9A-Fa-f]+\.[` + plainText + `:]+$`)
)

// letters is the set of non-ASCII characters that a kind of reference allows, as the content of a
// character class.
type letters string

const (
	asciiOnly letters = ""
	// international is ucschar of RFC 3987; a query also allows private-use characters
	// (privateUse).
	international letters = `\x{A0}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFEF}\x{10000}-\x{1FFFD}\x{20000}-\x{2FFFD}\x{30000}-\x{3FFFD}` +
		`\x{40000}-\x{4FFFD}\x{50000}-\x{5FFFD}\x{60000}-\x{6FFFD}\x{70000}-\x{7FFFD}\x{80000}-\x{8FFFD}\x{90000}-\x{9FFFD}` +
		`\x{A0000}-\x{AFFFD}\x{B0000}-\x{BFFFD}\x{C0000}-\x{CFFFD}\x{D0000}-\x{DFFFD}\x{E1000}-\x{EFFFD}`
	privateUse = `\x{E000}-\x{F8FF}\x{F0000}-\x{FFFFD}\x{100000}-\x{10FFFD}`
)

// grammar is the grammar of one kind of reference.
type grammar struct {
	user, host, path, query, fragment *regexp.Regexp
}

func newGrammar(more letters) grammar {
	inQuery := more
	if more != asciiOnly {
		inQuery += privateUse
	}
	text := func(of string) *regexp.Regexp {
		return regexp.MustCompile(`^(?:[` + of + `]|%[0-9A-Fa-f]{2})*$`)
	}
	return grammar{
		user: text(plainText + ":" + string(more)), host: text(plainText + string(more)), path: text(plainText + ":@/" + string(more)),
		query: text(plainText + ":@/?" + string(inQuery)), fragment: text(plainText + ":@/?" + string(more)),
	}
}

var (
	uriGrammar = newGrammar(asciiOnly)
	iriGrammar = newGrammar(international)
)

// absolute checks a reference that must have a scheme.
func (g grammar) absolute(text string) error {
	if parts.FindStringSubmatchIndex(text)[2] < 0 {
		return errors.New("it has no scheme")
	}
	return g.reference(text)
}

// reference checks a reference with or without a scheme.
func (g grammar) reference(text string) error {
	at := parts.FindStringSubmatchIndex(text)
	part := func(i int) string {
		if at[2*i] < 0 {
			return ""
		}
		return text[at[2*i]:at[2*i+1]]
	}
	if at[2] >= 0 && !schemeText.MatchString(part(1)) {
		return errors.New("the text before its first colon is not a scheme")
	}
	if err := g.authority(part(2)); err != nil {
		return err
	}
	if !g.path.MatchString(part(3)) || !g.query.MatchString(strings.TrimPrefix(part(4), "?")) || !g.fragment.MatchString(strings.TrimPrefix(part(5), "#")) {
		return errors.New("it has a character that must be percent-encoded")
	}
	return nil
}

func (g grammar) authority(text string) error {
	host := text
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		if host = text[i+1:]; !g.user.MatchString(text[:i]) {
			return errors.New("its user information contains characters that are not allowed")
		}
	}
	port := ""
	if strings.HasPrefix(host, "[") {
		inside, rest, closed := strings.Cut(host[1:], "]")
		address, err := netip.ParseAddr(inside)
		if !closed || !futureIP.MatchString(inside) && (err != nil || !address.Is6() || address.Zone() != "") {
			return errors.New("its host in brackets is not an IPv6 address")
		}
		if rest != "" && rest[0] != ':' {
			return errors.New("it has text after the closing bracket of its host")
		}
		host, port = "", strings.TrimPrefix(rest, ":")
	} else if name, number, ok := strings.Cut(host, ":"); ok {
		host, port = name, number
	}
	if !g.host.MatchString(host) {
		return errors.New("its host contains characters that are not allowed")
	}
	if strings.Trim(port, "0123456789") != "" {
		return errors.New("its port is not a number")
	}
	return nil
}

var (
	// templateLiteral matches the text outside of expressions.
	templateLiteral = regexp.MustCompile(`^(?:[!#-$&-;=?-\[\]_a-z~` + string(international) + privateUse + `]|%[0-9A-Fa-f]{2})*$`)
	templateName    = `(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*`
	templateVar     = templateName + `(?::[1-9][0-9]{0,3}|\*)?`
	templateExpr    = regexp.MustCompile(`^[+#./;?&=,!@|]?` + templateVar + `(?:,` + templateVar + `)*$`)
)

// checkTemplate checks a URI template.
func checkTemplate(text string) error {
	for text != "" {
		literal, rest, found := strings.Cut(text, "{")
		if !templateLiteral.MatchString(literal) {
			return errors.New("it has a character that must be percent-encoded, or an unmatched brace")
		}
		if !found {
			return nil
		}
		expression, after, closed := strings.Cut(rest, "}")
		if !closed || !templateExpr.MatchString(expression) {
			return fmt.Errorf("{%s is not an expression", cut(expression, maxWord))
		}
		text = after
	}
	return nil
}
