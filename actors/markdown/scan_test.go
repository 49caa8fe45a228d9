package markdown

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"
)

// scanned returns the levels and the first lines of the top-level headings that the scanner finds.
func scanned(source []byte) (out []string) {
	s := New(source)
	start := 0
	for l, more := s.Next(); more; l, more = s.Next() {
		at := l.Start
		switch l.Kind {
		case Paragraph:
			if l.First {
				start = l.Start
			}
			continue
		case Underline:
			at = start
		case Heading:
		default:
			continue
		}
		first, _, _ := bytes.Cut(source[at:], []byte("\n"))
		out = append(out, strings.Repeat("#", l.Level)+"|"+strings.Trim(string(first), " \t"))
	}
	return out
}

// reference returns the same, found by a full Markdown parser.
func reference(source []byte) (out []string) {
	doc := goldmark.DefaultParser().Parse(text.NewReader(source))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			continue
		}
		at := h.Pos()
		if h.Lines().Len() > 0 {
			at = h.Lines().At(0).Start
		}
		start := bytes.LastIndexByte(source[:at], '\n') + 1
		first, _, _ := bytes.Cut(source[start:], []byte("\n"))
		out = append(out, strings.Repeat("#", h.Level)+"|"+strings.Trim(string(first), " \t"))
	}
	return out
}

// For any lines, the scanner finds the same headings as a full parser.
func TestTheScannerFindsTheHeadingsOfAFullParser(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"# a", "## b", "text", "===", "---", "- item", "  - inner", "* * *", "1. one", "2) two", "> quote", "> # in it", ">", "```", "~~~", "````go",
		"    code", "   ", "", "<!-- a", "-->", "<div>", "</div>", "<b>", "<pre>", "</pre>", "[a]: /b\n", "[a]: /b \"t\"\n", "[a]: <b c> x", "\ttab", "-", "#", "##x",
		"- ```", "  # under an item", "    # under a number", "> - both", "-   ## far", "-     code", "<?php", "?>", "<!DOCTYPE a>", "Setext",
	})
	rapid.Check(t, func(t *rapid.T) {
		source := []byte(strings.Join(rapid.SliceOfN(piece, 1, 10).Draw(t, "lines"), "\n") + "\n")
		if got, want := scanned(source), reference(source); !slices.Equal(got, want) {
			t.Fatalf("the headings of\n%s\ngot  %q\nwant %q", source, got, want)
		}
	})
}

// A text of twice the length takes at most about twice the steps, whatever it repeats.
func TestScanningTakesLinearTime(t *testing.T) {
	looked := func(source string) int {
		s := New([]byte(source))
		for _, more := s.Next(); more; _, more = s.Next() {
			if len(s.stack) > maxNesting {
				t.Fatalf("%.20q: %d containers are open", source, len(s.stack))
			}
		}
		return s.steps
	}
	for _, part := range []string{
		"[a](", "[", "[a]: b (x\n", "[a]:\n", "[a]: b\n'x\n", ">", "> ", "- ", "-\n", "1. ", "\n", "    ", "\t", "`", "```\n", "~~~", "#", "# \n", "a\n===\n", "<", "<!--", "<!--\n",
		"<a b='", "<div>\n", "</aside>\n", "***", "* ", "> a\nb\n", "Positive\n", "Positive\n\n: ", "> aside positive\n", "![](https://youtu.be/", "\\", "]",
	} {
		short, long := looked(strings.Repeat(part, 5000)), looked(strings.Repeat(part, 10_000))
		if long > 2*short+short/4+100 {
			t.Errorf("%q: 5,000 repetitions take %d steps, 10,000 take %d", part, short, long)
		}
		if size := 5000 * len(part); short > 3*(maxNesting+2)*size {
			t.Errorf("%q: %d bytes take %d steps", part, size, short)
		}
	}
	// The text is nested deeply, and each of the following blank lines continues all levels.
	deep := func(n int) string { return strings.Repeat("- ", n) + "a\n" + strings.Repeat("\n", n) }
	if short, long := looked(deep(5000)), looked(deep(10_000)); long > 2*short+short/4 {
		t.Errorf("a nested text takes %d steps, one of twice the depth %d", short, long)
	}
}
