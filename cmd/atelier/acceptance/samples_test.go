package acceptance

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The samples are imported as their page shows. The import of samples without polls omits nothing.
func TestSamplesCanBeImported(t *testing.T) {
	t.Parallel()
	boss := facilitator(t, common.get(t).Addr(), "")
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join("..", "deploy", "samples", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	if err := z.AddFS(os.DirFS(filepath.Join("..", "deploy", "samples", "folder"))); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, title   string
		content       []byte
		steps         []string
		polls, checks int
		materials     string
	}{
		{"plain.md", "A walk through the command line", read("plain.md"), []string{"Look around", "Make a folder", "Write a file"}, 0, 0, "[]"},
		{"claat.md", "Hello, Go", read("claat.md"), []string{"Before you start", "Say hello", "Take it further"}, 1, 1, "[]"},
		{"folder.zip", "A codelab with pictures", packed.Bytes(), []string{"Look at the picture", "Take the file"}, 0, 0, "[commands.txt]"},
	} {
		made := boss.sendFile("/codelabs/import", c.name, c.content).want(http.StatusOK).object()
		if left := fmt.Sprint(made["left_out"]); made.text("title") != c.title || left != "[]" && c.polls == 0 {
			t.Errorf("%s is imported as %q, left out: %s", c.name, made.text("title"), left)
		}
		at := "/codelabs/" + made.text("id")
		var both []any
		boss.get(at).into(&both)
		var titles []string
		checks := 0
		for _, s := range both[1].([]any) {
			step := record(s.(map[string]any))
			titles = append(titles, step.text("title"))
			checks += strings.Count(step.text("content_markdown"), "```check ")
			if _, after, has := strings.Cut(step.text("content_markdown"), "](/uploads/"); has {
				path, _, _ := strings.Cut(after, ")")
				if got := boss.get("/uploads/" + path); got.status != http.StatusOK {
					t.Errorf("%s: an image returned %d", c.name, got.status)
				}
			}
		}
		if fmt.Sprint(titles) != fmt.Sprint(c.steps) || checks != c.checks {
			t.Errorf("%s has the steps %q and %d checks", c.name, titles, checks)
		}
		if n := len(boss.get(at + "/polls").list()); n != c.polls {
			t.Errorf("%s has %d polls, want %d", c.name, n, c.polls)
		}
		if got := fmt.Sprint(texts(boss.get(at+"/materials").list(), "title")); got != c.materials {
			t.Errorf("%s has the materials %s", c.name, got)
		}
	}
}
