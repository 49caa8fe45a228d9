package naming

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Skeleton is a name as it looks: two names whose skeletons are equal can hardly be
// told apart on a screen (UTS 39, section 4). It has what Cyrillic, Greek, Armenian
// and Cherokee letters, and forms of compatibility, look like in Latin; letters that
// are alike within other scripts are not known here. It is for names that nobody else
// may bear: by it, many names of different people would be the same.
func Skeleton(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(Key(norm.NFKC.String(name))) {
		if like, ok := lookalikes[r]; ok {
			b.WriteString(like)
		} else {
			b.WriteRune(r)
		}
	}
	return strings.ReplaceAll(strings.ReplaceAll(b.String(), "rn", "m"), "vv", "w")
}

// lookalikes are letters in their folded form with the Latin ones that they look like.
// Letters of which a capital and a small one look like different ones, as I and l,
// stand for one of them.
var lookalikes = map[rune]string{}

func init() {
	for latin, others := range map[string]string{
		"a": "аɑαⲁ", "b": "ьᏼƅ", "c": "сϲⅽᴄ", "d": "ԁⅾᏧ", "e": "еҽℯєɛε", "f": "ƒẝꞙ", "g": "ɡցᶃ", "h": "һհᏂʜ",
		"j": "јϳʝ", "k": "кκĸᴋ", "m": "мᴍ", "n": "ոռпᴨ", "o": "оοօσⲟᴏ0໐০൦", "p": "рρⲣ",
		"q": "ԛգզ", "r": "гᴦⲅ", "s": "ѕꜱʂ", "t": "тτᴛ", "u": "սυʋᴜцμ", "v": "ѵνᴠ", "w": "ԝѡաᴡωɯ", "x": "хχⅹ×",
		"y": "уүγʏყ", "z": "ᴢʐ", "l": "iіɩιıӏ1|ⅼǀՙוןᎥⲓ!ɪ",
	} {
		for _, r := range others {
			lookalikes[r] = latin
		}
	}
}
