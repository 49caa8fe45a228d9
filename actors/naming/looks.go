package naming

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Skeleton returns a form of a name that represents its appearance. Two names with equal skeletons
// can hardly be distinguished on a screen, in upper or lower case. It uses the data of UTS 39
// (section 4). It also treats letters as equal if they look alike at the size of chat text. Use it
// only for reserved names; otherwise it would treat too many different names as equal.
func Skeleton(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(Key(norm.NFKC.String(name))) {
		b.WriteString(looksLike(r))
	}
	return strings.ReplaceAll(strings.ReplaceAll(b.String(), "rn", "m"), "vv", "w")
}

// looksLike returns the appearance of a folded character. A letter's upper case can look like a
// different letter than its lower case. Of these two letters, looksLike returns the Latin one: в
// becomes b, and not ʙ.
func looksLike(r rune) string {
	if like, ok := alike[r]; ok {
		return like
	}
	small, known := confusables()[r]
	if !known || !ascii(small) {
		if capital, ok := confusables()[unicode.ToUpper(r)]; ok && ascii(capital) {
			small, known = capital, true
		}
	}
	if !known {
		return string(r)
	}
	var b strings.Builder
	for _, c := range cases.Fold().String(small) {
		if like, ok := alike[c]; ok {
			b.WriteString(like)
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}

//go:embed unicode/confusables.txt
var confusablesText string

// confusables maps the characters of UTS 39 to the text that they look like, both in NFD. The data
// is parsed at the first use.
var confusables = sync.OnceValue(func() map[rune]string {
	like := make(map[rune]string, 5300)
	for line := range strings.Lines(confusablesText) {
		target, sources, ok := strings.Cut(line, ": ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		to := string(points(target))
		for _, r := range points(sources) {
			like[r] = to
		}
	}
	return like
})

// points parses hexadecimal code points.
func points(s string) (out []rune) {
	for field := range strings.FieldsSeq(s) {
		n, err := strconv.ParseUint(field, 16, 32)
		if err != nil {
			panic("naming: unicode/confusables.txt: " + err.Error())
		}
		out = append(out, rune(n))
	}
	return out
}

// alike maps folded letters to the Latin letters that they look like, in addition to UTS 39. If the
// upper and the lower case of a letter look like different letters, as with i (I looks like l), it
// maps to one of these.
var alike = func() map[rune]string {
	like := map[rune]string{}
	for latin, others := range map[string]string{
		"a": "ⲁ", "e": "єɛ", "f": "ƒ", "h": "ʜ", "k": "ĸ", "l": "i!ՙ", "m": "ᴍ", "n": "пᴨ", "s": "ʂ", "t": "ᴛ", "u": "цμ", "w": "ω", "z": "ʐ",
	} {
		for _, r := range others {
			like[r] = latin
		}
	}
	return like
}()
