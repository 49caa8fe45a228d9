package schema

import (
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestPropertyEscapesHaveTheirLongNames(t *testing.T) {
	for _, tc := range []struct{ property, in, out string }{
		{"Letter", "ä", "1"}, {"L", "ä", "1"}, {"gc=Uppercase_Letter", "Ä", "ä"}, {"General_Category=Lu", "Ä", "ä"},
		{"Decimal_Number", "٣", "x"}, {"punct", "!", "x"}, {"LC", "ǅ", "ª"}, {"Cn", "\u0378", "a"},
		{"Script=Greek", "α", "a"}, {"sc=Grek", "α", "\u0342"}, {"scx=Grek", "\u0342", "a"}, {"Script_Extensions=Greek", "α", "ж"},
		{"scx=Common", "!", "\u0964"}, {"Alphabetic", "ͅ", "1"}, {"Alpha", "a", "-"}, {"ASCII", "a", "ä"}, {"Any", "😀", ""},
		{"Lowercase", "ª", "A"}, {"White_Space", "\u00a0", "a"}, {"space", " ", "a"}, {"Emoji", "😀", "a"}, {"ExtPict", "❤", "a"},
		{"ID_Start", "a", "1"}, {"ID_Start", "a", "\u2e2f"}, {"ID_Continue", "1", " "}, {"Math", "+", "a"}, {"Hex_Digit", "f", "g"}, {"Assigned", "a", "\u0378"}, {"RI", "🇦", "a"},
	} {
		for pattern, in := range map[string]bool{
			`^\p{` + tc.property + `}$`: true, `^[\p{` + tc.property + `}]$`: true, `^[^\P{` + tc.property + `}]$`: true,
			`^\P{` + tc.property + `}$`: false, `^[^\p{` + tc.property + `}]$`: false,
			`^(?=\p{` + tc.property + `})[\p{` + tc.property + `}]$`: true, `^(?!\P{` + tc.property + `})[^\P{` + tc.property + `}]$`: true,
		} {
			p, err := compilePattern(pattern)
			if err != nil {
				t.Errorf("the pattern %s does not compile: %v", pattern, err)
				continue
			}
			if (p.linear != nil) == strings.Contains(pattern, "(?") {
				t.Errorf("%s is compiled for linear time: %v", pattern, (p.linear != nil))
			}
			if ok := p.MatchString(tc.in); ok != in {
				t.Errorf("%s matches %q: %v", pattern, tc.in, ok)
			}
			if tc.out == "" {
				continue
			}
			if ok := p.MatchString(tc.out); ok == in {
				t.Errorf("%s matches %q: %v", pattern, tc.out, ok)
			}
		}
	}
}

func TestEveryPropertyCompiles(t *testing.T) {
	names := slices.Concat([]string{"Any", "ASCII"}, ownTables)
	for name := range derived {
		names = append(names, name)
	}
	for name := range emojiProperties {
		names = append(names, name)
	}
	for name := range shortBinary {
		names = append(names, name)
	}
	for name := range unicode.CategoryAliases {
		names = append(names, name, "gc="+name)
	}
	for code, script := range scriptCodes {
		names = append(names, "sc="+code, "scx="+code, "sc="+script, "scx="+script)
	}
	for _, name := range names {
		for _, escape := range []string{`\p{`, `\P{`} {
			if _, err := compilePattern("^" + escape + name + "}[" + escape + name + "}]$"); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestErrorsContainUnknownProperties(t *testing.T) {
	for pattern, want := range map[string]string{
		`\p{Klingon}`: `\p{Klingon} is not known`, `\p{Changes_When_Titlecased}`: `\p{Changes_When_Titlecased} is not known`,
		`[\P{sc=Klingon}]`: `\p{sc=Klingon} is not known`, `\p{gc=Greek}`: `\p{gc=Greek} is not known`, `\p{letter}`: `\p{letter} is not known`,
		`\p{Greek}`: `write \p{Script=Greek}`, `\pL`: `lacks its name in braces`, `\p{L`: `lacks its name in braces`, `\p`: `lacks its name in braces`,
		`\p{Alphabetic=Yes}`: `\p{Alphabetic=Yes} is not known`, `\p{Other_Alphabetic}`: `is not known`,
		strings.Repeat(`\p{Alphabetic}`, 100): "too many characters",
	} {
		if _, err := compilePattern(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: want %q, got %v", pattern, want, err)
		}
	}
}
