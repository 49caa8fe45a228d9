package schema

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
)

// maxPattern bounds a pattern's text, in bytes.
const maxPattern = 4096

// expression is a compiled pattern. It is safe for concurrent use.
type expression struct {
	source string
	// Exactly one of linear and backtrack is nil.
	linear    *regexp.Regexp
	backtrack *regexp2.Regexp
}

// compilePattern compiles a pattern as in ECMA-262 with the u flag, except that unnecessary escapes
// of punctuation, which many schemas have, are permitted.
func compilePattern(source string) (*expression, error) {
	if len(source) > maxPattern {
		return nil, fmt.Errorf("the pattern is longer than %d bytes", maxPattern)
	}
	t, err := translate(source)
	if err != nil {
		return nil, fmt.Errorf("%q is not a regular expression of ECMA-262: %w", cut(source, maxWord), err)
	}
	// The backtracking engine compiles every pattern, because RE2 also accepts patterns that are
	// invalid in ECMA-262.
	backtrack, err := regexp2.Compile(t.ecma, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		reason, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "error parsing regexp: "), " in `")
		return nil, fmt.Errorf("%q is not a regular expression of ECMA-262: %s", cut(source, maxWord), reason)
	}
	if t.common {
		// RE2 has its own bounds on repetitions; beyond them the other engine is used.
		if linear, err := regexp.Compile(t.re2); err == nil {
			return &expression{source: source, linear: linear}, nil
		}
	}
	return &expression{source: source, backtrack: backtrack}, nil
}

// MatchString reports whether the pattern is found in s. RE2 supports nearly all patterns. For
// these, MatchString takes time proportional to the length of the text.
func (p *expression) MatchString(s string) bool {
	if p.linear != nil {
		return p.linear.MatchString(s)
	}
	ok, _ := p.backtrack.MatchString(s) // an error is possible only with a limit, which is not set
	return ok
}

// String returns the original pattern.
func (p *expression) String() string { return p.source }

// translation is a pattern for both engines.
type translation struct {
	ecma, re2 string
	// common means that re2 has the same meaning as ecma.
	common bool
}

// RE2's text for classes that have the same name in both dialects but contain other characters.
const (
	anyCharacter = `[^\n\r\x{2028}\x{2029}]`
	space        = `\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
)

// The backtracking engine's own \b and \B treat letters outside ASCII as parts of words. ECMA-262
// does not.
const (
	boundary   = `(?:(?<=\w)(?!\w)|(?<!\w)(?=\w))`
	noBoundary = `(?:(?<=\w)(?=\w)|(?<!\w)(?!\w))`
)

var quantifier = regexp.MustCompile(`^\{(0|[1-9][0-9]*)(,(0|[1-9][0-9]*)?)?\}`)

// translator translates a pattern in one pass.
type translator struct {
	source    string
	at        int
	ecma, re2 strings.Builder
	common    bool
	inClass   bool
	expanded  int // ranges for properties so far
}

func translate(source string) (translation, error) {
	t := &translator{source: source, common: true}
	for t.at < len(source) {
		if err := t.next(); err != nil {
			return translation{}, err
		}
	}
	return translation{t.ecma.String(), t.re2.String(), t.common}, nil
}

func (t *translator) next() error {
	rest := t.source[t.at:]
	switch c := rest[0]; {
	case c == '\\':
		return t.escape(rest)
	case t.inClass && c == '[':
		// Engines interpret a bracket in a class differently from ECMA-262.
		t.write(1, `\[`, `\[`)
	case t.inClass && c == ']':
		t.inClass = false
		t.same(1)
	case t.inClass:
		_, size := utf8.DecodeRuneInString(rest)
		t.same(size)
	case c == '[':
		t.inClass = true
		// RE2 has no empty class and no complement of it.
		if strings.HasPrefix(rest, "[]") || strings.HasPrefix(rest, "[^]") {
			t.common = false
		}
		t.same(1)
		if strings.HasPrefix(rest, "[^") {
			t.same(1)
		}
	case c == '{' && !quantifier.MatchString(rest):
		t.common = false // quantifiers differ between the engines
		t.same(1)
	case c == '.':
		t.write(1, ".", anyCharacter)
	case strings.HasPrefix(rest, "(?"):
		return t.group(rest)
	default:
		_, size := utf8.DecodeRuneInString(rest)
		t.same(size)
	}
	return nil
}

// group translates constructs that begin with (?. It refuses constructs that ECMA-262 lacks.
func (t *translator) group(rest string) error {
	switch {
	case strings.HasPrefix(rest, "(?:"):
		t.same(3)
	case strings.HasPrefix(rest, "(?="), strings.HasPrefix(rest, "(?!"):
		t.common = false
		t.same(3)
	case strings.HasPrefix(rest, "(?<="), strings.HasPrefix(rest, "(?<!"):
		t.common = false
		t.same(4)
	case strings.HasPrefix(rest, "(?<"):
		t.same(3)
	default:
		return fmt.Errorf("unknown group %s", rest[:min(3, len(rest))])
	}
	return nil
}

func (t *translator) escape(rest string) error {
	if len(rest) < 2 {
		return errors.New("it ends in a backslash")
	}
	c := rest[1]
	switch {
	case c == 's' && t.inClass:
		t.write(2, `\s`, space)
	case c == 's':
		t.write(2, `\s`, "["+space+"]")
	case c == 'S' && !t.inClass:
		t.write(2, `\S`, "[^"+space+"]")
	case strings.IndexByte("dDwWfnrtv", c) >= 0:
		t.same(2)
	case c == 'b' && !t.inClass:
		t.write(2, boundary, `\b`)
	case c == 'B' && !t.inClass:
		t.write(2, noBoundary, `\B`)
	case c == 'p' || c == 'P':
		return t.property(rest)
	case strings.IndexByte("SbBcxuk0123456789", c) >= 0:
		t.common = false
		t.same(2)
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf:
		_, size := utf8.DecodeRuneInString(rest[1:])
		return fmt.Errorf("unknown escape %s", rest[:1+size])
	default:
		t.same(2)
	}
	return nil
}

// property translates \p{...} and \P{...}.
func (t *translator) property(rest string) error {
	text, _, closed := strings.Cut(strings.TrimPrefix(rest[2:], "{"), "}")
	if !closed || rest[2] != '{' {
		return fmt.Errorf("%s lacks its name in braces", rest[:2])
	}
	short, set, err := property(text)
	if err != nil {
		return err
	}
	size := len(`\p{}`) + len(text)
	if short != "" {
		known := rest[:2] + "{" + short + "}"
		t.write(size, known, known)
		return nil
	}
	if rest[1] == 'P' {
		set = set.complement()
	}
	if t.expanded += len(set); t.expanded > maxExpanded {
		return errors.New("its property escapes have too many characters together")
	}
	if t.inClass {
		t.write(size, set.literal(), set.class())
	} else {
		t.write(size, "["+set.literal()+"]", "["+set.class()+"]")
	}
	return nil
}

// same copies n bytes with the same meaning in both engines.
func (t *translator) same(n int) { t.write(n, t.source[t.at:t.at+n], t.source[t.at:t.at+n]) }

// write consumes n bytes and writes their translations.
func (t *translator) write(n int, ecma, re2 string) {
	t.at += n
	t.ecma.WriteString(ecma)
	t.re2.WriteString(re2)
}

// patterns returns the invalid regular expressions of a schema.
func patterns(schema any) (list []Problem) {
	Walk(schema, func(at string, node map[string]any) {
		if text, ok := node["pattern"].(string); ok {
			if err := checkRegex(text); err != nil {
				list = append(list, Problem{at + "/pattern", err.Error()})
			}
		}
		byPattern, _ := node["patternProperties"].(map[string]any)
		for text := range byPattern {
			if err := checkRegex(text); err != nil {
				list = append(list, Problem{at + Pointer("patternProperties", text), err.Error()})
			}
		}
	})
	sortProblems(list)
	return list[:min(len(list), maxProblems)]
}
