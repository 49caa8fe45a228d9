package naming

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Facilitator is the name under which facilitators appear who gave none.
const Facilitator = "Facilitator"

// Key is the compared form of a name: two names are the same when their keys
// are. Case, the form of its characters, invisible ones, and which spaces and
// how many of them are between the words do not count.
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
		// Package cases swaps the two cases of Cherokee, instead of folding them.
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

// plain reports whether of a name only the case does not count: it has no character outside of
// ASCII, and single spaces between the words. Most have; to search 100,000 titles takes a
// tenth of the time so.
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

// Clean returns the stored form of a name: trimmed, and without invisible characters except
// those that some scripts and emoji need. It is empty if the name has no visible character.
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

// flagged returns the size of a flag at the beginning of a text that is written with tag
// characters, as those of England, Scotland and Wales (UTS 51, ED-14a). Such a flag is a
// black flag, the letters and digits of a region, and the tag that ends them. 0 means that
// the text does not begin with such a flag.
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

// Line returns a one-line text in its stored form: trimmed, and without the characters that
// change the direction of the surrounding text. ok is false if it is not one line of text.
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

// breaks: control characters, and the ends of lines and paragraphs.
func breaks(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp)
}

// turns: the embeddings, overrides and isolates of the bidirectional
// algorithm. Where one is not closed, it goes on behind the field.
func turns(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// blank reports whether a character looks like a space.
func blank(r rune) bool {
	const brailleBlank = 0x2800
	return unicode.IsSpace(r) || r == brailleBlank
}

// joins and chooses: between others, the joiners decide how letters of Persian
// and of Indic scripts look, and behind another, a variation selector does so
// for emoji.
func joins(r rune) bool {
	const zwnj, zwj = 0x200c, 0x200d
	return r == zwnj || r == zwj
}

func chooses(r rune) bool { return unicode.Is(unicode.Variation_Selector, r) }

// invisible reports whether a character is default ignorable in Unicode, or another format
// character that nothing shows.
func invisible(r rune) bool {
	switch {
	case r < 0x80, unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r), unicode.Is(unicode.Variation_Selector, r):
		return true
	}
	return false
}
