package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The version is the changelog's top entry, or the next version while that entry is not released.
func TestTheVersionComesFromTheTopOfTheChangelog(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	changelog, mine := filepath.Join(dir, "CHANGELOG.md"), filepath.Join(dir, "Makefile")
	text := strings.Replace(string(makefile), "CHANGELOG.md)", changelog+")", 1)
	if err := os.WriteFile(mine, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for headings, want := range map[string]string{
		"## 1.2.9 - 2027-01-31\n\n## 1.2.8 - 2027-01-01\n": `^1\.2\.9$`,
		"## Unreleased\n\n## 1.2.9 - 2027-01-31\n":         `^1\.2\.10-dev\+[0-9a-f]{7,}(-dirty)?$`,
		"## Unreleased\n\n### Added\n":                     `^1\.0\.0-dev\+[0-9a-f]{7,}(-dirty)?$`,
	} {
		if err := os.WriteFile(changelog, []byte("# Changelog\n\nText.\n\n"+headings), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("make", "-s", "-f", mine, "version")
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%q produces the version %q, %v; want %s", headings, got, err, want)
		}
	}
	top := regexp.MustCompile(`(?m)^## (.*)$`).FindStringSubmatch(readText(t, "CHANGELOG.md"))
	if top == nil || !regexp.MustCompile(`^(Unreleased|\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d)$`).MatchString(top[1]) {
		t.Errorf("CHANGELOG.md begins with %q", top)
	}
}

func readText(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
