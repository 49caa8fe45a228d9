package naming

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestNamesThatLookTheSameHaveOneKey(t *testing.T) {
	for _, same := range [][]string{
		{"Lin", "lin", " LIN\t", "L\u200bin", "\u200fLin", "Lin\u202e", "\u2066Lin\u2069", "L\u00adin", "Li\u2060n", "\ufeffLin", "Li\u034fn", "Lin\u3164", "Lin\ufe0f",
			"Lin\U000e0041", "\u061cLin", "Li\u180en", "Lin\u2800", "L\u200di\u200cn"},
		{"Élodie Straße", "E\u0301LODIE STRASSE", "Élodie  Straße", "Élodie\u00a0Straße", "Élodie\u2800Straße"},
		{"Facilitator", "facilitator", "Facili\u200btator", "\u202dFacilitator"},
	} {
		for _, name := range same[1:] {
			if Key(name) != Key(same[0]) {
				t.Errorf("Key(%q) = %q, Key(%q) = %q", name, Key(name), same[0], Key(same[0]))
			}
		}
	}
	for _, pair := range [][2]string{{"Lin", "Lina"}, {"Anna Bell", "Annabell"}, {"Li", "Lі"}, {"\u0600", ""}, {"😀", ""}, {"1", "2"}} {
		if Key(pair[0]) == Key(pair[1]) {
			t.Errorf("%q and %q have the same key", pair[0], pair[1])
		}
	}
}

func TestInvisibleCharactersAreRemovedFromNames(t *testing.T) {
	for name, want := range map[string]string{
		"Lin": "Lin", "  Lin ": "Lin", "\u202eLin\u202c": "Lin", "L\u200bin\u200f": "Lin", "\ufeffAnna\u2069 Bell\u00a0": "Anna Bell",
		"می\u200cخواهم":                "می\u200cخواهم",
		"👩\u200d💻 Ada":                 "👩\u200d💻 Ada",
		"❤\ufe0f":                      "❤\ufe0f",
		"\u200d\u200d":                 "",
		"\u3164\u2800\u200b":           "",
		"Zo\u0308e":                    "Zo\u0308e",
		"\u0600\u0661":                 "\u0600\u0661",
		"a\u2028b":                     "a\u2028b", // a line's end is refused, rather than removed
		"\u200dLin\u200d \u00ad\u00a0": "Lin",
	} {
		if got := Clean(name); got != want {
			t.Errorf("Clean(%q) = %q, want %q", name, got, want)
		}
	}
}

// In an earlier version, only a black flag was left of the flag of Scotland.
func TestFlagsOfRegionsAreKept(t *testing.T) {
	const scotland, england = "\U0001F3F4\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F", "\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F"
	for name, want := range map[string]string{
		"Ian " + scotland:           "Ian " + scotland,
		scotland + england + "x":    scotland + england + "x",
		"a\U000E0067\U000E007Fb":    "ab",
		"\U0001F3F4\U000E007F x":    "\U0001F3F4 x",
		scotland[:len(scotland)-4]:  "\U0001F3F4",
		"\U0001F3F4" + scotland[4:]: scotland,
		"\U0001F3F4" + strings.Repeat("\U000E0067", 7) + "\U000E007F": "\U0001F3F4",
		"\U0001F3F4\U000E0041\U000E0067\U000E0067\U000E007F":          "\U0001F3F4",
	} {
		if got := Clean(name); got != want || Clean(got) != got {
			t.Errorf("Clean(%+q) = %+q, want %+q", name, got, want)
		}
	}
	if Key("Ian "+scotland) != Key("ian "+england) || Key("Ian "+scotland) != Key("Ian \U0001F3F4") {
		t.Error("names that differ in tag characters have different keys")
	}
}

func TestALineHasNoDirectionalControls(t *testing.T) {
	if got, ok := Line(" \u202etxt.exe\u2066 a\u2069 \u200fשלום\u200b \u202c"); !ok || got != "txt.exe a \u200fשלום\u200b" {
		t.Errorf("Line returned %q", got)
	}
	for _, bad := range []string{"a\nb", "a\x00", "a\u2028b", "a\u2029b", "a\u0085b", "\xff"} {
		if got, ok := Line(bad); ok {
			t.Errorf("Line accepts %q as %q", bad, got)
		}
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"Lin", "\u202eLin", "E\u0301 STRASSE", "\xff", "\u200d", "İ", "ΐ", "\uaba0", "\u13fa"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			t.Skip() // the server refuses such a name before it is cleaned
		}
		kept := Clean(s)
		if Clean(kept) != kept {
			t.Errorf("cleaning %q twice results in %q, then %q", s, kept, Clean(kept))
		}
		if Key(kept) != Key(s) {
			t.Errorf("%q is cleaned to %q, which has another key: %q, %q", s, kept, Key(s), Key(kept))
		}
		if k := Key(s); Key(k) != k {
			t.Errorf("the key of %q is not its own key: %q, %q", s, k, Key(k))
		}
	})
}

// Both cases of every letter have the same key. Otherwise a person could take another person's name
// in different case.
func TestBothCasesOfALetterHaveOneKey(t *testing.T) {
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if !unicode.IsLetter(r) || r == 'İ' || r == 'ı' { // these Turkish letters fold to themselves
			continue
		}
		for _, other := range []rune{unicode.ToLower(r), unicode.ToUpper(r)} {
			if k, o := Key(string(r)), Key(string(other)); k != o {
				t.Errorf("%c (%U) and %c (%U) have different keys: %q, %q", r, r, other, other, k, o)
			}
		}
	}
}
