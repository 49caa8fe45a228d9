package acceptance

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// material uploads a file and creates a material from it.
func (c *class) material(title, name, content string) record {
	c.t.Helper()
	up := c.admin.sendFile("/upload/material", name, []byte(content)).object()
	return c.admin.post(c.path+"/materials", record{"title": title, "material_type": "file", "file_path": up.text("url")}).object()
}

func TestMaterialsAreLinksAndFiles(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	link := c.admin.post(c.path+"/materials", record{
		"title": " Slides ", "material_type": "link", "link_url": " https://example.org/slides?a=b ", "file_path": nil,
	}).object()
	if link.text("title") != "Slides" || link.text("link_url") != "https://example.org/slides?a=b" || link["file_path"] != nil || link.text("codelab_id") != c.id {
		t.Errorf("the link is %v", link)
	}
	file := c.material("Paper", "../../Übung 1.PDF", "%PDF-1.7 paper")
	if file["link_url"] != nil || !strings.HasPrefix(file.text("file_path"), "/uploads/materials/") || !strings.HasSuffix(file.text("file_path"), ".pdf") {
		t.Errorf("the file is %v", file)
	}
	for _, b := range []*browser{c.admin, lin.browser} {
		if got := texts(b.get(c.path+"/materials").list(), "title"); !slices.Equal(got, []string{"Slides", "Paper"}) {
			t.Errorf("the list has %q", got)
		}
	}
	got := open(t, c.addr).get(file.text("file_path")).want(200)
	if string(got.body) != "%PDF-1.7 paper" || got.header.Get("Content-Type") != "application/pdf" {
		t.Errorf("the response is %q as %s", got.body, got.header.Get("Content-Type"))
	}
	if want := `attachment; filename="_bung 1.PDF"; filename*=UTF-8''%C3%9Cbung%201.PDF`; got.header.Get("Content-Disposition") != want {
		t.Errorf("the disposition is %s", got.header.Get("Content-Disposition"))
	}
	c.admin.delete(c.path + "/materials/" + link.text("id")).want(204)
	c.admin.delete(c.path + "/materials/" + link.text("id")).refused(404)
	if got := c.audited()[:4]; !slices.Equal(got, []string{"material_delete", "material_add", "material_add", "attendee_register"}) {
		t.Errorf("the audited actions are %q", got)
	}
	if got := c.admin.get("/admin/audit-logs?limit=1&action=material_upload").list(); len(got) != 1 || got[0].text("actor_type") != "admin" {
		t.Errorf("the audit record is %v", got)
	}
}

func TestBadMaterialsAreRefused(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	good := c.admin.sendFile("/upload/material", "a.txt", []byte("a")).object().text("url")
	for _, bad := range []record{
		{"title": "t", "material_type": "link"}, {"title": "t", "material_type": "link", "link_url": "javascript:alert(1)"},
		{"title": "t", "material_type": "link", "link_url": "ftp://example.org"}, {"title": "t", "material_type": "link", "link_url": "https:///path"},
		{"title": "t", "material_type": "link", "link_url": "//example.org"}, {"title": "t", "material_type": "link", "link_url": "https://example.org/\nx"},
		{"title": "t", "material_type": "link", "link_url": "https://example.org", "file_path": good},
		{"title": "t", "material_type": "link", "link_url": "https://example.org/" + strings.Repeat("x", 2048)},
		{"title": "t", "material_type": "file"}, {"title": "t", "material_type": "file", "file_path": ""},
		{"title": "t", "material_type": "file", "file_path": "/uploads/materials/../../secrets/session.key"},
		{"title": "t", "material_type": "file", "file_path": "/etc/passwd"}, {"title": "t", "material_type": "file", "file_path": good + "x"},
		{"title": "t", "material_type": "file", "file_path": "https://example.org" + good},
		{"title": "t", "material_type": "file", "file_path": "/uploads/materials/" + strings.Repeat("0", 32) + ".txt"},
		{"title": "t", "material_type": "file", "file_path": good, "link_url": "https://example.org"},
		{"title": " ", "material_type": "file", "file_path": good}, {"title": "t", "material_type": "video", "file_path": good},
	} {
		if got := c.admin.send("POST", c.path+"/materials", bad); got.status != 400 {
			t.Errorf("%v returned %d", bad, got.status)
		}
	}
	if n := len(c.admin.get(c.path + "/materials").list()); n != 0 {
		t.Errorf("%d invalid materials were stored, want 0", n)
	}
}

// A file is removed immediately after its last reference, but not earlier.
func TestAFileIsRemovedWithItsLastReference(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	other := newClassOn(t, c.addr, record{})
	content := "content of " + t.Name()
	path := c.admin.sendFile("/upload/material", "a.txt", []byte(content)).object().text("url")
	twin := c.admin.sendFile("/upload/material", "a.txt", []byte(content)).object().text("url")
	add := func(c *class) string {
		return c.admin.post(c.path+"/materials", record{"title": "t", "material_type": "file", "file_path": path}).object().text("id")
	}
	first, second, third := add(c), add(c), add(other)
	copied := c.admin.post(c.path+"/copy", nil).object().text("id")
	there := func() bool { return c.admin.get(path).status == 200 }
	c.admin.delete(c.path + "/materials/" + first).want(204)
	c.admin.delete(c.path + "/materials/" + second).want(204)
	if !there() {
		t.Fatal("the file is gone although others refer to it")
	}
	c.admin.delete(other.path + "/materials/" + third).want(204)
	if !there() {
		t.Fatal("the file is gone although the copy refers to it")
	}
	c.admin.delete("/codelabs/" + copied).want(204)
	if there() {
		t.Error("the file still exists")
	}
	c.admin.post(c.path+"/materials", record{"title": "t", "material_type": "file", "file_path": path}).refused(400, "file_path")
	if got := c.admin.get(twin).want(200); string(got.body) != content {
		t.Errorf("another upload of the same content returned %q", got.body)
	}
}

// An image in the text is removed with the codelab, and an image in a message with the message.
func TestImagesAreKeptAsLongAsTheirTexts(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	inStep := c.admin.sendFile("/upload/image", "a.png", pixel(1)).object().text("url")
	inChat := lin.sendFile("/upload/image", "b.png", pixel(2)).object().text("url")
	c.admin.put(c.path+"/steps", record{"steps": []record{{"title": "t", "content_markdown": "![](" + inStep + ")"}}}).want(200)
	lin.post(c.path+"/messages", record{"type": "chat", "message": "look " + inChat}).want(200)
	id := c.admin.get(c.path + "/chat").list()[0].text("id")
	c.admin.delete(c.path + "/chat/" + id).want(204)
	c.admin.get(inChat).want(404)
	c.admin.get(inStep).want(200)
	c.admin.delete(c.path).want(204)
	c.admin.get(inStep).want(404)
}

func TestFilesAreServedWithTheirTypeAndDisposition(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	for name, f := range map[string]struct{ content, kind, disposition string }{
		"a.png":  {string(onePixel), "image/png", "inline"},
		"a.svg":  {`<svg xmlns="http://www.w3.org/2000/svg"><script>x</script></svg>`, "text/plain; charset=utf-8", "attachment"},
		"x.svg":  {`<?xml version="1.0"?><svg/>`, "text/xml; charset=utf-8", "attachment"},
		"a.html": {"<!DOCTYPE html><script>alert(1)</script>", "text/html; charset=utf-8", "attachment"},
		"b.png":  {"<html><script>alert(1)</script>", "text/html; charset=utf-8", "attachment"},
		"a.pdf":  {"%PDF-1.7", "application/pdf", "attachment"},
		"a.zip":  {"PK\x03\x04", "application/zip", "attachment"},
		"a.js":   {"alert(1)", "text/plain; charset=utf-8", "attachment"},
		"a.bin":  {"\x00\x01\x02", "application/octet-stream", "attachment"},
	} {
		url := c.admin.sendFile("/upload/material", name, []byte(f.content)).object().text("url")
		got := c.admin.get(url).want(200)
		h := got.header
		if h.Get("Content-Type") != f.kind || !strings.HasPrefix(h.Get("Content-Disposition"), f.disposition+"; ") || string(got.body) != f.content {
			t.Errorf("%s: the response has the type %s, the disposition %s, or other content", name, h.Get("Content-Type"), h.Get("Content-Disposition"))
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Security-Policy") != "default-src 'none'; sandbox" ||
			h.Get("Accept-Ranges") != "bytes" || !strings.HasPrefix(h.Get("ETag"), `"`) || h.Get("Cache-Control") == "" {
			t.Errorf("%s: the headers are %v", name, h)
		}
	}
}

func TestRangesOfAFileAreServed(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	content := []byte(strings.Repeat("0123456789", 2000))
	size := len(content)
	path := c.admin.sendFile("/upload/material", "a.bin", content).object().text("url")
	tag := c.admin.get(path).want(200).header.Get("ETag")
	part := func(from, to int) string { return fmt.Sprintf("bytes %d-%d/%d", from, to, size) }
	for name, test := range map[string]struct {
		opts         []option
		status       int
		contentRange string
		body         []byte
	}{
		"first":             {[]option{header("Range", "bytes=0-0")}, 206, part(0, 0), content[:1]},
		"middle":            {[]option{header("Range", "bytes=3-10006")}, 206, part(3, 10006), content[3:10007]},
		"rest":              {[]option{header("Range", "bytes=19990-")}, 206, part(19990, size-1), content[19990:]},
		"beyond":            {[]option{header("Range", "bytes=19999-99999999999999999999")}, 206, part(19999, size-1), content[19999:]},
		"suffix":            {[]option{header("Range", "bytes=-5")}, 206, part(size-5, size-1), content[size-5:]},
		"long suffix":       {[]option{header("Range", "bytes=-999999")}, 206, part(0, size-1), content},
		"behind":            {[]option{header("Range", "bytes=20000-")}, 416, fmt.Sprintf("bytes */%d", size), nil},
		"no suffix":         {[]option{header("Range", "bytes=-0")}, 416, fmt.Sprintf("bytes */%d", size), nil},
		"several":           {[]option{header("Range", "bytes=0-1,4-5")}, 200, "", content},
		"backwards":         {[]option{header("Range", "bytes=5-3")}, 200, "", content},
		"other unit":        {[]option{header("Range", "lines=0-1")}, 200, "", content},
		"rubbish":           {[]option{header("Range", "bytes=a-b")}, 200, "", content},
		"signed":            {[]option{header("Range", "bytes=+1-3")}, 200, "", content},
		"same":              {[]option{header("Range", "bytes=1-2"), header("If-Range", tag)}, 206, part(1, 2), content[1:3]},
		"changed":           {[]option{header("Range", "bytes=1-2"), header("If-Range", `"other"`)}, 200, "", content},
		"weak":              {[]option{header("Range", "bytes=1-2"), header("If-Range", "W/"+tag)}, 200, "", content},
		"known":             {[]option{header("If-None-Match", tag)}, 304, "", nil},
		"known, in a list":  {[]option{header("If-None-Match", `"x", W/`+tag), header("Range", "bytes=0-1")}, 304, "", nil},
		"known to be other": {[]option{header("If-None-Match", `"x"`)}, 200, "", content},
	} {
		got := c.admin.get(path, test.opts...)
		if got.status != test.status || got.header.Get("Content-Range") != test.contentRange {
			t.Errorf("%s: the response has the status %d and Content-Range %s", name, got.status, got.header.Get("Content-Range"))
		}
		if test.status < 400 && !bytes.Equal(got.body, test.body) {
			t.Errorf("%s: received %d bytes, or other content", name, len(got.body))
		}
		if test.status == 416 {
			got.error()
		}
	}
	head := c.admin.send("HEAD", path, nil, header("Range", "bytes=0-1")).want(200)
	if len(head.body) != 0 || head.header.Get("Content-Length") != fmt.Sprint(size) || head.header.Get("ETag") != tag {
		t.Errorf("the headers of HEAD are %v", head.header)
	}
	c.admin.send("HEAD", "/uploads/materials/"+strings.Repeat("0", 32)+".bin", nil).want(404)
	for _, bad := range []string{"/uploads/", "/uploads/materials", "/uploads/materials/", path + "/", path + "x", strings.ToUpper(path), strings.Replace(path, "materials", "images", 1), "/uploads/materials/..%2f..%2fsecrets%2fsession.key", "/uploads/../secrets/session.key"} {
		if got := c.admin.send("GET", bad, nil); got.status != 404 {
			t.Errorf("GET %s returned %d", bad, got.status)
		}
	}
	c.admin.send("POST", path, nil).refused(405)
}

func TestUploadsHaveALimitOfTheirOwn(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.UploadsPerMinute = 3
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	lin, max := c.attendee("Lin"), c.attendee("Max")
	send := func(p *person) answer {
		return p.sendFile(c.path+"/attendees/"+p.id+"/submissions", "a.txt", []byte("a"))
	}
	send(lin).want(200)
	lin.sendFile("/upload/image", "a.png", onePixel).want(200)
	send(lin).want(200)
	limited(t, send(lin), 20)
	limited(t, lin.sendFile("/upload/image", "a.png", onePixel), 20)
	send(max).want(200)
	lin.post(c.path+"/help", record{"step_number": 1}).want(200)
}

func TestImagesOfAnAttendeeAreLimitedPerDay(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.ImagesPerDay = 2
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	lin := c.attendee("Lin")
	for i := range 2 {
		lin.sendFile("/upload/image", "a.png", pixel(uint8(i))).want(200)
	}
	limited(t, lin.sendFile("/upload/image", "a.png", onePixel), 12*3600)
	for range 3 {
		c.admin.sendFile("/upload/image", "a.png", onePixel).want(200)
	}
}
