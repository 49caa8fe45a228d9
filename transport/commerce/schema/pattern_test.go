package schema

import (
	"strings"
	"testing"
	"time"

	"github.com/dlclark/regexp2"
)

func TestPatternsMatchAsInECMA262(t *testing.T) {
	for _, tc := range []struct {
		pattern       string
		linear        bool
		match, differ []string
	}{
		{`^[A-Z]{3}$`, true, []string{"EUR"}, []string{"eur", "EUR\n", "EURO"}},
		{`^(?=.*\d)[a-z\d]+$`, false, []string{"a1"}, []string{"ab", "A1"}},
		{`(?<!x)a`, false, []string{"ba"}, []string{"xa"}},
		{`^(a|b)\1$`, false, []string{"aa"}, []string{"ab"}},
		{`^(?<year>\d{4})-\k<year>$`, false, []string{"2026-2026"}, []string{"2026-2027"}},
		{`^(?<year>\d{4})$`, true, []string{"2026"}, []string{"٢٠٢٦"}},
		{`^\s$`, true, []string{" ", "\u00a0", "\ufeff", "\u2028"}, []string{"x"}},
		{`^[^\s]$`, true, []string{"x"}, []string{"\u00a0"}},
		{`^\S$`, true, []string{"x"}, []string{"\u3000"}},
		{`^.$`, true, []string{"x", "😀"}, []string{"\r", "\n", "\u2028"}},
		{`^[[a]$`, true, []string{"[", "a"}, []string{"b"}},
		{`^[a-z-[b]]$`, true, []string{"[]", "-]"}, []string{"a"}},
		{`^\p{Lu}$`, true, []string{"Ä"}, []string{"ä"}},
		{`^\u0041\/$`, false, []string{"A/"}, []string{"B/"}},
		{`^[]$`, false, nil, []string{"", "a"}},
		{`^0{00}$`, false, []string{""}, []string{"0"}},
		{`^(?=x)x\b`, false, []string{"xª", "x"}, []string{"xy", "x_"}},
		{`^(?=x)x\B`, false, []string{"xy"}, []string{"xª", "x"}},
		{`^a{2000}$`, false, []string{strings.Repeat("a", 2000)}, []string{"a"}},
	} {
		p, err := compilePattern(tc.pattern)
		if err != nil {
			t.Errorf("the pattern %s does not compile: %v", tc.pattern, err)
			continue
		}
		if (p.linear != nil) != tc.linear {
			t.Errorf("%s is compiled for linear time: %v", tc.pattern, (p.linear != nil))
		}
		for _, s := range tc.match {
			if !p.MatchString(s) {
				t.Errorf("%s does not match %q", tc.pattern, s)
			}
		}
		for _, s := range tc.differ {
			if p.MatchString(s) {
				t.Errorf("the pattern %s matches %q, want no match", tc.pattern, s)
			}
		}
	}
}

func TestPatternsOfOtherDialectsAreRefused(t *testing.T) {
	for _, pattern := range []string{`^[a-z`, `(`, `a**`, `(?P<n>a)`, `(?i)a`, `(?#c)`, `(?>a)`, `(?'n'a)`, `\Aa\z`, `\Qa\E`, `a\`, `a++`, `[b-a]`, `\ä`, strings.Repeat("a", maxPattern+1)} {
		if _, err := compilePattern(pattern); err == nil {
			t.Errorf("the invalid pattern %.80s compiles", pattern)
		} else if len(err.Error()) > 300 {
			t.Errorf("the error has %d bytes", len(err.Error()))
		}
	}
}

func TestAPlainPatternDoesNotBacktrack(t *testing.T) {
	if p, err := compilePattern(`^(a+)+$`); err != nil || p.linear == nil {
		t.Fatalf("a plain pattern is not compiled for linear time: %v", err)
	}
}

// FuzzTheEnginesAgree compares the results of both engines for a pattern.
func FuzzTheEnginesAgree(f *testing.F) {
	for _, s := range []string{`^[a-z]+$`, `a|b*`, `[^\s.]{2,}`, `\bx\B`, `(a)(?:b)?`, `^.\S$`, `[[-]`, `a{2}`} {
		f.Add(s, "ab x\u00a0\n")
	}
	f.Add(`x\B`, "xª")
	f.Add(`\bx`, "ªx")
	f.Fuzz(func(t *testing.T, source, text string) {
		if len(source) > 40 || len(text) > 40 {
			return
		}
		p, err := compilePattern(source)
		if err != nil || !(p.linear != nil) || strings.ToValidUTF8(text, "") != text || strings.ToValidUTF8(source, "") != source {
			return
		}
		tr, _ := translate(source)
		re := regexp2.MustCompile(tr.ecma, regexp2.ECMAScript|regexp2.Unicode)
		re.MatchTimeout = 250 * time.Millisecond
		want, err := re.MatchString(text)
		if got := p.MatchString(text); err == nil && got != want {
			t.Errorf("%q on %q: linear engine %v, backtracking engine %v", source, text, got, want)
		}
	})
}
