package acceptance

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
)

// unzipped returns the names and contents of the files in an archive.
func unzipped(t testing.TB, b []byte) (names []string, held map[string]string) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	held = map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, f.Name)
		held[f.Name] = string(content)
	}
	return names, held
}

// stepText returns the content of a codelab's step.
func stepText(b *browser, id string, step int) string {
	b.t.Helper()
	var both []any
	b.get("/codelabs/" + id).into(&both)
	return record(both[1].([]any)[step].(map[string]any)).text("content_markdown")
}

func TestFilesAreExportedAndImportedWithTheirCodelab(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	c := newClassOn(t, startServer(t, cfg).Addr(), record{"title": "With files"})
	img := c.admin.sendFile("/upload/image", "a.png", pixel(7)).object().text("url")
	doc := c.admin.sendFile("/upload/material", "Linked Ü.txt", []byte("linked")).object().text("url")
	gone := "/uploads/images/" + strings.Repeat("0", 32) + ".png"
	c.admin.put(c.path, record{"guide_markdown": "Read " + doc}).want(200)
	text := "![one](" + img + ") again " + img + " and ![gone](" + gone + ")"
	c.admin.put(c.path+"/steps", record{"steps": []record{{"title": "t", "content_markdown": text}}}).want(200)
	c.material("Paper", "Paper.pdf", "%PDF-1.7")
	c.admin.post(c.path+"/materials", record{"title": "Link", "material_type": "link", "link_url": "https://example.org"}).want(200)

	export := c.admin.get(c.path + "/export").want(200)
	names, held := unzipped(t, export.body)
	if held["files"+strings.TrimPrefix(img, "/uploads")] == "" || !strings.Contains(held["files.json"], "Linked Ü.txt") || strings.Contains(strings.Join(names, " "), strings.Repeat("0", 32)) {
		t.Errorf("the archive contains %q", names)
	}

	// The second server has only the files of the archive.
	there := facilitator(t, startServer(t, testConfig(t)).Addr(), "")
	made := there.upload(export.body).object().text("id")
	got := stepText(there, made, 0)
	if strings.Contains(got, img) || !strings.Contains(got, "![gone]("+gone+")") || strings.Count(got, "/uploads/images/") != 3 {
		t.Fatalf("the step contains %q", got)
	}
	path := got[strings.Index(got, "/uploads/"):strings.Index(got, ")")]
	if a := there.get(path).want(200); !bytes.Equal(a.body, c.admin.get(img).body) || strings.Count(got, path) != 2 {
		t.Errorf("the image is %q in %q", a.body, got)
	}
	materials := there.get("/codelabs/" + made + "/materials").list()
	if got := texts(materials, "title"); !slices.Equal(got, []string{"Paper", "Link"}) {
		t.Fatalf("the materials are %q", got)
	}
	if a := there.get(materials[0].text("file_path")).want(200); string(a.body) != "%PDF-1.7" || !strings.Contains(a.header.Get("Content-Disposition"), "Paper.pdf") {
		t.Errorf("the material is %q, %v", a.body, a.header)
	}
	var both []any
	there.get("/codelabs/" + made).into(&both)
	guide := record(both[0].(map[string]any)).text("guide_markdown")
	if a := there.get(strings.TrimPrefix(guide, "Read ")).want(200); !strings.Contains(a.header.Get("Content-Disposition"), "Linked%20%C3%9C.txt") {
		t.Errorf("the headers of the linked file are %v", a.header)
	}

	// The copy has its own references to the files, so the original can be deleted.
	copied := c.admin.post(c.path+"/copy", nil).object().text("id")
	c.admin.delete(c.path).want(204)
	c.admin.get(img).want(200)
	list := c.admin.get("/codelabs/" + copied + "/materials").list()
	c.admin.get(list[0].text("file_path")).want(200)
	c.admin.delete("/codelabs/" + copied).want(204)
	if left := filesIn(t, cfg.Server.Data); len(left) != 0 {
		t.Errorf("files left behind: %q", left)
	}
}

func TestATutorialIsImportedWithItsImages(t *testing.T) {
	t.Parallel()
	b := facilitator(t, common.get(t).Addr(), "")
	md := "id: x\n\n# T\n\n## One\n![a](img/a.png) ![b](./img/b%20c.png \"title\") <img src=\"img/a.png\"> ![no](img/none.png) ![web](https://example.org/a.png) [text](../up.png) [doc](img/notes.txt)\n"
	made := b.upload(packed(t, "lab/index.md", md, "lab/img/a.png", string(pixel(1)), "lab/img/b c.png", string(pixel(2)), "lab/img/notes.txt", "x", "up.png", string(pixel(3)))).object().text("id")
	text := stepText(b, made, 0)
	if strings.Count(text, "/uploads/images/") != 4 || strings.Count(text, "/uploads/materials/") != 1 || strings.Contains(text, "img/a.png") {
		t.Fatalf("the step contains %q", text)
	}
	for _, kept := range []string{"(img/none.png)", "(https://example.org/a.png)", `.png "title")`} {
		if !strings.Contains(text, kept) {
			t.Errorf("the step lost %s: %q", kept, text)
		}
	}
	at := strings.Index(text, "/uploads/")
	b.get(text[at : at+strings.Index(text[at:], ")")]).want(200)
}

// If an archive has a fault, the server keeps no part of the archive, wherever the fault is.
func TestARefusedImportLeavesNoFile(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	b := facilitator(t, startServer(t, cfg).Addr(), "")
	name := strings.Repeat("a", 32)
	img := "files/images/" + name + ".png"
	step := "---\ntitle: t\n---\n![](/uploads/images/" + name + ".png)"
	doc := "files/materials/" + name + ".txt"
	material := `[{"title":"t","material_type":"file","file":"` + doc + `"}]`
	for what, files := range map[string][]string{
		"no title":     {"codelab.json", `{}`, "steps/01.md", step, img, string(onePixel)},
		"bad material": {"codelab.json", `{"title":"t"}`, "steps/01.md", step, img, string(onePixel), doc, "x", "materials.json", `[{"title":"","material_type":"file","file":"` + doc + `"}]`},
		"no such file": {"codelab.json", `{"title":"t"}`, "steps/01.md", step, img, string(onePixel), "materials.json", material},
		"outside":      {"codelab.json", `{"title":"t"}`, "steps/01.md", step, img, string(onePixel), "materials.json", `[{"title":"t","material_type":"file","file":"../../secrets/session.key"}]`},
		"absolute":     {"codelab.json", `{"title":"t"}`, "steps/01.md", step, img, string(onePixel), "materials.json", `[{"title":"t","material_type":"file","file":"/etc/passwd"}]`},
		"script link":  {"codelab.json", `{"title":"t"}`, "steps/01.md", step, img, string(onePixel), "materials.json", `[{"title":"t","material_type":"link","link_url":"javascript:x"}]`},
		"not a list":   {"codelab.json", `{"title":"t"}`, "steps/01.md", step, img, string(onePixel), "files.json", `{}`},
	} {
		got := b.upload(packed(t, files...))
		if got.status != 400 {
			t.Errorf("%s: status %d %s", what, got.status, got.body)
			continue
		}
		got.error()
		if left := filesIn(t, cfg.Server.Data); len(left) != 0 {
			t.Fatalf("%s: files left behind: %q", what, left)
		}
	}
	if n := len(b.get("/codelabs").list()); n != 0 {
		t.Errorf("%d codelabs were created, want 0", n)
	}
}

// If a file of an archive cannot be used, the import leaves it out and keeps the rest. This holds
// for every layout of an archive. No part of the bad file is stored.
func TestAFileThatCannotBeUsedIsLeftOut(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	b := facilitator(t, startServer(t, cfg).Addr(), "")
	name := strings.Repeat("a", 32)
	img, doc := "files/images/"+name+".png", "files/materials/"+name+".txt"
	step := "---\ntitle: t\n---\n![](/uploads/images/" + name + ".png)"
	material := `[{"title":"t","material_type":"file","file":"` + doc + `"}]`
	for what, tc := range map[string]struct {
		files              []string
		file, code, reason string
		kept               int
	}{
		"not an image":    {[]string{"codelab.json", `{"title":"t"}`, "steps/01.md", step, img, "<svg/>", doc, "x", "materials.json", material}, img, "not_an_image", "not a PNG", 1},
		"half an image":   {[]string{"codelab.json", `{"title":"t"}`, "steps/01.md", step, img, string(onePixel[:40])}, img, "not_an_image", "cut off", 0},
		"empty file":      {[]string{"codelab.json", `{"title":"t"}`, "steps/01.md", step, img, string(onePixel), doc, "", "materials.json", material}, doc, "empty", "empty", 1},
		"large file":      {[]string{"codelab.json", `{"title":"t"}`, "steps/01.md", step, img, string(onePixel), doc, strings.Repeat(random(1<<20), 50) + "x", "materials.json", material}, doc, "too_large", "50 MiB", 1},
		"large image":     {[]string{"codelab.json", `{"title":"t"}`, "steps/01.md", step, img, string(onePixel) + random(5<<20)}, img, "too_large", "5 MiB", 0},
		"tutorial image":  {[]string{"lab.md", tutorial + "\n![](a.png) ![](b.png) [c](c.csv)\n", "a.png", "not an image", "b.png", string(onePixel), "c.csv", "a,b"}, "a.png", "not_an_image", "not a PNG", 2},
		"a large picture": {[]string{"lab.md", tutorial + "\n![](a.png)\n", "a.png", string(onePixel[:16]) + "\x00\x00\x40\x00\x00\x00\x40\x00" + string(onePixel[24:])}, "a.png", "not_an_image", "", 0},
		"Git LFS":         {[]string{"lab.md", tutorial + "\n![](a.png)\n", "a.png", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"}, "a.png", "lfs", "git lfs pull", 0},
	} {
		made := b.upload(packed(t, tc.files...)).object()
		left, _ := made["left_out"].([]any)
		if len(left) != 1 {
			t.Errorf("%s: the import left out %v", what, left)
			continue
		}
		l := record(left[0].(map[string]any))
		if l.text("file") != tc.file || l.text("code") != tc.code || !strings.Contains(l.text("reason"), tc.reason) {
			t.Errorf("%s: the omitted file is reported as %v", what, l)
		}
		if got := filesIn(t, cfg.Server.Data); len(got) != tc.kept {
			t.Errorf("%s: the files kept are %q", what, got)
		}
		b.delete("/codelabs/" + made.text("id")).want(204)
		if got := filesIn(t, cfg.Server.Data); len(got) != 0 {
			t.Fatalf("%s: after the codelab was deleted, files left: %q", what, got)
		}
	}
}

// random returns a text that cannot be compressed.
func random(n int) string {
	var b strings.Builder
	for x := uint64(88172645463325252); b.Len() < n; {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		fmt.Fprintf(&b, "%016x", x)
	}
	return b.String()[:n]
}

func TestABackupContainsTheFiles(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	lin := c.attendee("Lin")
	img := c.admin.sendFile("/upload/image", "a.png", pixel(9)).object().text("url")
	c.admin.put(c.path, record{"guide_markdown": img}).want(200)
	c.material("Paper", "Paper.pdf", "%PDF-1.7")
	lin.hand(c, "mine.txt", []byte("by Lin")).want(200)
	before := append(c.everything(), string(c.admin.get(img).body))
	saved := backup(t, cfg.Server.Data)

	restored := testConfig(t)
	restore(t, restored, saved)
	addr := startServer(t, restored).Addr()
	c.admin = facilitator(t, addr, "")
	if after := append(c.everything(), string(c.admin.get(img).body)); !slices.Equal(after, before) {
		t.Errorf("restored:\n%s\nsaved:\n%s", after, before)
	}
	// Restored files can be referenced, and they are deleted with their codelab.
	c.admin.post(c.path+"/materials", record{"title": "t", "material_type": "file", "file_path": img}).want(200)
	c.admin.delete(c.path).want(204)
	if left := filesIn(t, restored.Server.Data); len(left) != 0 {
		t.Errorf("files left behind: %q", left)
	}
}

// References and files survive a restart.
func TestFilesSurviveARestart(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	s := startUntilStopped(t, cfg)
	c := newClassOn(t, s.Addr(), record{})
	lin := c.attendee("Lin")
	c.material("Paper", "Paper.pdf", "%PDF-1.7")
	own := lin.hand(c, "mine.txt", []byte("by Lin")).object()
	before := c.everything()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	s = startServer(t, cfg)
	for _, b := range []*browser{c.admin, lin.browser} {
		b.base = "http://" + s.Addr()
	}
	if after := c.everything(); !slices.Equal(after, before) {
		t.Errorf("after:\n%s\nbefore:\n%s", after, before)
	}
	lin.get(own.text("file_path")).want(200)
}

// A backup contains every file to which it refers, even if people upload and delete files during
// the backup and the server removes unused files.
func TestABackupOfALiveWorkshopContainsItsFiles(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.UploadsPerMinute, cfg.Limits.WritesPerMinute = 0, 0
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	stop := make(chan struct{})
	var busy sync.WaitGroup
	for i := range 3 {
		p := c.attendee(fmt.Sprint("Attendee ", i))
		busy.Go(func() {
			own := c.path + "/attendees/" + p.id + "/submissions"
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				id := p.hand(c, "a.bin", fmt.Appendf(nil, "%d of %d", n, i)).object().text("id")
				if n%3 != 0 {
					p.delete(own + "/" + id).want(204)
				} else if n > 150 {
					return // the maximum is reached
				}
			}
		})
	}
	var saved [][]byte
	for range 4 {
		saved = append(saved, backup(t, cfg.Server.Data))
	}
	close(stop)
	busy.Wait()
	for _, b := range saved {
		restored := testConfig(t)
		restore(t, restored, b)
		s := startUntilStopped(t, restored)
		admin := facilitator(t, s.Addr(), "")
		for _, r := range admin.get(c.path + "/submissions").list() {
			if got := admin.get(r.text("file_path")); got.status != 200 || len(got.body) != r.number("file_size") {
				t.Errorf("%s: status %d, %d bytes", r.text("file_path"), got.status, len(got.body))
			}
		}
		admin.http.CloseIdleConnections()
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	}
}
