package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"testing"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/files"
	"atelier/transport/intake"
	"atelier/transport/wire"
)

// keepByName gives each file the same name of zeros, in the folder of its kind and with its
// extension. Some contents stand for files that are refused.
func keepByName(kind, name string, content io.Reader) (*pb.Upload, error) {
	b, err := io.ReadAll(content)
	if err != nil {
		return nil, err
	}
	switch {
	case string(b) == "svg" && kind == files.Images:
		return nil, errors.Join(wire.Invalid("not an image"))
	case string(b) == "large":
		return nil, fmt.Errorf("%w of some bytes", files.ErrTooLarge)
	case string(b) == "wide" && kind == files.Images:
		return nil, errors.Join(wire.Invalid("more than 40 megapixels"), intake.ErrDimensions)
	case string(b) == "disk":
		return nil, errors.New("the disk")
	}
	return &pb.Upload{Name: kind + "/" + strings.Repeat("0", 32) + path.Ext(name), OriginalName: name}, nil
}

const (
	imageAt    = "/uploads/images/00000000000000000000000000000000.png"
	materialAt = "/uploads/materials/00000000000000000000000000000000"
)

// brought imports a tutorial with one step of this text, and files next to it. It also returns the
// imported text of the step.
func brought(t testing.TB, text string, beside map[string]string) (*Content, string, error) {
	t.Helper()
	held := map[string]string{"lab/lab.md": "id: x\n\n# T\n\n## One\n\n" + text + "\n"}
	for name, content := range beside {
		held[name] = content
	}
	b := pack(t, held)
	c, err := Read(bytes.NewReader(b), int64(len(b)), Surroundings{Keep: keepByName, Still: always, Codelab: func(slug string) (string, error) {
		return map[string]string{"here": "HERE", "spaced id": "SPACED"}[slug], nil
	}})
	if err != nil {
		return nil, "", err
	}
	return c, strings.TrimSuffix(c.Steps[0].ContentMarkdown, "\n"), nil
}

func TestPicturesAreFoundInEveryNotation(t *testing.T) {
	for text, want := range map[string]string{
		"![a](img/a.png)":                              "![a](" + imageAt + ")",
		"![a](<img/my pic.png> 't')":                   "![a](" + imageAt + " 't')",
		"![a](img/my%20pic.png)":                       "![a](" + imageAt + ")",
		"![a](img/a(1).png)":                           "![a](" + imageAt + ")",
		"![a](img/my\\_pic.png)":                       "![a](" + imageAt + ")",
		"![a](img/a&amp;b.png)":                        "![a](" + imageAt + ")",
		"![a](img/a.png?raw=true)":                     "![a](" + imageAt + ")",
		"![a](img/a.png#center)":                       "![a](" + imageAt + ")",
		"![a](img/c%23.png) ![a](img/c#.png)":          "![a](" + imageAt + ") ![a](" + imageAt + ")",
		"![a](/lab/img/a.png) ![a](/img/a.png)":        "![a](" + imageAt + ") ![a](" + imageAt + ")",
		"![a](./img/../img/a.png) ![a](../up.png)":     "![a](" + imageAt + ") ![a](" + imageAt + ")",
		"![a](img\\a.png) ![a](img/u\u0308.png)":       "![a](" + imageAt + ") ![a](" + imageAt + ")",
		"![a][p]\n\n[p]: <img/my pic.png> 't'":         "![a][p]\n\n[p]: " + imageAt + " 't'",
		"[unused]: img/a.png":                          "[unused]: " + imageAt,
		"<IMG width=3 SRC='img/a.png'>":                "<IMG width=3 SRC='" + imageAt + "'>",
		"<img src=img/a.png srcset=\"img/a.png 2x\">":  "<img src=" + imageAt + " srcset=\"" + imageAt + " 2x\">",
		"<a href=\"img/a.png\">large</a>":              "<a href=\"" + imageAt + "\">large</a>",
		"![a](img/plain)":                              "![a](/uploads/images/00000000000000000000000000000000)",
		"`![a](img/a.png)`":                            "`![a](img/a.png)`",
		"```md\n![a](img/a.png)\n```":                  "```md\n![a](img/a.png)\n```",
		"![a](https://x.org/img/a.png) ![](//x/a.png)": "![a](https://x.org/img/a.png) ![](//x/a.png)",
		"![a](img/a.png\\)":                            "![a](img/a.png\\)",
	} {
		_, got, err := brought(t, text, map[string]string{
			"lab/img/a.png": "x", "lab/img/my pic.png": "x", "lab/img/a(1).png": "x", "lab/img/my_pic.png": "x", "lab/img/a&b.png": "x", "lab/img/c#.png": "x", "lab/img/ü.png": "x", "up.png": "x", "lab/img/plain": "x",
		})
		if err != nil || got != want {
			t.Errorf("%q: %v\ngot  %q\nwant %q", text, err, got, want)
		}
	}
}

func TestLinkedFilesBecomeMaterials(t *testing.T) {
	beside := map[string]string{"lab/data/My data.csv": "a,b", "lab/slides.pdf": "x", "lab/secret.zip": "x", "lab/demo.mp4": "x", "lab/large.zip": "large", "lab/notes.md": "# Notes", "lab/nobody.ipynb": "x"}
	c, got, err := brought(t, "[data](<data/My data.csv>) [again](data/My%20data.csv \"t\") [slides](slides.pdf#page=2) <video src=\"demo.mp4\"></video> [large](large.zip) [more](notes.md)\n\n```notes\n[solution](secret.zip) [slides](slides.pdf)\n```", beside)
	if err != nil {
		t.Fatal(err)
	}
	want := "[data](" + materialAt + ".csv) [again](" + materialAt + ".csv \"t\") [slides](" + materialAt + ".pdf#page=2) <video src=\"" + materialAt + ".mp4\"></video> [large](large.zip) [more](" + materialAt + ".md)\n\n```notes\n[solution](secret.zip) [slides](" + materialAt + ".pdf)\n```"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	var titles []string
	for _, m := range c.Materials {
		if m.MaterialType != codelab.File || m.Upload == "" {
			t.Errorf("the material is %v", m)
		}
		titles = append(titles, m.Title)
	}
	if !slices.Equal(titles, []string{"My data.csv", "slides.pdf", "demo.mp4", "notes.md"}) {
		t.Errorf("the materials are %q", titles)
	}
	wantLeft := []LeftOut{{"lab/large.zip", "it is larger than 50 MiB", CodeTooLarge}, {"lab/nobody.ipynb", "nothing refers to it", CodeUnknown}, {"lab/secret.zip", "only notes for facilitators link it", CodeUnknown}}
	if left := c.LeftOut; !slices.Equal(left, wantLeft) {
		t.Errorf("left out %q", left)
	}

	// A note can also be an element.
	c, got, err = brought(t, "[slides](slides.pdf)\n\n<aside class=\"facilitator\">\n\n[solution](secret.zip) [slides](slides.pdf) ![p](p.png)\n\n</aside>", map[string]string{"lab/slides.pdf": "x", "lab/secret.zip": "x", "lab/p.png": "x"})
	if err != nil || len(c.Materials) != 1 || !slices.Equal(c.LeftOut, []LeftOut{{"lab/secret.zip", "only notes for facilitators link it", CodeUnknown}}) {
		t.Fatalf("with a note as an element: %v, %v", c, err)
	}
	if want := "[solution](secret.zip) [slides](" + materialAt + ".pdf) ![p](" + imageAt + ")"; !strings.Contains(got, want) {
		t.Errorf("the note has no %q, but the text %q", got, want)
	}
}

// In an earlier version, the whole archive was refused because of one bad file, and the error did
// not name the picture.
func TestABadFileIsLeftOut(t *testing.T) {
	for content, want := range map[string]LeftOut{
		"":      {"lab/bad.png", "it is empty", CodeEmpty},
		"svg":   {"lab/bad.png", "not an image", CodeNotAnImage},
		"large": {"lab/bad.png", "it is larger than 5 MiB", CodeTooLarge},
		"wide":  {"lab/bad.png", "more than 40 megapixels", CodeTooLarge},
		"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n": {"lab/bad.png", "it is a Git LFS pointer: run git lfs pull and pack the archive again", CodeLFS},
	} {
		c, got, err := brought(t, "![b](bad.png) ![a](a.png) ![b](bad.png)", map[string]string{"lab/bad.png": content, "lab/a.png": "x"})
		if err != nil || got != "![b](bad.png) ![a]("+imageAt+") ![b](bad.png)" || !slices.Equal(c.LeftOut, []LeftOut{want}) {
			t.Errorf("a file with the content %q: %v, %q, %v", content, c, got, err)
		}
	}
	if _, _, err := brought(t, "![b](bad.png)", map[string]string{"lab/bad.png": "disk"}); err == nil || isInvalid(err) {
		t.Errorf("with a failing disk: %v, want no rejection", err)
	}
}

func TestLinksToExistingCodelabsAreRewritten(t *testing.T) {
	beside := map[string]string{"lab/more/sent.md": "id: spaced id\n# S\n## One\n", "lab/more/elsewhere.md": "id: elsewhere\n# S\n## One\n"}
	for text, want := range map[string]string{
		"[o](here.md)":                                 "[o](/codelabs/HERE)",
		"[o](../labs/here/)":                           "[o](/codelabs/HERE)",
		"[o](../here/index.html#2)":                    "[o](/codelabs/HERE)",
		"[o](more/sent.md)":                            "[o](/codelabs/SPACED)",
		"[o](more/elsewhere.md)":                       "[o](more/elsewhere.md)",
		"[o](missing.md) [o](/about) [o](/codelabs/1)": "[o](missing.md) [o](/about) [o](/codelabs/1)",
		"[o](lab.md#part-two) [o](#here)":              "[o](#part-two) [o](#here)",
	} {
		c, got, err := brought(t, text, beside)
		if err != nil || got != want {
			t.Errorf("the text %q became %q, %v", text, got, err)
			continue
		}
		var dead []string
		for _, l := range c.LeftOut {
			if l.Code == CodeDeadLink {
				dead = append(dead, l.File)
			}
		}
		wantDead := map[string][]string{"[o](more/elsewhere.md)": {"lab/more/elsewhere.md"}, "[o](missing.md) [o](/about) [o](/codelabs/1)": {"/about", "lab/missing.md"}}[text]
		if !slices.Equal(dead, wantDead) {
			t.Errorf("%q: the dead links are %q", text, dead)
		}
	}
}

// Pictures that are embedded in the text must follow the rules for images. Each picture is stored
// once, wherever its definition is.
func TestEmbeddedPicturesAreStored(t *testing.T) {
	const good, bad = "data:image/png;base64,eA==", "data:image/svg+xml;utf8,svg"
	text := "id: x\n\n# T\n\n## One\n\n![][a] ![](" + good + ") ![](<" + bad + ">)\n\n## Two\n\nx\n\n[a]: <" + good + ">\n"
	for name, file := range map[string][]byte{"a file": []byte(text), "a ZIP": pack(t, map[string]string{"lab.md": text})} {
		c, err := Read(bytes.NewReader(file), int64(len(file)), Surroundings{Keep: keepByName, Still: always})
		if err != nil {
			t.Fatal(err)
		}
		// A picture in the text has no name, and so no extension.
		kept := files.Folder + c.Uploads[0].Name
		if want := "![][a] ![](" + kept + ") ![](data:,)\n\n[a]: " + kept + "\n"; len(c.Uploads) != 1 || c.Steps[0].ContentMarkdown != want || c.Steps[1].ContentMarkdown != "x\n" {
			t.Errorf("%s: uploads %v, steps %q", name, c.Uploads, c.Steps)
		}
		if len(c.LeftOut) != 1 || c.LeftOut[0].Code != CodeNotAnImage || !strings.Contains(c.LeftOut[0].Reason, "picture 2 in the text (image/svg+xml): not an image") {
			t.Errorf("%s: left out %v", name, c.LeftOut)
		}
	}
}

func TestTutorialsOfAnyEncodingAndNameAreRead(t *testing.T) {
	const text = "id: x\r\r## One\r"
	wide := []byte{0xff, 0xfe}
	for _, r := range text {
		wide = append(wide, byte(r), 0)
	}
	for name, file := range map[string][]byte{"sent.md": wide, "sent": pack(t, map[string]string{"dir/My lab.md": string(wide)})} {
		c, err := Read(bytes.NewReader(file), int64(len(file)), Surroundings{Keep: keepByName, Still: always, Name: name})
		want := map[string]string{"sent.md": "sent", "sent": "My lab"}[name]
		if err != nil || c.Codelab.Title != want || c.TitleFrom != "name" {
			t.Errorf("%s is read as %v, %v", name, c, err)
		}
	}
	for _, file := range []string{"\x89PNG\r\n\x1a\n", "a\x00b"} {
		if _, _, err := readAll([]byte(file)); !isInvalid(err) || err.Error() != "this file is neither Markdown nor a ZIP file" {
			t.Errorf("%q: %v, want Invalid", file, err)
		}
	}
}
