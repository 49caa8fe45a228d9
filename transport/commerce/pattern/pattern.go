package pattern

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"

	"github.com/dlclark/regexp2"
)

// MaxBytes bounds the text of a pattern.
const MaxBytes = 4096

// matchFor bounds one match of an engine that backtracks.
const matchFor = 250 * time.Millisecond

// ErrSlow is a match that was given up.
var ErrSlow = errors.New("matching takes too long")

// Pattern is a compiled pattern. Safe for concurrent use.
type Pattern struct {
	source string
	// One of the two is nil.
	linear    *regexp.Regexp
	backtrack *regexp2.Regexp
	// size is how many instructions the linear one may look at for each byte.
	size int
}

// Compile reads a pattern as ECMA-262 with the u flag has it, but for the
// escapes of punctuation that need none, which many schemas have.
func Compile(source string) (*Pattern, error) {
	if len(source) > MaxBytes {
		return nil, fmt.Errorf("the pattern is longer than %d bytes", MaxBytes)
	}
	t, err := translate(source)
	if err != nil {
		return nil, fmt.Errorf("%s is not a regular expression of ECMA-262: %w", brief(source), err)
	}
	// Even what RE2 takes has to be a pattern of the dialect.
	backtrack, err := regexp2.Compile(t.ecma, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		reason, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "error parsing regexp: "), " in `")
		return nil, fmt.Errorf("%s is not a regular expression of ECMA-262: %s", brief(source), reason)
	}
	if t.common {
		// RE2 has bounds of its own, on repetitions; beyond them it backtracks.
		if linear, err := regexp.Compile(t.re2); err == nil {
			return &Pattern{source: source, linear: linear, size: instructions(t.re2)}, nil
		}
	}
	backtrack.MatchTimeout = matchFor
	return &Pattern{source: source, backtrack: backtrack}, nil
}

// Linear tells whether a match takes time in proportion to the text.
func (p *Pattern) Linear() bool { return p.linear != nil }

func instructions(re2 string) int {
	parsed, err := syntax.Parse(re2, syntax.Perl)
	if err != nil {
		return MaxBytes
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return MaxBytes
	}
	return len(program.Inst)
}

// Looks is how often an engine may look at a text of n bytes; meaningless for
// a pattern that is not linear.
func (p *Pattern) Looks(n int) int { return p.size * n }

// Match tells whether the pattern is found in s. The error is ErrSlow, and
// never that of a linear pattern.
func (p *Pattern) Match(s string) (bool, error) {
	if p.linear != nil {
		return p.linear.MatchString(s), nil
	}
	ok, err := p.backtrack.MatchString(s)
	if err != nil {
		return false, ErrSlow
	}
	return ok, nil
}

// String is the pattern as it was written.
func (p *Pattern) String() string { return p.source }

func brief(source string) string {
	const longest = 80
	if len(source) > longest {
		source = strings.ToValidUTF8(source[:longest], "") + "…"
	}
	return fmt.Sprintf("%q", source)
}
