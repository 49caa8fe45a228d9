package lint_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"atelier/transport/commerce/lint"
)

// TestRules has a folder for each rule: what is in bad breaks it, every file
// of it; what is in good breaks none.
func TestRules(t *testing.T) {
	for _, rule := range lint.Rules() {
		switch rule.Code {
		case "io", "usage", "composition", "payload-invalid":
			continue // about a run or a payload, not about an author's document
		}
		t.Run(rule.Code, func(t *testing.T) {
			folder := filepath.Join("testdata/rules", rule.Code)
			for _, f := range run(t, filepath.Join(folder, "good")).Findings {
				t.Errorf("good: %s %s %s: %s", f.File, f.Pointer, f.Code, f.Message)
			}
			broken := map[string]bool{}
			for _, f := range run(t, filepath.Join(folder, "bad")).Findings {
				if f.Code == rule.Code {
					broken[f.File] = true
					if f.Severity != rule.Severity || f.Line < 1 || f.Message == "" {
						t.Errorf("finding %+v of rule %+v", f, rule)
					}
				}
			}
			for _, file := range files(t, filepath.Join(folder, "bad")) {
				if !broken[file] && !partner(rule.Code, file) {
					t.Errorf("bad: %s does not break the rule", file)
				}
			}
		})
	}
}

// partner tells the files of a bad folder that are right by themselves.
func partner(code, file string) bool {
	switch code {
	case "id-duplicate":
		return filepath.Base(file) == "one.json"
	case "declaration-name", "declaration-version", "declaration-id", "declaration-category":
		return filepath.Base(file) == "loyalty.json"
	case "declaration-config":
		return filepath.Base(file) == "wallet.json"
	case "extension-conflict":
		return filepath.Base(file) == "parent.json" || filepath.Base(file) == "older.json"
	case "category-unknown", "variant-ref":
		return filepath.Base(file) == "capability.json"
	case "handler-id":
		return filepath.Base(file) == "payment_handler.json"
	}
	return false
}

// TestEveryFixtureHasARule finds folders of rules that no longer exist.
func TestEveryFixtureHasARule(t *testing.T) {
	entries, err := os.ReadDir("testdata/rules")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.ContainsFunc(lint.Rules(), func(r lint.Rule) bool { return r.Code == e.Name() }) {
			t.Errorf("%s is not a rule", e.Name())
		}
	}
}

func run(t *testing.T, paths ...string) lint.Report {
	t.Helper()
	r, err := lint.Files(t.Context(), paths, lint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Files == 0 {
		t.Errorf("no files in %v", paths)
	}
	return r
}

func files(t *testing.T, folder string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
