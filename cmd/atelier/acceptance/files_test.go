package acceptance

import (
	"bytes"
	"image"
	"image/png"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// form is a file to upload.
type form struct {
	name    string
	content []byte
	most    int // the largest size that the server accepts, in bytes
	image   bool
}

// encode returns the multipart body, and the options that set its content type.
func (f form) encode() (body []byte, opts []option) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	_ = w.WriteField("comment", "before the file")
	part, _ := w.CreateFormFile("file", f.name)
	_, _ = part.Write(f.content)
	_ = w.Close()
	return b.Bytes(), []option{header("Content-Type", w.FormDataContentType())}
}

// sendFile sends a file in a form.
func (b *browser) sendFile(path, name string, content []byte) answer {
	b.t.Helper()
	body, opts := form{name: name, content: content}.encode()
	return b.post(path, body, opts...)
}

// onePixel is a small image.
var onePixel = func() []byte {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1)))
	return b.Bytes()
}()

// filesIn returns the paths of uploaded files in a data folder, relative to its subfolder blobs.
// Partly written files are included.
func filesIn(t testing.TB, data string) (paths []string) {
	t.Helper()
	dir := filepath.Join(data, "blobs")
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			paths = append(paths, strings.TrimPrefix(path, dir))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// wrongForms calls add for every wrong way to send a file.
func wrongForms(good form, add adder) {
	body, opts := good.encode()
	bad := func(what string, status int, f form, change func(body []byte) []byte) {
		body, opts := f.encode()
		if change != nil {
			body = change(body)
		}
		add(what, status, func(a *attempt) { a.body, a.opts = body, opts })
	}
	for _, kind := range []string{"application/json", "text/plain", "multipart/form-data", "multipart/mixed; boundary=x", "application/x-www-form-urlencoded", "multipart/form-data; boundary="} {
		add(kind, http.StatusUnsupportedMediaType, func(a *attempt) { a.opts = []option{header("Content-Type", kind)} })
	}
	add("no body", http.StatusBadRequest, func(a *attempt) { a.body, a.opts = []byte{}, opts })
	for _, n := range []int{10, 60, len(body) / 2, len(body) - 40, len(body) - 70} {
		add("truncated", http.StatusBadRequest, func(a *attempt) { a.body = body[:n] })
	}
	add("another boundary", http.StatusBadRequest, func(a *attempt) { a.opts = []option{header("Content-Type", "multipart/form-data; boundary=other")} })
	bad("another field", http.StatusBadRequest, good, func(b []byte) []byte { return bytes.Replace(b, []byte(`name="file"`), []byte(`name="data"`), 1) })
	bad("empty", http.StatusBadRequest, form{name: "a.txt"}, nil)
	if good.most > 64<<20 {
		return // a separate test covers files that are too large
	}
	bad("too large", http.StatusRequestEntityTooLarge, form{name: "a.png", content: append(bytes.Clone(good.content), make([]byte, good.most+1-len(good.content))...)}, nil)
	if !good.image {
		return
	}
	for _, text := range []string{"text", "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>x</script></svg>", "<html><script>x</script>", "GIF89a", "\x89PNG\r\n\x1a\n", "\xff\xd8\xff\xe0", "RIFF\x04\x00\x00\x00WEBPVP8 "} {
		bad("not an image", http.StatusBadRequest, form{name: "a.png", content: []byte(text)}, nil)
	}
	bad("half an image", http.StatusBadRequest, form{name: "a.png", content: good.content[:len(good.content)-6]}, nil)
}

// A file passes through the server in small pieces, on upload and on download. In an earlier
// version, the server read the whole body of a request even to check whether it was a stream.
func TestALargeFileNeedsLittleMemory(t *testing.T) { // alone: it measures the memory of the whole process
	c := newClass(t)
	const size = 50 << 20
	head, opts := form{name: "a.bin"}.encode()
	at := bytes.Index(head, []byte("octet-stream\r\n\r\n")) + len("octet-stream\r\n\r\n")
	body := io.MultiReader(bytes.NewReader(head[:at]), io.LimitReader(zeros{}, size), bytes.NewReader(head[at:]))
	req, err := http.NewRequest(http.MethodPost, anyNode(c.admin.base)+"/api/upload/material", body)
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = int64(len(head)) + size
	c.admin.authenticate(req)
	opts[0](req)
	var before, sent, got runtime.MemStats
	runtime.ReadMemStats(&before)
	res, err := c.admin.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	runtime.ReadMemStats(&sent)
	url := answer{t: t, status: res.StatusCode, body: text}.want(200).object().text("url")
	down, err := c.admin.http.Get(c.admin.base + url)
	if err != nil {
		t.Fatal(err)
	}
	defer down.Body.Close()
	if n, err := io.Copy(io.Discard, down.Body); n != size || err != nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
	runtime.ReadMemStats(&got)
	const most = 8 << 20
	if up, down := sent.TotalAlloc-before.TotalAlloc, got.TotalAlloc-sent.TotalAlloc; up > most || down > most {
		t.Errorf("allocated %d bytes for the upload, %d for the download", up, down)
	}
}
