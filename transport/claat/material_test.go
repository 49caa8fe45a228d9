package claat

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// steps returns the steps of a text under a header.
func steps(t *testing.T, text string) []Step {
	t.Helper()
	got, err := Parse([]byte("id: x\n# T\n"+text), Options{Still: always})
	if err != nil {
		t.Fatal(err)
	}
	return got.Steps
}

// A third of the published codelabs define their links at the end of the file. In an earlier
// version, only the last step kept the definitions when the file was split into steps.
func TestStepsContainTheLinkDefinitionsThatTheyUse(t *testing.T) {
	got := steps(t, `## See [the docs][d]
Read [this][d] and ![a picture][Pic  1] and [mine], [again][d].

[mine]: /local

## Other
Nothing, and [no such].

## Third
[d] only, [multi] and [late].

[D]: https://example.com/d "Docs"
[pic 1]: <img/a b.png>
[unused]: /u
[multi]:
https://example.com/m
'Over
[late]: /l
  "A title"
`)
	want := []Step{
		{"See the docs", 0, "Read [this][d] and ![a picture][Pic  1] and [mine], [again][d].\n\n[mine]: /local\n\n[D]: https://example.com/d \"Docs\"\n[pic 1]: <img/a b.png>\n"},
		{"Other", 0, "Nothing, and [no such].\n"},
	}
	for i, w := range want {
		if got[i] != w {
			t.Errorf("step %d is\n%+v\nwant\n%+v", i+1, got[i], w)
		}
	}
	if s := got[2].Markdown; strings.Count(s, "/d \"Docs\"") != 1 {
		t.Errorf("the definition is not in the last step exactly once: %s", s)
	}
	// Text in a paragraph or a code block does not define a link.
	got = steps(t, "## A\n[x]\n\n## B\ntext\n[x]: /no\n\n```\n[x]: /neither\n```\n")
	if got[0].Markdown != "[x]\n" {
		t.Errorf("the step is %q", got[0].Markdown)
	}
	got = steps(t, "## A\n[x] [y]\n\n## B\n[x]:\nhttps://a/b\n[y]: /l\n  'title'\n")
	if want := "[x] [y]\n\n[x]: https://a/b\n[y]: /l 'title'\n"; got[0].Markdown != want {
		t.Errorf("the step is %q, want %q", got[0].Markdown, want)
	}
}

func TestTextAroundABoxIsKept(t *testing.T) {
	for in, want := range map[string]string{
		"> aside positive\n> text\n```go\ncode\n```\n":                            "<aside class=\"positive\">\n\ntext\n\n</aside>\n\n```go\ncode\n```\n",
		"<aside class=\"negative\">\n\ntext\n\n</aside>\n```\n## code\n```\n":     "<aside class=\"negative\">\n\ntext\n\n</aside>\n\n```\n## code\n```\n",
		"<aside class=\"negative\">\ntext\n</aside>\n* item\n":                    "<aside class=\"negative\">\ntext\n</aside>\n\n* item\n",
		"> aside positive\n> ```\n> quoted\n> ```\nbehind\n":                      "<aside class=\"positive\">\n\n```\nquoted\n```\n\n</aside>\n\nbehind\n",
		"Positive\n: a\n```\ncode\n```\n":                                         "<aside class=\"positive\">\n\na\n\n</aside>\n\n```\ncode\n```\n",
		"```\n> aside positive\n> code\n```\n":                                    "```\n> aside positive\n> code\n```\n",
		"> just a quote\nPositive\n":                                              "> just a quote\nPositive\n",
		"<!-- a comment -->\nDuration: 0:04:00\n\ntext\n":                         "<!-- a comment -->\n\ntext\n",
		"<!-- a\n\ncomment -->\n<!-- two -->\n\nDuration: 4\nEnvironment: web\nx": "<!-- a\n\ncomment -->\n\n<!-- two -->\n\nx\n",
	} {
		got := steps(t, "## S\n"+in)[0]
		if got.Markdown != want {
			t.Errorf("%q\ngot  %q\nwant %q", in, got.Markdown, want)
		}
		if strings.Contains(in, "Duration") && got.Duration != 4*time.Minute {
			t.Errorf("%q: the duration is %v", in, got.Duration)
		}
	}
}

func TestVideosBecomeLinkedPictures(t *testing.T) {
	const picture, page = "https://img.youtube.com/vi/dQw4w9WgXcQ/hqdefault.jpg", "https://www.youtube.com/watch?v=dQw4w9WgXcQ"
	plain := "[![Video](" + picture + ")](" + page + ")"
	for in, want := range map[string]string{
		"![](https://www.youtube.com/watch?v=dQw4w9WgXcQ)":                         plain,
		"![](https://youtu.be/dQw4w9WgXcQ?t=3)":                                    plain,
		"![](https://www.youtube.com/watch?app=x&v=dQw4w9WgXcQ&t=1 \"title\")":     plain,
		"![ ](https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ)":                 plain,
		`<video id="dQw4w9WgXcQ"></video>`:                                         plain,
		"a ![How to](http://youtube.com/watch?v=dQw4w9WgXcQ) b ![x](y.png)":        "a [![How to](" + picture + ")](" + page + ") b ![x](y.png)",
		"[![x](https://youtu.be/dQw4w9WgXcQ)](/a)":                                 "[![x](" + picture + ")](/a)",
		"[a link](https://youtu.be/dQw4w9WgXcQ)":                                   "[a link](https://youtu.be/dQw4w9WgXcQ)",
		"`![](https://youtu.be/dQw4w9WgXcQ)`":                                      "`![](https://youtu.be/dQw4w9WgXcQ)`",
		"```\n![](https://youtu.be/dQw4w9WgXcQ)\n```":                              "```\n![](https://youtu.be/dQw4w9WgXcQ)\n```",
		"![](https://youtube.com.evil.example/watch?v=dQw4w9WgXcQ)":                "![](https://youtube.com.evil.example/watch?v=dQw4w9WgXcQ)",
		"> aside positive\n> ![](https://youtu.be/dQw4w9WgXcQ)":                    "<aside class=\"positive\">\n\n" + plain + "\n\n</aside>",
		"![](https://www.youtube.com/watch?v=<script>)":                            "![](https://www.youtube.com/watch?v=<script>)",
		"\\![](https://youtu.be/dQw4w9WgXcQ) and ![](https://youtu.be/dQw4w9WgXcQ": "\\![](https://youtu.be/dQw4w9WgXcQ) and ![](https://youtu.be/dQw4w9WgXcQ",
	} {
		if got := steps(t, "## S\n"+in)[0].Markdown; got != want+"\n" {
			t.Errorf("%q\ngot  %q\nwant %q", in, got, want)
		}
	}
}

func TestTextBeforeTheFirstStepIsReported(t *testing.T) {
	for head, want := range map[string]bool{
		"":                            false,
		"\n[a]: /b\n<!-- c\n\n d -->": false,
		"Some text.\n":                true,
		"```\ncode\n```":              true,
		"- item":                      true,
	} {
		for _, step := range []string{"## One\n", "One\n---\n"} {
			got, err := Parse([]byte("id: x\n# T\n"+head+"\n\n"+step), Options{Still: always})
			if err != nil || (len(got.Lost) == 1) != want {
				t.Errorf("%q before %q: %+v, %v", head, step, got, err)
			}
		}
	}
}

// Files above the limits of a codelab are refused.
func TestHugeFilesAreRefused(t *testing.T) {
	endless := func(name string) ([]byte, error) { return []byte("<<" + name + "1>>\n<<" + name + "2>>\n"), nil }
	for name, tc := range map[string][2]string{
		"too many steps":     {strings.Repeat("## S\n", maxSteps+1), "more than 200 steps"},
		"a step too long":    {"## S\n" + strings.Repeat("é", maxContent+1), "line 4, column 1: step 1 (S) has 100001 characters, more than the limit of 50000; its longest part, a paragraph of 100001 characters, begins here"},
		"a title too long":   {"## " + strings.Repeat("[a](", maxHeading/4), "title of step 1 is too long"},
		"too many fragments": {"## S\n" + strings.Repeat("<<part>>\n", maxFragments+1), "more than 1000 fragments"},
	} {
		include := func(name string) ([]byte, error) { return nil, nil }
		if _, err := Parse([]byte("id: x\n# T\n"+tc[0]), Options{Include: include, Still: always}); err == nil || !strings.Contains(err.Error(), tc[1]) {
			t.Errorf("%s: Parse returned %v", name, err)
		}
	}
	if _, err := Parse([]byte("id: x\n# T\n## S\n<<f>>\n"), Options{Include: endless, Still: always}); err == nil {
		t.Error("endless fragments were included")
	}
	// Link definitions count against the limit of each step that uses them. Otherwise they could
	// multiply the size of the file.
	long := "[a]: /" + strings.Repeat("x", 3*maxContent/4) + "\n"
	var many, uses strings.Builder
	for i := range 2500 {
		if i%1000 == 0 {
			many.WriteString("\n## D\n")
		}
		fmt.Fprintf(&many, "[%d]: /%s\n", i, strings.Repeat("x", 60))
		fmt.Fprintf(&uses, "[%d]", i)
	}
	for _, text := range []string{strings.Repeat("## S\n[a]\n\n", 3) + "## D\n" + long, "## A\n" + uses.String() + "\n## B\n" + uses.String() + many.String()} {
		if _, err := Parse([]byte("id: x\n# T\n"+text), Options{Still: always}); err == nil || !strings.Contains(err.Error(), "of them are link definitions that it uses") {
			t.Errorf("definitions that are too long: %v", err)
		}
	}
	code := "## S\ntext\n\n```\n" + strings.Repeat("code\n", 11_000) + "```\n\nmore\n"
	if _, err := Parse([]byte("id: x\n# T\n"+code), Options{Still: always}); err == nil || !strings.Contains(err.Error(), "line 6, column 1: step 1 (S)") || !strings.Contains(err.Error(), "a code block") {
		t.Errorf("a code block that is too long: %v", err)
	}
}

// When no client waits for the result any more, Still returns an error and parsing stops.
func TestParsingStopsWhenTheCallerHasLeft(t *testing.T) {
	left := errors.New("left")
	asked := 0
	_, err := Parse([]byte("id: x\n# T\n## S\n"+strings.Repeat("\n", 100_000)), Options{Still: func() error {
		if asked++; asked > 3 {
			return left
		}
		return nil
	}})
	if !errors.Is(err, left) || asked != 4 {
		t.Errorf("Parse returned %v after asking %d times whether a client waits", err, asked)
	}
}

// The footnotes at the end of a file often belong to all steps.
func TestStepsContainTheFootnotesThatTheyUse(t *testing.T) {
	got := steps(t, `
## A
One[^1], again[^1].

## B
Two[^Long], own[^own].

[^own]: mine

## C
Nothing.

[^1]: word
[^long]: More words, see[^deep] and [d].

    A second paragraph.
[^deep]: deepest
[^unused]: stays here

[d]: https://example.com/d
`)
	for i, want := range []string{
		"One[^1], again[^1].\n\n[^1]: word\n",
		"Two[^Long], own[^own].\n\n[^own]: mine\n\n[^long]: More words, see[^deep] and [d].\n\n    A second paragraph.\n\n[^deep]: deepest\n\n[d]: https://example.com/d\n",
		"Nothing.\n\n[^deep]: deepest\n[^unused]: stays here\n\n[d]: https://example.com/d\n",
	} {
		if got[i].Markdown != want {
			t.Errorf("step %d is\n%q\nwant\n%q", i+1, got[i].Markdown, want)
		}
	}
}
