package claat

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// read returns the metadata in a file's header and the titles of its steps.
func read(file string) string {
	t, err := Parse([]byte(file), Options{Name: "my-lab.md", Still: always})
	if err != nil {
		return "error: " + err.Error()
	}
	s := fmt.Sprintf("%s|%s|%s|%s %s|", t.ID, t.Summary, t.Author, t.TitleFrom, t.Title)
	for _, st := range t.Steps {
		s += " " + st.Title
	}
	return s
}

func TestHeaders(t *testing.T) {
	const rest = "\n# T\n\n## One\n\nx\n"
	for file, want := range map[string]string{
		"---\nid: case\nsummary: S\nauthors: A\n---\n" + rest:                                          "case|S|A|h1 T| One",
		"---  \nid: 'case'\nsummary: \"a: b\"\nauthors: [Ann, \"B, C\"]\n...\n" + rest:                 "case|a: b|Ann, B, C|h1 T| One",
		"---\nid: case\nauthors:\n  - Ann\n  - Bob\ndescription: >\n  two\n  lines\n---\n" + rest:      "case|two lines|Ann, Bob|h1 T| One",
		"---\n# a comment\n\n## another\nid: case\n---\n" + rest:                                       "case|||h1 T| One",
		"---\nid: case\nsummary: What it is: a test\n---\n" + rest:                                     "case|What it is: a test||h1 T| One",
		"---\nID: 12\ntags: {a: [b]}\nsummary: ~\n---\n" + rest:                                        "12|||h1 T| One",
		"---\nid: &a case\nsummary: *a\n---\n" + rest:                                                  "case|case||h1 T| One",
		"+++\nid = \"case\"\nsummary = 'S'\nauthors = ['A', 'B']\n[params]\nx = 1\n+++\n" + rest:       "case|S|A, B|h1 T| One",
		"id: case\nsummary: \"S\"\n---\n" + rest:                                                       "case|S||h1 T| One",
		"id: case\nsummary: S\n" + rest:                                                                "case|S||h1 T| One",
		"---\nid: case\ntitle: The header's\n---\n\n## One\n\n# not\n\n## Two\n":                       "case|||header The header's| One Two",
		"---\nid: case\ntitle: The header's\n---\n" + rest:                                             "case|||h1 T| One",
		"id: case\ntitle: H\n\n## One\n":                                                               "case|||header H| One",
		"id: case\n\n## One\n":                                                                         "case|||name my-lab| One",
		"---\nid: case\n---\n## One\n":                                                                 "case|||name my-lab| One",
		"id: case\n\n#Title\n\n## One\n#hash\n":                                                        "case|||h1 Title| One",
		"id: case\n#Title\n##One\ntext\n\n##Two\n```\n##no\n```\n":                                     "case|||h1 Title| One Two",
		"id: case\n\n# T\n\n## One\n\n##notastep\n":                                                    "case|||h1 T| One",
		"id: case\r# T\r## One\rx":                                                                     "case|||h1 T| One",
		"\ufeffid: case\r\n\r\n# T\r\n## One":                                                          "case|||h1 T| One",
		utf16le("id: case\n# Tü\n## One\n"):                                                            "case|||h1 Tü| One",
		"\xfe\xff\x00i\x00d\x00:\x00x\x00\n\x00#\x00 \x00T\x00\n\x00#\x00#\x00 \x00S":                  "x|||h1 T| S",
		"---\n\nid: case\n\n# T\n\n## One\n":                                                           "case|||h1 T| One",
		"id: case\n\n# Save &amp; exit\n\n## Q&amp;A\n\n## &copy; &#128640;\n\n## `a &amp; b` \\& c\n": "case|||h1 Save & exit| Q&A © 🚀 a &amp; b & c",
		"id: case\n\n# 1\\. T \\[x\\]\n\n## C\\# **a\\*b**\n\n## <https://x.org> &notanentity;\n":      "case|||h1 1. T [x]| C# a*b https://x.org &notanentity;",
	} {
		if got := read(file); got != want {
			t.Errorf("%q\ngot  %s\nwant %s", file, got, want)
		}
	}
}

func utf16le(text string) string {
	out := "\xff\xfe"
	for _, r := range text {
		out += string([]byte{byte(r), byte(r >> 8)})
	}
	return out
}

func TestErrorsStateWhereTheMistakeIs(t *testing.T) {
	for file, want := range map[string]string{
		"---\nsummary: a: b\n---\n# T\n## S\n":                   "line 2, column 11: the header is not YAML: mapping values",
		"---\ntags: [\nx\n---\n# T\n## S\n":                      "the header is not YAML",
		"---\n- id\n---\n# T\n## S\n":                            "line 2, column 1: the header has no keys",
		"+++\nid = \"x\"\n y y\n+++\n# T\n## S\n":                "line 3, column ",
		"id: x\n# T\n## S\nab\xff\n":                             "line 4, column 3: the file is not valid UTF-8",
		"id: x\n# T\n\n##\ntext\n":                               "line 4, column 1: the title of step 1 is empty",
		"# T\n## S\n":                                            "line 1, column 1: the metadata has no id",
		"id: x\n# T\ntext\n":                                     "line 3, column 1: there is no step",
		"%PDF-1.7\n1 0 obj":                                      "this file is neither Markdown nor a ZIP file",
		"\x89PNG\r\n\x1a\n":                                      "this file is neither Markdown nor a ZIP file",
		"id: x\n# T\n## S\n" + strings.Repeat("x", 600) + "\x00": "this file is neither Markdown nor a ZIP file",
		"\xff\xfei\x00d":                                         "this file is neither Markdown nor a ZIP file",
	} {
		if got := read(file); !strings.HasPrefix(got, "error: ") || !strings.Contains(got, want) {
			t.Errorf("%.40q\ngot  %s\nwant %s", file, got, want)
		}
	}
}

// Google Docs writes its pictures after the last step, and each has several hundred kilobytes. In
// an earlier version, the data of a picture was copied into every step that shows it.
func TestEmbeddedPicturesAreReplaced(t *testing.T) {
	const data = "data:image/png;base64,AAAA"
	var extracted []string
	picture := func(data string) (string, error) {
		extracted = append(extracted, data)
		return "/p", nil
	}
	file := "id: x\n\n# T\n\n## One\n\n![][image1] ![b](" + data + "B) <img src=\"" + data + "C\">\n`![](" + data + ")`\n\n## Two\n\n![][image2]\n\n[image1]: <" + data + ">\n[image2]: <" + data + "D>\n\n[unused]: <" + data + "E>\n"
	got, err := Parse([]byte(file), Options{Still: always, Picture: picture})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"![][image1] ![b](/p) <img src=\"/p\">\n`![](" + data + ")`\n\n[image1]: /p\n", "![][image2]\n\n[image2]: /p\n\n[unused]: /p\n"}
	for i, w := range want {
		if got.Steps[i].Markdown != w {
			t.Errorf("step %d is\n%q\nwant\n%q", i+1, got.Steps[i].Markdown, w)
		}
	}
	if all := strings.Join(extracted, " "); all != data+"B "+data+"C "+data+" "+data+"D "+data+"E" {
		t.Errorf("Picture was called with %q, want the data of each picture once", extracted)
	}
	broken := errors.New("broken")
	if _, err := Parse([]byte(file), Options{Still: always, Picture: func(string) (string, error) { return "", broken }}); !errors.Is(err, broken) {
		t.Errorf("Picture failed, but Parse returned %v, want the error of Picture", err)
	}
}

// Of two keys with one meaning, always the same one counts.
func TestATOMLHeaderIsReadInOneOrder(t *testing.T) {
	for range 50 {
		h := &header{}
		if err := h.toml([]byte("summary = 'two'\ndescription = 'one'\nauthors = 'B'\nauthor = 'A'\n")); err != nil {
			t.Fatal(err)
		}
		if h.summary != "one" || h.author != "A" {
			t.Fatalf("the header is %q by %q", h.summary, h.author)
		}
	}
}
