package naming

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Facilitator is the name of facilitators who have not entered a name.
const Facilitator = "Facilitator"

// Key returns the normalized form of a name. Two names count as equal if their keys are equal. Keys
// ignore case, Unicode composition, invisible characters, and the kind and number of spaces between
// words.
func Key(name string) string {
	if plain(name) {
		return strings.ToLower(name)
	}
	return folded(name)
}

func folded(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case blank(r):
			return ' '
		case invisible(r):
			return -1
		// Cherokee is folded here, because package cases swaps its two cases instead of folding
		// them.
		case '\uab70' <= r && r <= '\uabbf':
			return r - '\uab70' + '\u13a0'
		case '\u13f8' <= r && r <= '\u13fd':
			return r - '\u13f8' + '\u13f0'
		}
		return r
	}, name)
	name = strings.Join(strings.Fields(name), " ")
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(name)))
}

// plain reports whether a name consists of printable ASCII with single spaces between words. Its
// key is then only the lower-case form. Most names are plain, so searching 100,000 titles is ten
// times as fast.
func plain(name string) bool {
	before := byte(' ')
	for i := range len(name) {
		c := name[i]
		if c < ' ' || c >= utf8.RuneSelf || c == ' ' && before == ' ' {
			return false
		}
		before = c
	}
	return before != ' '
}

// Clean returns the stored form of a name: trimmed, and without invisible characters except those
// required by some scripts and emoji. It is empty if the name has no visible character.
func Clean(name string) string {
	if Key(name) == "" {
		return ""
	}
	var kept strings.Builder
	for name != "" {
		if n := flagged(name); n > 0 {
			kept.WriteString(name[:n])
			name = name[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(name)
		if !invisible(r) || joins(r) || chooses(r) {
			kept.WriteRune(r)
		}
		name = name[n:]
	}
	name = kept.String()
	return strings.TrimFunc(name, func(r rune) bool { return blank(r) || joins(r) })
}

// flagged returns the size, in bytes, of an emoji tag sequence for a flag at the beginning of a
// text, or 0 if there is none. Examples are the flags of England, Scotland and Wales (UTS 51,
// ED-14a). Such a sequence is a black flag, tag letters and digits for a region, and an end tag.
func flagged(text string) int {
	const (
		flag, end = '\U0001F3F4', '\U000E007F'
		most      = 6 // letters and digits of a subdivision
	)
	n := 0
	for i, r := range text {
		switch {
		case i == 0 && r != flag:
			return 0
		case i == 0:
		case r == end && n >= 3:
			return i + utf8.RuneLen(end)
		case n == most || !(r >= 0xe0030 && r <= 0xe0039 || r >= 0xe0061 && r <= 0xe007a):
			return 0
		default:
			n++
		}
	}
	return 0
}

// Line returns the stored form of a one-line text: trimmed, and without characters that change the
// direction of the surrounding text. ok is false if the text is not valid UTF-8 or has control
// characters or line breaks.
func Line(text string) (line string, ok bool) {
	if !utf8.ValidString(text) {
		return "", false
	}
	text = strings.TrimSpace(text)
	if strings.ContainsFunc(text, breaks) {
		return "", false
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if turns(r) {
			return -1
		}
		return r
	}, text)), true
}

// breaks reports whether a character is a control character, or a line or paragraph separator.
func breaks(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp)
}

// turns reports whether a character is an embedding, override or isolate of the bidirectional
// algorithm. If such a character is not closed, it also affects the text that is shown after the
// name or line with it.
func turns(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// blank reports whether a character looks like a space.
func blank(r rune) bool {
	const brailleBlank = 0x2800
	return unicode.IsSpace(r) || r == brailleBlank
}

// joins reports whether a character is a joiner. Joiners affect the shape of the Persian and Indic
// letters on both sides of them.
func joins(r rune) bool {
	const zwnj, zwj = 0x200c, 0x200d
	return r == zwnj || r == zwj
}

// chooses reports whether a character is a variation selector, which affects the shape of the
// preceding emoji.
func chooses(r rune) bool { return unicode.Is(unicode.Variation_Selector, r) }

// invisible reports whether a character is default ignorable in Unicode, or another invisible
// format character.
func invisible(r rune) bool {
	switch {
	case r < 0x80, unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r), unicode.Is(unicode.Variation_Selector, r):
		return true
	}
	return false
}
