package claat

import (
	"slices"
	"testing"
)

func TestFramesAndButtonsBecomeLinks(t *testing.T) {
	const player = `<a href="https://www.youtube.com/watch?v=abcdefghijk"><img src="https://img.youtube.com/vi/abcdefghijk/hqdefault.jpg" alt="Video"></a>`
	for in, want := range map[string]struct {
		text string
		lost []string
	}{
		"![https://codepen.io/team/embed/abc](https://example.org/shot.png \"Try it\")":              {"[![Try it](https://example.org/shot.png \"Try it\")](https://codepen.io/team/embed/abc)\n", nil},
		"![https://codepen.io/x](shot.png)":                                                          {"[![https://codepen.io/x](shot.png)](https://codepen.io/x)\n", nil},
		"[![https://codepen.io/x](shot.png)](/y)":                                                    {"[![https://codepen.io/x](shot.png)](/y)\n", nil},
		`<iframe src="https://www.youtube.com/embed/abcdefghijk"></iframe>`:                          {player + "\n", nil},
		`<div><iframe title="A & b" width=3 src='https://example.org/x?a=1&amp;b=2'></iframe></div>`: {`<div><a class="embed" width="3" href="https://example.org/x?a=1&amp;b=2">A &amp; b</a></div>` + "\n", nil},
		`<iframe src="http://example.org/x" height="9"></iframe>`:                                    {`<a href="http://example.org/x">example.org</a>` + "\n", nil},
		`<iframe src="https://example.org/x" width="100%" height="9"></iframe>`:                      {`<a class="embed" height="9" href="https://example.org/x">example.org</a>` + "\n", nil},
		`<iframe src="javascript:alert(1)"></iframe>`:                                                {"<iframe src=\"javascript:alert(1)\"></iframe>\n", []string{"step 1: <iframe> is not shown"}},
		`<iframe srcdoc="x"></iframe>`:                                                               {"<iframe srcdoc=\"x\"></iframe>\n", []string{"step 1: <iframe> is not shown"}},
		`<video src="https://example.org/a.mp4" controls></video>`:                                   {`<a href="https://example.org/a.mp4">example.org</a>` + "\n", nil},
		"<video controls>\n<source src='https://example.org/a.mp4'>\n</video>":                       {`<a href="https://example.org/a.mp4">example.org</a>` + "\n", nil},
		`<video src="a.mp4" controls></video>`:                                                       {"<video src=\"a.mp4\" controls></video>\n", nil},
		"<button>\n  [Download](https://example.org/a.zip)\n</button>":                               {"[Download](https://example.org/a.zip)\n", nil},
		"{{< figure src=\"a.png\" >}} and {% include x.html %} `{{< code >}}`":                       {"{{< figure src=\"a.png\" >}} and {% include x.html %} `{{< code >}}`\n", []string{"step 1: {{< figure belongs to another program and is kept unchanged", "step 1: {% include belongs to another program and is kept unchanged"}},
		"<button>Press</button>":                                                                     {"<button>Press</button>\n", []string{"step 1: <button> is not shown"}},
		"```\n<iframe src=\"https://example.org\"></iframe>\n![https://a.b](c.png)\n```":             {"```\n<iframe src=\"https://example.org\"></iframe>\n![https://a.b](c.png)\n```\n", nil},
	} {
		got, err := Parse([]byte("id: x\n# T\n## S\n\n"+in+"\n"), Options{Still: always})
		if err != nil || got.Steps[0].Markdown != want.text || !slices.Equal(got.Lost, want.lost) {
			t.Errorf("%q: %v, lost %q\ngot  %q\nwant %q", in, err, got.Lost, got.Steps[0].Markdown, want.text)
		}
	}
}
