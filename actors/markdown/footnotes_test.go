package markdown

import (
	"fmt"
	"slices"
	"testing"
)

func TestFootnotes(t *testing.T) {
	for text, want := range map[string][]string{
		"a[^1]\n\n[^1]: word\n":                            {"^1: [^1]: word"},
		"[^A b]: x\n[^]: x\n[^c]:\n\n[^d]:\nlate\n":        {"^d: [^d]:\nlate"},
		"[^1]: two words\n[^2]: x\nmore\n# H\n[^3]: z":     {"^1: [^1]: two words", "^2: [^2]: x\nmore", "^3: [^3]: z"},
		"text\n[^1]: in a paragraph\n[d]: /x\n":            {"^1: [^1]: in a paragraph"},
		"[^1]: a\n\n    b\n\n    ```\n    c\n    ```\n\nd": {"^1: [^1]: a\n\n    b\n\n    ```\n    c\n    ```"},
		"[^1]: a\n\n    b\nlazy\n\nc":                      {"^1: [^1]: a\n\n    b\nlazy"},
		"```\n[^1]: code\n```\n    [^2]: code\n":           nil,
		"[^1]: a\n- b\n":                                   {"^1: [^1]: a"},
		"[^1] no\n[1]: no\n":                               nil,
		// A label of a link cannot be like the first.
		"[^a\\]: x\n[^a\\]: y\n[^c]: z\n": {"^a\\: [^a\\]: x", "^a\\: [^a\\]: y", "^c: [^c]: z"},
	} {
		var got []string
		for _, d := range Footnotes([]byte(text)) {
			if d.Text[len(d.Text)-1] != '\n' || text[d.Start:d.Start+2] != "[^" {
				t.Errorf("footnotes of %q: %+v", text, d)
			}
			got = append(got, fmt.Sprint(d.Label, ": ", d.Text[:len(d.Text)-1]))
		}
		if !slices.Equal(got, want) {
			t.Errorf("footnotes of %q\ngot  %q\nwant %q", text, got, want)
		}
	}
}
