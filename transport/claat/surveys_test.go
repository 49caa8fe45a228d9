package claat

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"atelier/actors/codelab"
)

func TestASurveyBecomesPolls(t *testing.T) {
	const form = "<form>\n<name>How will you\n*use* it?</name>\n<input type=\"radio\" value=\"Only read\">\n<input type=\"radio\" value=\"Read & do\">\n\n" +
		"<name>What do you know?</name>\n<input type=\"checkbox\" value=\"Go\">\n<input type=\"checkbox\" value=\"Rust\">\n</form>\n"
	got, err := Parse([]byte("id: x\n# T\n## S\nBefore.\n\n"+form+"\nAfter.\n\n## U\n"+form), Options{Still: always})
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"Before.\n\n\n\nAfter.\n", ""} {
		if st := got.Steps[i]; st.Markdown != text || len(got.Polls) != 4 {
			t.Fatalf("step %d is %q, the polls are %v", i+1, st.Markdown, got.Polls)
		}
		one, two := got.Polls[2*i], got.Polls[2*i+1]
		if id := strconv.Itoa(i + 1); one.StepId != id || two.StepId != id {
			t.Errorf("the polls of step %d belong to the steps %s and %s", i+1, one.StepId, two.StepId)
		}
		if one.Question != "How will you *use* it?" || one.Kind != codelab.PollKind("choice") || !slices.Equal(one.Options, []string{"Only read", "Read & do"}) {
			t.Errorf("step %d: the first poll is %v", i+1, one)
		}
		if two.Kind != codelab.PollKind("several") || !slices.Equal(two.Options, []string{"Go", "Rust"}) {
			t.Errorf("step %d: the second poll is %v", i+1, two)
		}
	}
	if len(got.Lost) > 0 {
		t.Errorf("parts reported as lost: %q", got.Lost)
	}
}

// The text directly after a form is in the same block of HTML.
func TestTextBehindASurveyIsKept(t *testing.T) {
	const form = "<form>\n<name>Ready?</name>\n<input value=\"yes\">\n<input value=\"no\">\n</form>"
	got, err := Parse([]byte("id: x\n# T\n## S\n"+form+"\nNow open the editor.\n\n"+form+" Go on.\n"), Options{Still: always})
	if err != nil {
		t.Fatal(err)
	}
	if text := got.Steps[0].Markdown; len(got.Polls) != 2 || !strings.Contains(text, "\nNow open the editor.\n") || !strings.Contains(text, "\nGo on.\n") {
		t.Errorf("%d polls, the step is %q", len(got.Polls), text)
	}
}

// Each form without questions would search the rest of the step for its end, and each shortcode all
// earlier ones. With quadratic time this test would take a minute.
func TestManyFormsAndShortcodesTakeLinearTime(t *testing.T) {
	var codes strings.Builder
	for i := range 30_000 {
		codes.WriteString("{{< c" + strconv.Itoa(i) + " >}}\n\n")
	}
	shortcodes := ""
	for part := range slices.Chunk(strings.SplitAfter(codes.String(), "\n\n"), 2500) {
		shortcodes += "## S\n" + strings.Join(part, "")
	}
	for name, steps := range map[string]string{
		"forms": strings.Repeat("## S\n"+strings.Repeat("<form>\n\n", 6000)+"</form>\n\n", 40), "shortcodes": shortcodes,
	} {
		got, err := Parse([]byte("id: x\n# T\n"+steps), Options{Still: always})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(got.Lost) == 0 || len(got.Polls) > 0 {
			t.Errorf("%s: %d parts are reported, %d polls", name, len(got.Lost), len(got.Polls))
		}
	}
}

func TestPollsOfSurveysAreBounded(t *testing.T) {
	form := "<form>\n" + strings.Repeat("<name>Q</name>\n<input value=\"a\">\n<input value=\"b\">\n", codelab.Bounds.Polls+1) + "</form>\n"
	got, err := Parse([]byte("id: x\n# T\n## S\n"+form), Options{Still: always})
	if err != nil {
		t.Fatal(err)
	}
	if text := got.Steps[0].Markdown; len(got.Polls) != codelab.Bounds.Polls || strings.Count(text, "**Q**") != 1 || len(got.Lost) != 1 {
		t.Errorf("%d polls, text %q, reported as lost: %q", len(got.Polls), text, got.Lost)
	}
}

func TestASurveyThatCannotBeAPollBecomesText(t *testing.T) {
	const form = "<form>\n<name>How will you *use* it?</name>\n<input value=\"Only & read\">\n\n<name>Again?</name>\n<input value=\"Yes\">\n</form>\n"
	const want = "**How will you \\*use\\* it?**\n\n- Only \\& read\n\n**Again?**\n\n- Yes\n"
	const named = "step 1: a survey that cannot become a poll is shown as text, and cannot be answered"
	got, err := Parse([]byte("id: x\n# T\n## S\nBefore.\n\n"+form+"\nAfter.\n\n"+form), Options{Still: always})
	if err != nil {
		t.Fatal(err)
	}
	if text := got.Steps[0].Markdown; strings.Count(text, want) != 2 || strings.Contains(text, "<") || !strings.Contains(text, "Before.\n") || !strings.Contains(text, "After.\n") {
		t.Errorf("the step is %q", text)
	}
	if !slices.Equal(got.Lost, []string{named}) {
		t.Errorf("parts reported as lost: %q", got.Lost)
	}
}

func TestHiddenElementsAreReported(t *testing.T) {
	for in, want := range map[string]string{
		"<iframe src=x></iframe>":                  "step 1: <iframe> is not shown",
		"<div>\n<script>a</script></div>":          "step 1: <script> is not shown",
		"<form>\nnever ends":                       "step 1: <form> is not shown",
		"```html\n<iframe>\n```":                   "",
		"<aside class=\"positive\">a</aside>":      "",
		"<details><summary>a</summary>b</details>": "",
	} {
		got, err := Parse([]byte("id: x\n# T\n## S\n"+in+"\n"), Options{Still: always})
		if lost := strings.Join(got.Lost, ", "); err != nil || lost != want {
			t.Errorf("%q: reported as lost %q, %v", in, lost, err)
		}
	}
	got, err := Parse([]byte("id: x\nfeedback link: https://example.org\ntags: a\n# T\n## S\n"), Options{Still: always})
	if err != nil || !slices.Equal(got.Lost, []string{`the metadata "feedback link"`}) {
		t.Errorf("reported as lost: %q, %v", got.Lost, err)
	}
}
