package sample

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"
	"testing"
)

// TestTheSampleShowsEverything: the workshop has steps with every kind of block, and code.
// That it is read is tested where it is made into a codelab.
func TestTheSampleShowsEverything(t *testing.T) {
	b, err := ZIP()
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	text, files := "", map[string]bool{}
	for _, f := range z.File {
		files[path.Base(f.Name)] = true
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if path.Dir(f.Name) == "steps" {
			text += string(content)
		}
	}
	for _, name := range []string{"codelab.json", "guide.md", "quizzes.json", "polls.json"} {
		if !files[name] {
			t.Errorf("there is no %s", name)
		}
	}
	for _, block := range []string{"```", "- [ ]", "> [!", "|---", "$$", "[^", "mermaid"} {
		if !strings.Contains(text, block) {
			t.Errorf("no step has %q", block)
		}
	}
	states, err := Code()
	if err != nil || len(states) == 0 {
		t.Fatalf("%d states of code, %v", len(states), err)
	}
	for i, s := range states {
		if want := fmt.Sprintf("step-%d-%s", i/2+1, []string{"start", "end"}[i%2]); s.Branch != want || len(s.Files) == 0 {
			t.Errorf("state %d is %s with %d files, want %s", i, s.Branch, len(s.Files), want)
		}
	}
}
