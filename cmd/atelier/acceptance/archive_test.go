package acceptance

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// upload sends a file to the import.
func (b *browser) upload(file []byte) answer {
	b.t.Helper()
	return b.sendFile("/codelabs/import", "codelab", file)
}

// packed returns a ZIP of files. The arguments are pairs of a name and the file's content.
func packed(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, files[i+1])
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// alike returns a codelab without the fields that differ between a copy and its original.
func alike(t *testing.T, b *browser, id string) []any {
	t.Helper()
	var both []any
	b.get("/codelabs/" + id).into(&both)
	quizzes := b.get("/codelabs/" + id + "/quizzes").list()
	strip := func(r map[string]any, keys ...string) {
		for _, k := range keys {
			delete(r, k)
		}
	}
	strip(both[0].(map[string]any), "id", "created_at", "join_code", "now", "source_id")
	for _, s := range both[1].([]any) {
		strip(s.(map[string]any), "id", "codelab_id")
	}
	for _, q := range quizzes {
		strip(q, "id", "codelab_id", "created_at")
	}
	return append(both, quizzes)
}

func (c *class) furnish() {
	c.t.Helper()
	c.admin.put(c.path+"/steps", record{"steps": []record{
		{"title": `"Quoted": --- 한글 🎉 \ #`, "content_markdown": "---\ntitle: not front matter\n---\n\r\n  kept as sent  \n\n", "duration_minutes": 7},
		{"title": "Empty", "content_markdown": ""},
	}}).want(200)
	c.quizzes(choice("one", 1), choice("several", []int{2, 0}), record{"question": "free", "quiz_type": "descriptive"})
}

func TestAnExportedCodelabIsImportedUnchanged(t *testing.T) {
	t.Parallel()
	c := newClassOn(t, common.get(t).Addr(), record{
		"title": "Round trip", "description": "D\nE", "author": "Ada", "is_public": false, "quiz_enabled": true, "require_quiz": true,
		"require_feedback": true, "guide_markdown": "# Guide\n", "ai_enabled": false,
	})
	c.furnish()
	export := c.admin.get(c.path + "/export").want(200)
	if got := export.header.Get("Content-Type"); got != "application/zip" {
		t.Errorf("the content type is %q, want \"application/zip\"", got)
	}
	z, err := zip.NewReader(bytes.NewReader(export.body), int64(len(export.body)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	if want := []string{"codelab.json", "steps/01.md", "steps/02.md", "guide.md", "quizzes.json", "materials.json"}; !slices.Equal(names, want) {
		t.Errorf("the archive contains %q", names)
	}
	made := c.admin.upload(export.body).object()
	if got, want := alike(t, c.admin, made.text("id")), alike(t, c.admin, c.id); !reflect.DeepEqual(got, want) {
		t.Errorf("imported %v\nexported %v", got, want)
	}
	if got := c.audited(); got[0] != "codelab_export" {
		t.Errorf("the audited actions are %v", got)
	}
}

func TestACopyHasEverythingButThePeople(t *testing.T) {
	t.Parallel()
	c := newClassOn(t, common.get(t).Addr(), record{"title": strings.Repeat("ä", 198), "guide_markdown": "G", "quiz_enabled": true, "email_retention_days": 3, "ai_enabled": false})
	c.furnish()
	lin := c.attendee("Lin")
	lin.post(c.path+"/messages", record{"type": "chat", "message": "x"}).want(200)
	c.admin.post(c.path+"/end", nil).want(200)
	made := c.admin.post(c.path+"/copy", nil).object()
	if title := made.text("title"); !strings.HasSuffix(title, "ä (Copy)") || len([]rune(title)) != 200 {
		t.Errorf("the title is %q", title)
	}
	got, want := alike(t, c.admin, made.text("id")), alike(t, c.admin, c.id)
	if !reflect.DeepEqual(got[1:], want[1:]) || made["guide_markdown"] != "G" || made["ended_at"] != nil || made.number("email_retention_days") != 3 {
		t.Errorf("copied %v\nfrom   %v", got, want)
	}
	for _, path := range []string{"/attendees", "/chat"} {
		if n := len(c.admin.get("/codelabs/" + made.text("id") + path).list()); n != 0 {
			t.Errorf("the copy has %d entries of %s", n, path)
		}
	}
	if made.text("join_code") == c.meta().text("join_code") {
		t.Error("the copy has the same join code")
	}
}

const tutorial = "id: t\nauthor: Ada\nsummary: S\n\n# Tutorial\n\n## One\nDuration: 0:04:30\n\nText of one.\n\n## Two\n\nText of two.\n"

func TestTutorialsAreImported(t *testing.T) {
	t.Parallel()
	b := facilitator(t, common.get(t).Addr(), "")
	for name, file := range map[string][]byte{"markdown": []byte(tutorial), "zip": packed(t, "readme.txt", "x", "deep/codelab.md", tutorial)} {
		made := b.upload(file).object()
		if made.text("title") != "Tutorial" || made.text("author") != "Ada" || made.text("description") != "S" {
			t.Errorf("%s: created %v", name, made)
		}
		var both []any
		b.get("/codelabs/" + made.text("id")).into(&both)
		steps := both[1].([]any)
		if first := record(steps[0].(map[string]any)); len(steps) != 2 || first.number("duration_minutes") != 5 || first.text("content_markdown") != "Text of one.\n" {
			t.Errorf("%s: the steps are %v", name, steps)
		}
	}
}

func TestAnImportReportsOmittedParts(t *testing.T) {
	t.Parallel()
	b := facilitator(t, common.get(t).Addr(), "")
	reference := `{"id":"1","title":"Theirs","description":"","author":"","is_public":1,"quiz_enabled":0,"require_quiz":0,"require_feedback":0,"guide_markdown":null}`
	for name, tc := range map[string]struct {
		file  []byte
		steps int
		left  string
	}{
		"all of it":             {[]byte(tutorial), 2, "[]"},
		"a preface":             {[]byte(strings.Replace(tutorial, "# Tutorial\n", "# Tutorial\nHello.\n", 1)), 2, "[map[code:unknown file: reason:the text before the first step is not part of any step]]"},
		"another tutorial":      {packed(t, "a.md", tutorial, "b.md", tutorial), 2, "[map[code:unknown file:b.md reason:it is another tutorial; a codelab contains only one, so import this file separately]]"},
		"the reference's ZIP":   {packed(t, "codelab.json", reference, "step_01_One.md", "one", "step_02_Two.md", "two"), 2, "[]"},
		"the reference's, more": {packed(t, "codelab.json", reference, "step_01_One.md", "one", "x.exe", "x"), 1, "[map[code:unknown file:x.exe reason:nothing refers to it]]"},
	} {
		made := b.upload(tc.file).object()
		var from any = "h1"
		if strings.HasPrefix(name, "the reference") {
			from = nil
		}
		if made["title_from"] != from {
			t.Errorf("%s: the title comes from %v", name, made["title_from"])
		}
		if got := fmt.Sprint(made["left_out"]); got != tc.left {
			t.Errorf("%s: the import left out %s, want %s", name, got, tc.left)
		}
		var both []any
		b.get("/codelabs/" + made.text("id")).into(&both)
		if n := len(both[1].([]any)); n != tc.steps {
			t.Errorf("%s: created %d steps, want %d", name, n, tc.steps)
		}
	}
}

// The server imports files in the form in which common programs write them.
func TestOrdinaryFilesAreImported(t *testing.T) {
	t.Parallel()
	b := facilitator(t, common.get(t).Addr(), "")
	picture := "data:image/png;base64," + base64.StdEncoding.EncodeToString(onePixel)
	for name, tc := range map[string]struct{ file, title, from, text string }{
		"YAML":         {"---\nsummary: S\nid: a-%s\ntitle: Of the header\n---\n\n## One\n\ntext\n", "Of the header", "header", "text\n"},
		"TOML":         {"+++\nid = \"b-%s\"\n+++\n# T &amp; \\#\n\n## One\n\ntext\n", "T & #", "h1", "text\n"},
		"of its name":  {"id: c-%s\r\r##One\rtext\r", "my lab", "name", "text\n"},
		"Google Docs":  {"id: d-%s\n# T\n## One\n![][p]\n\n## Two\n\n[p]: <" + picture + ">\n", "T", "h1", ""},
		"not text":     {"%%PDF-1.7 %s", "", "", "this file is neither Markdown nor a ZIP file"},
		"a bad header": {"---\nsummary: a: %s\n---\n# T\n## One\n", "", "", "line 2, column 11"},
	} {
		a := b.sendFile("/codelabs/import", "my lab.md", []byte(fmt.Sprintf(tc.file, t.Name())))
		if tc.title == "" {
			a.refused(400, tc.text)
			continue
		}
		made := a.object()
		if made.text("title") != tc.title || made["title_from"] != tc.from || fmt.Sprint(made["left_out"]) != "[]" {
			t.Errorf("%s: created %v", name, made)
		}
		got := stepText(b, made.text("id"), 0)
		if tc.text != "" && got != tc.text {
			t.Errorf("%s: the step contains %q", name, got)
		}
		if at := strings.Index(got, "[p]: "); tc.text == "" {
			b.get(strings.TrimSpace(got[at+len("[p]: "):])).want(200)
		}
	}
}

func TestABadArchiveCreatesNoCodelab(t *testing.T) {
	t.Parallel()
	addr := startServer(t, testConfig(t)).Addr() // no other test creates codelabs here
	b := facilitator(t, addr, "")
	good := `{"title":"T"}`
	for name, file := range map[string][]byte{
		"empty": {}, "text": []byte("not a tutorial"), "binary": {0, 1, 2, 3}, "broken zip": []byte("PK\x03\x04rest"), "empty zip": packed(t),
		"path outside": packed(t, "codelab.json", good, "../evil.md", "x"), "absolute path": packed(t, "/codelab.json", good),
		"backslash": packed(t, "codelab.json", good, `a\..\..\b`, ""),
		"no title":  packed(t, "codelab.json", `{}`), "long title": packed(t, "codelab.json", `{"title":"`+strings.Repeat("x", 201)+`"}`),
		"other format": packed(t, "codelab.json", `{"title":"T","format":"other"}`), "newer": packed(t, "codelab.json", `{"title":"T","format_version":99}`),
		"bad step": packed(t, "codelab.json", good, "steps/01.md", "no front matter"), "bad quiz": packed(t, "codelab.json", good, "quizzes.json", `[{"question":"q","quiz_type":"x"}]`),
		"not UTF-8": packed(t, "codelab.json", good, "guide.md", "\xff"), "bomb": packed(t, "codelab.json", good, "guide.md", strings.Repeat("\x00", 17<<20)),
		"too many": packed(t, many(10_001)...),
	} {
		if got := b.upload(file); got.status != 400 {
			t.Errorf("%s: status %d %s", name, got.status, got.body)
		} else {
			got.error()
		}
	}
	b.post("/codelabs/import", []byte("{}")).refused(415)
	b.post("/codelabs/import", []byte("--x--\r\n"), header("Content-Type", "multipart/form-data; boundary=x")).refused(400, "file")
	b.post("/codelabs/import", []byte("rubbish"), header("Content-Type", "multipart/form-data; boundary=x")).refused(400)
	open(t, addr).post("/codelabs/import", []byte("x"), header("Content-Type", "multipart/form-data; boundary=x")).refused(401)
	if made := b.get("/codelabs").list(); len(made) != 0 {
		t.Errorf("%d codelabs were created, want 0", len(made))
	}
}

func many(n int) (files []string) {
	for i := range n {
		files = append(files, fmt.Sprint("f", i), "")
	}
	return files
}

// zeros is an infinite body.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestATooLargeUploadIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	b := facilitator(t, common.get(t).Addr(), "")
	eventual(t, "the refusal", func() bool {
		body := struct{ io.Reader }{io.LimitReader(zeros{}, 300<<20)}
		req, err := http.NewRequest(http.MethodPost, anyNode(b.base)+"/api/codelabs/import", body)
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = 300 << 20
		req.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		b.authenticate(req)
		for _, c := range b.http.Jar.Cookies(b.site()) {
			req.AddCookie(c)
		}
		res, err := (&http.Client{Timeout: testTimeout, Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			return false // the connection can close while the client still sends
		}
		defer res.Body.Close()
		got, _ := io.ReadAll(res.Body)
		if res.StatusCode != 413 || !strings.Contains(string(got), "too large") {
			t.Fatalf("status %d %s, want 413", res.StatusCode, got)
		}
		return true
	})
}
