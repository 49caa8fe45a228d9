package claat

import (
	"slices"
	"strings"
	"testing"
)

func TestASurveyIsShownAsTextAndNamed(t *testing.T) {
	const form = "<form>\n<name>How will you *use* it?</name>\n<input value=\"Only read\">\n<input value=\"Read & do\">\n\n<name>Again?</name>\n<input value=\"Yes\">\n</form>\n"
	const want = "**How will you \\*use\\* it?**\n\n- Only read\n- Read \\& do\n\n**Again?**\n\n- Yes\n"
	const named = "step 1: a survey is shown as text, which nobody answers"
	got, err := Parse([]byte("id: x\n# T\n## S\nBefore.\n\n"+form+"\nAfter.\n\n"+form), nil, always)
	if err != nil {
		t.Fatal(err)
	}
	if text := got.Steps[0].Markdown; strings.Count(text, want) != 2 || strings.Contains(text, "<") || !strings.Contains(text, "Before.\n") || !strings.Contains(text, "After.\n") {
		t.Errorf("the step is %q", text)
	}
	if !slices.Equal(got.Lost, []string{named}) {
		t.Errorf("lost are %q", got.Lost)
	}
}

func TestWhatIsNotShownIsNamed(t *testing.T) {
	for in, want := range map[string]string{
		"<iframe src=x></iframe>":                  "step 1: <iframe> is not shown",
		"<div>\n<script>a</script></div>":          "step 1: <script> is not shown",
		"<form>\nnever ends":                       "step 1: <form> is not shown",
		"```html\n<iframe>\n```":                   "",
		"<aside class=\"positive\">a</aside>":      "",
		"<details><summary>a</summary>b</details>": "",
	} {
		got, err := Parse([]byte("id: x\n# T\n## S\n"+in+"\n"), nil, always)
		if lost := strings.Join(got.Lost, ", "); err != nil || lost != want {
			t.Errorf("%q: lost are %q, %v", in, lost, err)
		}
	}
	got, err := Parse([]byte("id: x\nfeedback link: https://example.org\ntags: a\n# T\n## S\n"), nil, always)
	if err != nil || !slices.Equal(got.Lost, []string{`the metadata "feedback link"`}) {
		t.Errorf("lost are %q, %v", got.Lost, err)
	}
}
