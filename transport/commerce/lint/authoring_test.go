package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"atelier/transport/commerce/lint"
)

var exampleFile = regexp.MustCompile("(?ms)^```json file=(\\S+)\n(.*?)^```$")

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../AUTHORING.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Authors copy the examples of AUTHORING.md, so the examples must have no findings of any severity.
// The test writes the examples as files and lints them.
func TestTheExamplesOfThePageHaveNoFindings(t *testing.T) {
	folder := t.TempDir()
	examples := exampleFile.FindAllStringSubmatch(page(t), -1)
	if len(examples) < 5 {
		t.Fatalf("the page has only %d examples", len(examples))
	}
	if n := strings.Count(page(t), "```json"); n != len(examples) {
		t.Errorf("%d of %d examples have no file name", n-len(examples), n)
	}
	for _, e := range examples {
		path := filepath.Join(folder, e[1])
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(e[2]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	report, err := lint.Files(t.Context(), []string{folder}, lint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Errorf("%s %s: %s [%s]", f.File, f.Pointer, f.Message, f.Code)
	}
}

func TestThePageListsEveryRule(t *testing.T) {
	text := page(t)
	for _, r := range lint.Rules() {
		if line := fmt.Sprintf("| `%s` | %s | %s |\n", r.Code, r.Severity, r.Summary); !strings.Contains(text, line) {
			t.Errorf("the page lacks the line %s", line)
		}
	}
}
