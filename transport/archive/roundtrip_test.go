package archive

import (
	"bytes"
	"os"
	"testing"

	"google.golang.org/protobuf/proto"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
)

// kinds is a tutorial with everything that an import treats specially. An import of its export
// must not treat anything specially again.
const kinds = "---\nid: kinds\nauthors: [A, B]\n---\n# All &amp; \\*kinds\\*\n\n## Boxes\nDuration: 1h30\n\n" +
	"Positive\n: Well done\n\n> aside negative\n> Mind the gap\n\n> [!NOTE]\n> A note\n\n:::tip Title\na\n:::\n\n!!! warning \"T\"\n    b\n\nTerm\n: What it means\n\n" +
	"## Words :tada:\nDuration: 7.5\n\nDone :tada:, see[^1] and [the page][d], `[^1]` {{< figure >}} {% raw %}\n\n| a | b |\n|:-:|--:|\n| 1 | 2 |\n\n```mermaid\nflowchart LR\n  A --> B\n```\n\n" +
	"## Others\n\n<iframe src=\"https://example.org/x?a=1&amp;b=2\" width=\"3\"></iframe>\n\n<video id=\"abcdefghijk\"></video>\n\n![https://example.org/page](https://example.org/a.png)\n\n" +
	"<button>[Download](https://example.org/a.zip)</button>\n\n<video src=\"https://example.org/a.mp4\"></video>\n\n$a_b$ and *c*  \nnext\n\n```notes\nsecret\n```\n\n<a name=\"old\"></a> [back](#boxes)\n\n" +
	"[^1]: More words\n    and more\n\n[d]: https://example.org/d \"D\"\n"

// view returns a codelab as it is after an import.
func view(c *codelab.Create) *codelab.View {
	v := &codelab.View{Meta: c.Codelab.Clone(), Quizzes: c.Quizzes}
	for _, s := range c.Steps {
		v.Steps = append(v.Steps, proto.Clone(s).(*pb.Step))
	}
	return v
}

// Texts, titles and durations stay the same when a codelab is exported and imported twice.
func TestAnExportOfAnImportIsTheSame(t *testing.T) {
	demo, err := os.ReadFile("../web/e2e/first-service/codelab.md")
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string][]byte{"the demo": demo, "all kinds": []byte(kinds), "plain": []byte(tutorial)}
	for name, source := range sources {
		first, err := read(source)
		if err != nil {
			t.Fatalf("%s: reading returned %v", name, err)
		}
		before := first
		for range 2 {
			var b bytes.Buffer
			if err := Write(&b, view(before), nil); err != nil {
				t.Fatalf("%s: writing returned %v", name, err)
			}
			c, left, err := readAll(b.Bytes())
			if err != nil || len(left) > 0 || len(c.Steps) != len(first.Steps) || c.Codelab.Title != first.Codelab.Title {
				t.Fatalf("%s: %v, left out %v, %q with %d steps, want %q with %d", name, err, left, c.Codelab.Title, len(c.Steps), first.Codelab.Title, len(first.Steps))
			}
			for i, s := range c.Steps {
				if w := first.Steps[i]; s.Title != w.Title || s.ContentMarkdown != w.ContentMarkdown || s.DurationMinutes != w.DurationMinutes {
					t.Errorf("%s, step %d: %q, %d min\n%q\nwant %q, %d min\n%q", name, i+1, s.Title, s.DurationMinutes, s.ContentMarkdown, w.Title, w.DurationMinutes, w.ContentMarkdown)
				}
			}
			before = c
		}
	}
	c, err := read([]byte(kinds))
	if err != nil {
		t.Fatal(err)
	}
	if c.Codelab.Title != "All & *kinds*" || c.Steps[0].DurationMinutes != 90 || c.Steps[1].DurationMinutes != 8 || c.Steps[1].Title != "Words :tada:" {
		t.Errorf("the title is %q, the steps are %v", c.Codelab.Title, c.Steps)
	}
}
