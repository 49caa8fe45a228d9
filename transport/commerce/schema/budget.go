package schema

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// checkFor bounds what one check spends on patterns that backtrack.
const checkFor = time.Second

// budget counts that down for the schemas of one compiler. A check holds mu when
// there is such a pattern; published schemas have none.
type budget struct {
	mu        sync.Mutex
	left      time.Duration
	backtrack atomic.Bool // set while compiling
}

// errPattern is a check that was given up, thrown over the validator, whose
// interface knows only yes and no.
type errPattern struct{ source string }

func (e errPattern) Error() string {
	return "matching the pattern " + cut(e.source, maxWord) + " takes too long"
}

// begin starts a check. The returned function ends the check, with the result of recover.
func (b *budget) begin() (end func(thrown any, err error) error) {
	backtrack := b.backtrack.Load()
	if backtrack {
		b.mu.Lock()
		b.left = checkFor
	}
	return func(thrown any, err error) error {
		if backtrack {
			b.mu.Unlock()
		}
		if thrown == nil {
			return err
		}
		e, ok := thrown.(errPattern)
		if !ok {
			panic(thrown)
		}
		return fmt.Errorf("%w: %w", ErrTooMuchWork, e)
	}
}

// compile is the engine of a compiler.
func (b *budget) compile(source string) (jsonschema.Regexp, error) {
	p, err := compilePattern(source)
	if err != nil {
		return nil, err
	}
	if !p.Linear() {
		b.backtrack.Store(true)
	}
	return spender{b, p}, nil
}

// spender is a pattern that takes from a budget.
type spender struct {
	budget *budget
	*expression
}

// MatchString tells whether the pattern is found, or throws an errPattern.
func (s spender) MatchString(text string) bool {
	if s.Linear() {
		ok, _ := s.Match(text)
		return ok
	}
	start := time.Now()
	ok, err := s.Match(text)
	if s.budget.left -= time.Since(start); err != nil || s.budget.left < 0 {
		panic(errPattern{s.String()})
	}
	return ok
}

// patterns lists the regular expressions of a schema that are none.
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
