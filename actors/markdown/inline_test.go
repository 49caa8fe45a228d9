package markdown

import (
	"bytes"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

var gfm = goldmark.New(goldmark.WithExtensions(extension.Strikethrough))

// judged returns the text of a paragraph as another parser reads it.
func judged(source string) string {
	var page bytes.Buffer
	if err := gfm.Convert([]byte(source), &page); err != nil {
		return err.Error()
	}
	var b strings.Builder
	for t := html.NewTokenizer(&page); ; {
		switch t.Next() {
		case html.ErrorToken:
			return spaced(b.String())
		case html.TextToken:
			b.Write(t.Text())
		case html.StartTagToken, html.SelfClosingTagToken:
			for _, a := range t.Token().Attr {
				if a.Key == "alt" {
					// The reference parser writes a line break in the text of an image as an element.
					b.WriteString(strings.ReplaceAll(a.Val, "<br>", " "))
				}
			}
		}
	}
}

// inlinePieces are parts of inline markup. None of them begins another block.
var inlinePieces = rapid.SampledFrom([]string{
	"a", "b", " ", "\ny ", "1", ".", ")", "é", "«", "€", "*", "**", "***", "_", "__", "*a*", "**b**", "_a_", "`", "``", "`c`", "\\*", "\\", "&amp;", "&", ";", "&#42;",
	"[", "]", "![", "](u)", "](u \"t\")", "](<u v>)", "[r]", "[R][]", "[x][r]", "[no]", "<b>", "</b>", "<b c=\"d>\">", "<https://a.b/>", "<me@a.b>", "<", ">", "<!-- c -->", " ~~d~~ ",
})

// The reader must agree with a full parser, whose time is not proportional to the length of the
// text.
func TestInlineTextEqualsTheReferenceParsers(t *testing.T) {
	labels := map[string]bool{Normal([]byte("r")): true}
	rapid.Check(t, func(t *rapid.T) {
		written := "x " + strings.TrimSpace(strings.Join(rapid.SliceOfN(inlinePieces, 1, 12).Draw(t, "pieces"), ""))
		if strings.Contains(written, "![") && (strings.Contains(written, "<h") || strings.Contains(written, "<me") || strings.Contains(written, "\\\n")) {
			t.Skip("the reference parser has no addresses and line ends in the text of images")
		}
		if got, want := inlineText(written, labels), judged("[ ] "+written+"\n\n[r]: /u\n"); "[ ] "+got != want {
			t.Fatalf("the text of %q\nis %q, but the reference parser has\n%q", written, got, strings.TrimPrefix(want, "[ ] "))
		}
	})
}

// On hostile text the reader stops early: the number of bytes read without a result is proportional
// to the length.
func TestHostileTextIsReadInLinearTime(t *testing.T) {
	labels := map[string]bool{"r": true}
	for _, part := range []string{"[", "![", "[a](", "[a](<", "[a](b \"", "<a b=\"", "<a b", "<!--", "<a", "[a][", "]", "[]", "[a]", "*", "*a ", "_a*", "~a", "`", "` ``", "&", "&amp", "\\", "<a@"} {
		r := &inlineReader{text: []byte(strings.Repeat(part, maxTask/len(part))), labels: labels}
		r.read()
		if most := (vainTimes+2)*len(r.text) + vainBytes + MaxLabel; r.wasted > most {
			t.Errorf("%q: %d bytes were read without a result, want at most %d", part, r.wasted, most)
		}
	}
}
