package house

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/doc"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite PACKAGES.md")

// PACKAGES.md has one line for each package: the first sentence of its documentation.
func TestThePackageIndexMatchesTheDocumentation(t *testing.T) {
	list := exec.Command("go", "list", "-f", `{{printf "%s\t%q" .ImportPath .Doc}}`, "./...")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("# Packages\n\nOne line each, from its documentation (`go doc <package>` has the whole).\nThis page is made by `make generate`.\n")
	top := ""
	for line := range strings.Lines(string(out)) {
		path, quoted, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		var text string
		if err := json.Unmarshal([]byte(quoted), &text); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		path = strings.TrimPrefix(path, "atelier/")
		if room, _, _ := strings.Cut(path, "/"); room != top {
			top = room
			fmt.Fprintf(&b, "\n## %s\n\n| Package | What it is |\n|---|---|\n", top)
		}
		summary := sentence(text, path)
		if summary == "" {
			t.Errorf("the documentation of %s lacks a first sentence", path)
		}
		fmt.Fprintf(&b, "| [%s](%s) | %s |\n", path, path, summary)
	}
	file := filepath.Join(root, "PACKAGES.md")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if read(t, "PACKAGES.md") != b.String() {
		t.Error("PACKAGES.md differs from the packages' documentation; run make generate")
	}
}

// sentence returns the first sentence of a package's documentation without its subject, such as
// "how …" from "Package layout is how …".
func sentence(text, path string) string {
	s := new(doc.Package).Synopsis(text)
	name := filepath.Base(path)
	for _, subject := range []string{"Package " + name, "Command " + name} {
		if rest, ok := strings.CutPrefix(s, subject+" "); ok {
			s = strings.TrimPrefix(rest, "is ")
			break
		}
	}
	return strings.ReplaceAll(s, "|", `\|`)
}
