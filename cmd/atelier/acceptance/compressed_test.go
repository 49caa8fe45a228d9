package acceptance

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
)

// Views that are the same for everybody are compressed for clients that accept compression. A
// compressed view has its own entity tag. Views for facilitators are never compressed: they contain
// e-mail addresses next to names that people choose, and the compressed length would reveal the
// addresses.
func TestSharedViewsAreCompressed(t *testing.T) {
	t.Parallel()
	c := newClassOn(t, common.get(t).Addr(), record{"guide_markdown": strings.Repeat("Read this. ", 400)})
	lin := c.attendee("Lin")
	get := func(who *browser, coding, tag string) (*http.Response, []byte) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "GET", anyNode(who.base)+"/api"+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		// An explicit header keeps the transport from decompressing the body.
		req.Header.Set("Accept-Encoding", coding)
		if tag != "" {
			req.Header.Set("If-None-Match", tag)
		}
		resp, err := who.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, b
	}
	plain, want := get(lin.browser, "identity", "")
	tags := map[string]bool{plain.Header.Get("ETag"): true}
	for coding, reader := range map[string]func(io.Reader) (io.Reader, error){
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"br":   func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
	} {
		resp, b := get(lin.browser, coding, "")
		r, err := reader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(withoutNow(got), withoutNow(want)) || len(b)*4 > len(want) || resp.Header.Get("Content-Encoding") != coding {
			t.Errorf("coding %s: %v, %d bytes of %d, %v", coding, err, len(b), len(want), resp.Header)
		}
		if tags[resp.Header.Get("ETag")] {
			t.Errorf("coding %s has the tag of another coding", coding)
		}
		tags[resp.Header.Get("ETag")] = true
		for tag := range tags {
			if resp, _ := get(lin.browser, coding, tag); resp.StatusCode != 304 {
				t.Errorf("coding %s with If-None-Match %s: status %d, want 304", coding, tag, resp.StatusCode)
			}
		}
	}
	if plain.Header.Get("Content-Encoding") != "" || !strings.Contains(strings.Join(plain.Header.Values("Vary"), ","), "Accept-Encoding") {
		t.Errorf("without Accept-Encoding, the headers are %v", plain.Header)
	}
	if resp, b := get(c.admin, "gzip, br", ""); resp.Header.Get("Content-Encoding") != "" || !bytes.HasPrefix(b, []byte("[")) {
		t.Errorf("for a facilitator, the headers are %v", resp.Header)
	}
}
