package archive

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"strings"
	"testing"

	"atelier/actors/files"
)

// beginnings are what long texts could be made of: each could begin a link.
var beginnings = []string{"](", `src="`, "/uploads/", "](x", "/uploads/images/" + strings.Repeat("0", 32)}

func relinker(t testing.TB) *keeper {
	t.Helper()
	packed := pack(t, map[string]string{"a.png": "x"})
	z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	tr, err := check(z, int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	tr.still = always
	k, err := tr.keeper(nil)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestWhatIsNoLinkStays(t *testing.T) {
	k := relinker(t)
	for _, part := range beginnings {
		text := strings.Repeat(part, 1000)
		before := text
		k.steps = 0
		if err := k.relink(&text, "."); err != nil || text != before {
			t.Errorf("%q: changed, %v", part, err)
		}
		// It is read once, not once for each beginning of a link.
		if k.steps > 2*len(text) {
			t.Errorf("%q: %d bytes take %d steps", part, len(text), k.steps)
		}
	}
}

// BenchmarkRelink reads a long text of nothing but what could be a link, which
// is read once, not once for each: MB/s stay the same from size to size.
func BenchmarkRelink(b *testing.B) {
	k := relinker(b)
	for _, part := range beginnings {
		for _, size := range []int{1 << 18, 1 << 22} {
			text := strings.Repeat(part, size/len(part))
			b.Run(fmt.Sprintf("%.10q/%d", part, size), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					field := text
					if err := k.relink(&field, "."); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func TestLinksLeadToTheFilesOfTheArchive(t *testing.T) {
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
	if len(c.Uploads) != 2 { // an image, and the same as a material
		t.Fatalf("kept are %v", c.Uploads)
	}
	made := files.Folder + c.Uploads[0].Name
	want := made + " " + made + "x /uploads/images/" + strings.Repeat("b", 32) + ".png ![](" + made + ")"
	// A longer extension is another name.
	want = strings.Replace(want, made+"x", "/uploads/images/"+name+"x", 1)
	if got := c.Steps[0].ContentMarkdown; got != want {
		t.Errorf("the step says %q\nwant %q", got, want)
	}
	if c.Codelab.Description != "see "+made || c.Quizzes[0].Options[0] != made || c.Materials[0].Upload != c.Uploads[1].Name || c.Materials[1].LinkUrl != "http://a" {
		t.Errorf("got %v", c)
	}
}

func TestNamesInAnArchiveAreUniqueAnywhere(t *testing.T) {
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
		t.Errorf("got %q\nwant %q", got, want)
	}
}
