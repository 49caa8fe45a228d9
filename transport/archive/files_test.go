package archive

import (
	"maps"
	"strings"
	"testing"

	"atelier/actors/files"
)

func TestLinksAreRewrittenToTheImportedFiles(t *testing.T) {
	name := strings.Repeat("a", 32) + ".png"
	step := "---\ntitle: t\n---\n/uploads/images/" + name + " /uploads/images/" + name + "x /uploads/images/" + strings.Repeat("b", 32) + ".png ![](../files/images/" + name + ")"
	c, err := read(pack(t, map[string]string{
		"codelab.json": `{"title":"t","description":"see /uploads/images/` + name + `"}`, "steps/01.md": step, "files/images/" + name: "x",
		"quizzes.json":   `[{"question":"q","quiz_type":"multiple_choice","options":["/uploads/images/` + name + `","b"],"correct_answer":0}]`,
		"materials.json": `[{"title":"m","material_type":"file","file":"files/images/` + name + `"},{"title":"l","material_type":"link","link_url":"http://a"}]`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Uploads) != 2 { // an image, and the same file as a material
		t.Fatalf("the uploads are %v, want two", c.Uploads)
	}
	made := files.Folder + c.Uploads[0].Name
	want := made + " " + made + "x /uploads/images/" + strings.Repeat("b", 32) + ".png ![](" + made + ")"
	// A longer extension makes a different name.
	want = strings.Replace(want, made+"x", "/uploads/images/"+name+"x", 1)
	if got := c.Steps[0].ContentMarkdown; got != want {
		t.Errorf("the step has the text %q\nwant %q", got, want)
	}
	if c.Codelab.Description != "see "+made || c.Quizzes[0].Options[0] != made || c.Materials[0].Upload != c.Uploads[1].Name || c.Materials[1].LinkUrl != "http://a" {
		t.Errorf("the codelab is %v", c)
	}
}

func TestNamesInAnArchiveAreUniqueOnEverySystem(t *testing.T) {
	taken := taken{}
	got := map[string]string{}
	for _, wanted := range []string{"a.txt", "A.TXT", "a.txt", "..", "a/b", "nul.txt", "COM1", "com10", "x.", " ", "é", "e\u0301", `q?:*.md`, ""} {
		got[wanted+" "] = taken.name(wanted)
	}
	want := map[string]string{
		"a.txt ": "a (3).txt", "A.TXT ": "A (2).TXT", ".. ": "file", "a/b ": "a_b", "nul.txt ": "_nul.txt", "COM1 ": "_COM1", "com10 ": "com10",
		"x. ": "x", "  ": "file (2)", "é ": "é", "e\u0301 ": "é (2)", "q?:*.md ": "q___.md", " ": "file (3)",
	}
	if !maps.Equal(got, want) {
		t.Errorf("names %q\nwant  %q", got, want)
	}
}
