package lint_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"atelier/transport/commerce/lint"
)

var update = flag.Bool("update", false, "write the findings into the archives of the rules")

const (
	// findings is the suffix of the section that follows a bad example and contains its findings,
	// one per line.
	findings = ": findings"
	// right begins a line of an archive's comment. The rest of the line names a file under bad that
	// does not break the rule, but that other files reference.
	right = "right by itself: "
)

// Each rule about documents has an archive. The files under good are linted together and break no
// rule. Each file under bad breaks this rule, unless it is marked with right, and is followed by
// all of its findings.
func TestRulesHaveTheirFindings(t *testing.T) {
	for _, rule := range lint.OfDocuments() {
		t.Run(rule.Code, func(t *testing.T) {
			a := open(t, rule.Code)
			t.Chdir(a.unpack(t))
			a.checkGood(t)
			a.checkBad(t, rule)
			if *update && !t.Failed() {
				a.write(t)
			}
		})
	}
}

// The test reports archives of rules that no longer exist.
func TestEveryArchiveBelongsToARule(t *testing.T) {
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		code, ok := strings.CutSuffix(e.Name(), ".txtar")
		if ok && !slices.ContainsFunc(lint.OfDocuments(), func(r lint.Rule) bool { return r.Code == code }) {
			t.Errorf("%s is not a rule about documents", code)
		}
		if !ok {
			t.Errorf("%s is not an archive", e.Name())
		}
	}
}

// archive contains the examples of one rule.
type archive struct {
	path string // absolute
	*txtar.Archive
	right []string
}

func open(t *testing.T, code string) *archive {
	t.Helper()
	path, err := filepath.Abs("testdata/" + code + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatalf("a rule needs an archive of examples: %v", err)
	}
	a := &archive{path: path, Archive: parsed}
	for line := range strings.Lines(string(a.Comment)) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), right)
		if !ok || !slices.Contains(a.examples("bad"), name) {
			t.Errorf("%q: want %q and a file under bad", line, right)
		}
		a.right = append(a.right, name)
	}
	return a
}

// examples returns the file names of one side, good or bad.
func (a *archive) examples(side string) (names []string) {
	for _, f := range a.Files {
		if strings.HasPrefix(f.Name, side+"/") && !strings.HasSuffix(f.Name, findings) {
			names = append(names, f.Name)
		}
	}
	return names
}

// unpack writes the examples into a folder.
func (a *archive) unpack(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	examples := slices.Concat(a.examples("good"), a.examples("bad"))
	if sections := slices.Compact(slices.Sorted(slices.Values(examples))); len(sections) != len(examples) {
		t.Error("a file occurs twice in the archive")
	}
	for _, f := range a.Files {
		if example, ok := strings.CutSuffix(f.Name, findings); ok && slices.Contains(a.examples("bad"), example) {
			continue
		}
		if !slices.Contains(examples, f.Name) {
			t.Errorf("%s is neither an example under good or bad nor the findings of one under bad", f.Name)
		}
		at := filepath.Join(folder, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func (a *archive) checkGood(t *testing.T) {
	found := lintFiles(t, "good")
	for _, name := range a.examples("good") {
		t.Run(name, func(t *testing.T) {
			for _, f := range found[name] {
				t.Error(line(f))
			}
		})
	}
}

func (a *archive) checkBad(t *testing.T, rule lint.Rule) {
	found := lintFiles(t, "bad")
	for _, name := range a.examples("bad") {
		t.Run(name, func(t *testing.T) {
			breaks := slices.ContainsFunc(found[name], func(f lint.Finding) bool { return f.Code == rule.Code })
			if breaks == slices.Contains(a.right, name) {
				t.Errorf("the file breaks the rule: %t", breaks)
			}
			var lines strings.Builder
			for _, f := range found[name] {
				if f.Line < 1 || f.Message == "" || f.Code == rule.Code && f.Severity != rule.Severity {
					t.Errorf("finding %+v does not fit rule %+v", f, rule)
				}
				fmt.Fprintln(&lines, line(f))
			}
			if *update {
				a.set(name, lines.String())
			}
			if got, want := lines.String(), a.findings(name); got != want {
				t.Errorf("found\n%swant\n%s", got, want)
			}
		})
	}
}

// line formats a finding as in an archive.
func line(f lint.Finding) string {
	place := strings.TrimSpace(fmt.Sprintf("%d %s", f.Line, f.Pointer))
	return fmt.Sprintf("%s: %s: %s [%s]", place, f.Severity, f.Message, f.Code)
}

func (a *archive) findings(example string) string {
	for _, f := range a.Files {
		if f.Name == example+findings {
			return string(f.Data)
		}
	}
	return ""
}

// set writes findings after their example. Without findings it removes the section.
func (a *archive) set(example, lines string) {
	a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == example+findings })
	if lines != "" {
		at := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == example })
		a.Files = slices.Insert(a.Files, at+1, txtar.File{Name: example + findings, Data: []byte(lines)})
	}
}

func (a *archive) write(t *testing.T) {
	t.Helper()
	text := txtar.Format(a.Archive)
	if old, err := os.ReadFile(a.path); err == nil && bytes.Equal(old, text) {
		return
	}
	if err := os.WriteFile(a.path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// lintFiles lints a folder and returns the findings by file.
func lintFiles(t *testing.T, folder string) map[string][]lint.Finding {
	t.Helper()
	r, err := lint.Files(t.Context(), []string{folder}, lint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Files == 0 {
		t.Errorf("the archive has no example under %s", folder)
	}
	found := map[string][]lint.Finding{}
	for _, f := range r.Findings {
		name := path.Clean(filepath.ToSlash(f.File))
		found[name] = append(found[name], f)
	}
	return found
}
