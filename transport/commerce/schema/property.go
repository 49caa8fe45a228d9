package schema

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// maxExpanded bounds the ranges to which the properties of one pattern expand.
const maxExpanded = 20_000

// characters are sorted ranges of characters, without surrogates, which valid text cannot contain.
type characters [][2]rune

// property returns the characters of an ECMA-262 property escape with this text between the braces:
// a value of General_Category, a binary property, or name=value. short is a name of this property
// that both engines support, or "". An unknown property is an error.
func property(text string) (short string, set characters, err error) {
	name, value, both := strings.Cut(text, "=")
	if !both {
		if short, ok := generalCategory(text); ok {
			return short, tableOf(unicode.Categories[short]), nil
		}
		if set, ok := binaryProperty(text); ok {
			return "", set, nil
		}
		if script, ok := scriptName(text); ok {
			return "", nil, fmt.Errorf("\\p{%s} lacks the name of its property: write \\p{Script=%s}", cut(text, maxWord), script)
		}
		return "", nil, unknownProperty(text)
	}
	switch name {
	case "General_Category", "gc":
		if short, ok := generalCategory(value); ok {
			return short, tableOf(unicode.Categories[short]), nil
		}
	case "Script", "sc":
		if script, ok := scriptName(value); ok {
			return script, tableOf(unicode.Scripts[script]), nil
		}
	case "Script_Extensions", "scx":
		if script, ok := scriptName(value); ok {
			return "", extended(script), nil
		}
	}
	return "", nil, unknownProperty(text)
}

func unknownProperty(text string) error {
	return fmt.Errorf("the property \\p{%s} is not known; write its characters as a class, as in [a-z]", cut(text, maxWord))
}

// generalCategory returns the short name of a category.
func generalCategory(name string) (string, bool) {
	if short, ok := unicode.CategoryAliases[name]; ok {
		name = short
	}
	_, ok := unicode.Categories[name]
	return name, ok
}

func scriptName(name string) (string, bool) {
	if long, ok := scriptCodes[name]; ok {
		name = long
	}
	_, ok := unicode.Scripts[name]
	return name, ok
}

// shortBinary are the aliases of binary properties.
var shortBinary = map[string]string{
	"Alpha": "Alphabetic", "Lower": "Lowercase", "Upper": "Uppercase", "AHex": "ASCII_Hex_Digit", "Hex": "Hex_Digit",
	"Bidi_C": "Bidi_Control", "Dep": "Deprecated", "Dia": "Diacritic", "Ext": "Extender", "IDC": "ID_Continue",
	"IDS": "ID_Start", "IDSB": "IDS_Binary_Operator", "IDST": "IDS_Trinary_Operator", "Ideo": "Ideographic",
	"Join_C": "Join_Control", "LOE": "Logical_Order_Exception", "NChar": "Noncharacter_Code_Point", "Pat_Syn": "Pattern_Syntax",
	"Pat_WS": "Pattern_White_Space", "QMark": "Quotation_Mark", "RI": "Regional_Indicator", "STerm": "Sentence_Terminal",
	"SD": "Soft_Dotted", "Term": "Terminal_Punctuation", "UIdeo": "Unified_Ideograph", "VS": "Variation_Selector",
	"space": "White_Space", "EBase": "Emoji_Modifier_Base", "EComp": "Emoji_Component", "EMod": "Emoji_Modifier",
	"EPres": "Emoji_Presentation", "ExtPict": "Extended_Pictographic",
}

// ownTables lists the binary properties of ECMA-262 that have a table in Go. Go also has tables of
// properties that ECMA-262 lacks.
var ownTables = strings.Fields("ASCII_Hex_Digit Bidi_Control Dash Deprecated Diacritic Extender Hex_Digit " +
	"IDS_Binary_Operator IDS_Trinary_Operator Ideographic Join_Control Logical_Order_Exception Noncharacter_Code_Point " +
	"Pattern_Syntax Pattern_White_Space Quotation_Mark Radical Regional_Indicator Sentence_Terminal Soft_Dotted " +
	"Terminal_Punctuation Unified_Ideograph Variation_Selector White_Space")

// derived contains the binary properties that Unicode derives from others (DerivedCoreProperties).
// A property has the characters of its first list, without those of the second list.
var derived = map[string][2]string{
	"Alphabetic":  {"L Nl Other_Alphabetic", ""},
	"Lowercase":   {"Ll Other_Lowercase", ""},
	"Uppercase":   {"Lu Other_Uppercase", ""},
	"Cased":       {"Lu Ll Lt Other_Lowercase Other_Uppercase", ""},
	"Math":        {"Sm Other_Math", ""},
	"ID_Start":    {"L Nl Other_ID_Start", "Pattern_Syntax Pattern_White_Space"},
	"ID_Continue": {"L Nl Other_ID_Start Mn Mc Nd Pc Other_ID_Continue", "Pattern_Syntax Pattern_White_Space"},
	"Assigned":    {"L M N P S Z Cc Cf Co Cs", ""},
}

func binaryProperty(name string) (characters, bool) {
	if long, ok := shortBinary[name]; ok {
		name = long
	}
	switch name {
	case "Any":
		return characters{{0, 0xD7FF}, {0xE000, unicode.MaxRune}}, true
	case "ASCII":
		return characters{{0, unicode.MaxASCII}}, true
	}
	if slices.Contains(ownTables, name) {
		return tableOf(unicode.Properties[name]), true
	}
	if from, ok := derived[name]; ok {
		return tables(from[0]).without(tables(from[1])), true
	}
	if pairs, ok := emojiProperties[name]; ok {
		var set characters
		for i := 0; i < len(pairs); i += 2 {
			set = append(set, [2]rune{pairs[i], pairs[i+1]})
		}
		return set, true
	}
	return nil, false
}

// tables returns the characters of several Go tables.
func tables(names string) (set characters) {
	for _, name := range strings.Fields(names) {
		table := unicode.Categories[name]
		if table == nil {
			table = unicode.Properties[name]
		}
		set = append(set, tableOf(table)...)
	}
	return set.sorted()
}

func tableOf(table *unicode.RangeTable) (set characters) {
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			set = append(set, [2]rune{lo, hi})
			return
		}
		for c := lo; c <= hi; c += stride {
			set = append(set, [2]rune{c, c})
		}
	}
	for _, r := range table.R16 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	for _, r := range table.R32 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	return set.sorted().without(characters{{0xD800, 0xDFFF}})
}

// sorted sorts ranges, and joins overlapping and adjacent ones.
func (c characters) sorted() characters {
	slices.SortFunc(c, func(a, b [2]rune) int { return int(a[0] - b[0]) })
	var joined characters
	for _, r := range c {
		if n := len(joined); n > 0 && r[0] <= joined[n-1][1]+1 {
			joined[n-1][1] = max(joined[n-1][1], r[1])
			continue
		}
		joined = append(joined, r)
	}
	return joined
}

// complement returns all other characters.
func (c characters) complement() (rest characters) {
	next := rune(0)
	for _, r := range append(slices.Clone(c), [2]rune{0xD800, 0xDFFF}).sorted() {
		if r[0] > next {
			rest = append(rest, [2]rune{next, r[0] - 1})
		}
		next = r[1] + 1
	}
	if next <= unicode.MaxRune {
		rest = append(rest, [2]rune{next, unicode.MaxRune})
	}
	return rest
}

// without returns c without the characters in out. Both must be sorted.
func (c characters) without(out characters) characters {
	var kept characters
	for _, r := range c {
		lo := r[0]
		for _, o := range out {
			if o[1] < lo || o[0] > r[1] {
				continue
			}
			if o[0] > lo {
				kept = append(kept, [2]rune{lo, o[0] - 1})
			}
			lo = o[1] + 1
		}
		if lo <= r[1] {
			kept = append(kept, [2]rune{lo, r[1]})
		}
	}
	return kept
}

// extensionsOf maps scripts to the characters that are used with them but also with others.
var extensionsOf = sync.OnceValue(func() map[string]characters {
	byScript := map[string]characters{}
	for _, r := range scriptExtensions {
		for _, script := range strings.Fields(r.scripts) {
			byScript[script] = append(byScript[script], [2]rune{r.lo, r.hi})
		}
	}
	return byScript
})

// extended returns the characters that are used with a script.
func extended(script string) characters {
	var explicit characters
	for _, r := range scriptExtensions {
		explicit = append(explicit, [2]rune{r.lo, r.hi})
	}
	own := tableOf(unicode.Scripts[script]).without(explicit.sorted())
	return append(own, extensionsOf()[script]...).sorted()
}

// class returns the ranges as in a character class, for RE2.
func (c characters) class() string {
	if len(c) == 0 {
		return `\x{d800}` // RE2 has no empty class; valid text has no surrogate
	}
	var text strings.Builder
	for _, r := range c {
		fmt.Fprintf(&text, `\x{%x}-\x{%x}`, r[0], r[1])
	}
	return text.String()
}

// literal returns the ranges as in a character class, for the backtracking engine. It writes the
// characters themselves, because this engine has no escape that can represent all of them.
func (c characters) literal() string {
	var text strings.Builder
	for _, r := range c {
		for i, char := range r {
			if i > 0 {
				text.WriteByte('-')
			}
			if char < 0x80 {
				fmt.Fprintf(&text, `\x%02x`, char)
			} else {
				text.WriteRune(char)
			}
		}
	}
	return text.String()
}
