package sample_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/archive"
	"atelier/transport/sample"
)

// The sample workshop can be imported like any other file, and the import leaves nothing out.
func TestTheSampleIsComplete(t *testing.T) {
	b, err := sample.ZIP()
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	got, err := archive.Read(bytes.NewReader(b), int64(len(b)), archive.Surroundings{
		Keep: func(kind, name string, content io.Reader) (*pb.Upload, error) {
			kept++
			_, err := io.Copy(io.Discard, content)
			return &pb.Upload{Name: kind + "/" + name}, err
		},
		Still: func() error { return nil }, Name: "sample.zip",
		Codelab: func(string) (string, error) { return "", errors.New("no file of the sample links a codelab") },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.LeftOut) > 0 || kept != 1 || len(got.Steps) != 5 || len(got.Quizzes) != 3 || len(got.Polls) != 5 || got.Codelab.GetGuideMarkdown() == "" {
		t.Errorf("the import left out %v; it has %d files, %d steps, %d questions, %d polls", got.LeftOut, kept, len(got.Steps), len(got.Quizzes), len(got.Polls))
	}
}

// Each state of the code matches the text of its step.
func TestTheCodeMatchesTheSteps(t *testing.T) {
	states, err := sample.Code()
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]string{
		"step-1-end": "<h1>What shall it be?</h1>", "step-2-end": `<select id="tea">`, "step-3-end": "setInterval(() => show(end), 250)", "step-4-end": "ready();",
	}
	for i, s := range states {
		page := ""
		for _, f := range s.Files {
			if f.Path == "index.html" {
				page = string(f.Content)
			}
		}
		if want := has[s.Branch]; !strings.Contains(page, want) {
			t.Errorf("the code of %s lacks %q", s.Branch, want)
		}
		if i > 0 && strings.HasSuffix(s.Branch, "-start") && len(s.Files) != len(states[i-1].Files) {
			t.Errorf("%s does not have the files of %s", s.Branch, states[i-1].Branch)
		}
	}
	if len(states) != 8 {
		t.Errorf("the sample has %d states, want 8", len(states))
	}
}
