package markdown

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// found returns the addresses of a text as written, with " -> " and the URL if the two differ.
// Displayed ones have a ! before them.
func found(text string) (out []string) {
	all, _ := Addresses(text)
	for _, a := range all {
		s := text[a.Start:a.End]
		if a.URL != s {
			s += " -> " + a.URL
		}
		if a.Shows {
			s = "!" + s
		}
		out = append(out, s)
	}
	return out
}

func TestAddresses(t *testing.T) {
	for text, want := range map[string][]string{
		"[^1]: a.pdf\n[^2]: [a](b.pdf)\n[d]: c.pdf\n[^3]: ![](d.png)":                      {"b.pdf", "c.pdf", "!d.png"},
		"![a](a.png) [b](b.csv \"t\")":                                                     {"!a.png", "b.csv"},
		"![a](<my pic.png>)":                                                               {"!<my pic.png> -> my pic.png"},
		"![a](<>) ![]() [a](<b)c>)":                                                        {"<b)c> -> b)c"},
		"![a](a(1).png) ![a](a\\).png 't')":                                                {"!a(1).png", "!a\\).png -> a).png"},
		"![a](my\\_pic.png) ![](a&amp;b.png)":                                              {"!my\\_pic.png -> my_pic.png", "!a&amp;b.png -> a&b.png"},
		"![a](\n  a.png\n  (title)\n)":                                                     {"!a.png"},
		"![a](a b.png) ![a](a.png \"x) [a](b(.png)":                                        nil,
		"\\![a](a.png) ![a\\](b.png) \\[c](d)":                                             {"a.png", "!d"},
		"[![a](a.png)](a.pdf) [x [y](y.csv) z](z.csv)":                                     {"!a.png", "a.pdf", "y.csv"},
		"![a [b](b.csv)](a.png)":                                                           {"b.csv", "!a.png"},
		"![a][Pic  1]\n\n[pic 1]: <a b.png> \"t\"\n":                                       {"!<a b.png> -> a b.png"},
		"![pic][] ![p2]\n\n[pic]: a.png\n[p2]:\n  b.png":                                   {"!a.png", "!b.png"},
		"[d]: data.csv\n[e]: /e.csv 'x'\n[f]: f.csv\n 'g":                                  {"data.csv", "/e.csv", "f.csv"},
		"`![a](a.png)` ``[b](`b)`` ` [c](c.csv)":                                           {"c.csv"},
		"```md\n![a](a.png)\n[x]: y.png\n```\n    ![](b.png)\n":                            nil,
		"~~~\n<img src=a.png>\n~~~\n\n- ```\n  ![](a.png)\n  ```\n":                        nil,
		"> - ![a](a.png)\n>   ![b](b.png)\n![c](c.png)":                                    {"!a.png", "!b.png", "!c.png"},
		"# ![a](a.png) #\n\n![b](b.png)\n===\n":                                            {"!a.png", "!b.png"},
		"| a | b |\n|---|---|\n| ![a](a.png) | [b](b.csv) |":                               {"!a.png", "b.csv"},
		"<img src='a b.png'> <IMG SRC=b.png width=3>":                                      {"!a b.png", "!b.png"},
		"text <Img alt=\"x>y\"\nsrc = \" c.png \" />":                                      {"!c.png"},
		"<p><a href=\"a.pdf\"><img src=\"x&amp;y.png\"></a>\n</p>":                         {"a.pdf", "!x&amp;y.png -> x&y.png"},
		"<img srcset=\"a.png, b.png 2x,c.png 640w\" src=d.png>":                            {"!a.png", "!b.png", "!c.png", "!d.png"},
		"<picture><source srcset='w.webp 1x'><img src=p.png>":                              {"!w.webp", "!p.png"},
		"<video src=a.mp4 poster=p.png></video>":                                           {"!a.mp4", "!p.png"},
		"<!-- <img src=a.png> ![b](b.png) -->\n\nx <!-- ![c](c.png) --> ![d](d.png)":       {"!d.png"},
		"<script>\n'<img src=a.png>'\n</script>\n\n<textarea><img src=b.png></textarea>\n": nil,
		"<https://x.org/](y.png)> <a@b.org> <a:b](c.png)>":                                 nil,
		"<span title='](x.png)'>![a](a.png)</span>":                                        {"!a.png"},
		"<img data-src=a.png src=b.png src=c.png><b src=d.png>":                            {"!b.png"},
		"<a title=\"x\" name=y href=z.csv>w</a> <a b='c\" href=d.csv>":                     {"z.csv"},
		"![a](data:image/png;base64,AA==) [m](mailto:a@b.org)":                             {"!data:image/png;base64,AA==", "mailto:a@b.org"},
		"[a]: b.png\nnot \"one\n\n![a]":                                                    {"!b.png"},
		"```notes\n![a](a.png)\n```\n![b](b.png)\n~~~ Notes x\n```\n[c](c)\n```\n[d](d)":   {"!a.png", "!b.png", "d"},
		"- ```notes\n  ![a](a.png)\n![b](b.png)":                                           {"!a.png", "!b.png"},
		"<div>\n\n![a](a.png)\n\n</div>\n![b](b.png)\n":                                    {"!a.png"},
	} {
		if got := found(text); !slices.Equal(got, want) {
			t.Errorf("%q\ngot  %q\nwant %q", text, got, want)
		}
	}
}

func TestCodeHasNoAddresses(t *testing.T) {
	const text = "a `b` c\n```\nd\n```\n`e\nf` g\n\n    h\n"
	_, code := Addresses(text)
	var got []string
	for _, c := range code {
		got = append(got, text[c.Start:c.End])
	}
	if want := []string{"`b`", "```\n", "d\n", "```\n", "`e", "f`", "    h\n"}; !slices.Equal(got, want) {
		t.Errorf("the code is %q, want %q", got, want)
	}
}

// Text with many possible beginnings of addresses is not read again for each of them.
func TestAddressesTakeLinearTime(t *testing.T) {
	for _, part := range []string{
		"[", "![", "](", "[](", "[a](", "[a](b \"", "[a](b 'x [a](b \"x [a](b (", "[a](<", "[a]: ", "[a]: /x\n", "[a]: b '\n", "[a]:\n", "`", "`a``b",
		"<a ", "<a b=\"", "<a b='<a b=\"", "<a b=\" <a b=\" b=\" ", "<!--", "<a:", "\\", "<img src=", "<img srcset=\"a, ", "> [a](", "- [a](b '\n", "<a\n",
	} {
		for _, text := range []string{strings.Repeat(part, 20_000/len(part)), "x " + strings.Repeat(part, 20_000/len(part)), "<p>" + strings.Repeat(part, 20_000/len(part))} {
			f := finder(text, true)
			if most := 40*len(text) + 10*vainBytes; f.steps > most {
				t.Errorf("%q: %d bytes take %d steps", part, len(text), f.steps)
			}
		}
	}
}

// In any text, the found addresses are in order, without overlaps and outside of code.
func TestAddressesAreInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{
			"[", "]", "(", ")", "!", "<", ">", "\"", "'", " ", "\n", "> ", "- ", "`", "```\n", "\\", "a", "b.png", "&amp;", "[x]: y\n", "<img src=", "srcset='", "<a href=\"", "<!--", "-->", "\r\n", "\t", "é",
		}), 0, 40).Draw(t, "parts")
		text := strings.Join(parts, "")
		found, code := Addresses(text)
		at := 0
		for _, a := range found {
			if a.Start < at || a.End <= a.Start || a.End > len(text) || a.URL == "" {
				t.Fatalf("%q: address %v overlaps the one that ends at %d, or is empty", text, a, at)
			}
			at = a.End
			for _, c := range code {
				if a.Start < c.End && c.Start < a.End {
					t.Fatalf("%q: address %v is in code %v", text, a, c)
				}
			}
		}
	})
}

func BenchmarkAddresses(b *testing.B) {
	for _, part := range []string{"text ![a](a.png) and `code` <b>x</b>\n\n", "[a](", "<a b=\""} {
		text := strings.Repeat(part, 100_000/len(part))
		b.Run(fmt.Sprintf("%.6q", part), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Addresses(text)
			}
		})
	}
}
