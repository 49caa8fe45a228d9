package acceptance

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// hand submits a file.
func (p *person) hand(c *class, name string, content []byte) answer {
	p.t.Helper()
	return p.sendFile(c.path+"/attendees/"+p.id+"/submissions", name, content)
}

func TestOnlyTheOwnerAndFacilitatorsSeeSubmissions(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	own := c.path + "/attendees/" + lin.id + "/submissions"
	file := lin.hand(c, `C:\home\Lösung.py`, []byte("print(1)")).object()
	if file.text("file_name") != "Lösung.py" || file.number("file_size") != 8 || file.text("submission_type") != "file" || file["link_url"] != nil ||
		file.text("attendee_name") != "Lin" || file.text("attendee_id") != lin.id || strings.HasPrefix(file.text("file_path"), "/uploads/") {
		t.Errorf("the file is %v", file)
	}
	link := lin.post(own+"/link", record{"url": "https://example.org/lin", "title": " My page "}).object()
	if link.text("link_url") != "https://example.org/lin" || link.text("file_name") != "My page" || link["file_path"] != nil || link.number("file_size") != 0 {
		t.Errorf("the link is %v", link)
	}
	lin.post(own+"/link", record{"url": "javascript:x"}).refused(400, "url")
	max.hand(c, "a.txt", []byte("by max")).want(200)
	if got := texts(c.admin.get(c.path+"/submissions").list(), "file_name"); !slices.Equal(got, []string{"a.txt", "My page", "Lösung.py"}) {
		t.Errorf("the facilitator sees %q", got)
	}
	if got := texts(lin.get(c.path+"/submissions").list(), "file_name"); !slices.Equal(got, []string{"My page", "Lösung.py"}) {
		t.Errorf("Lin sees %q", got)
	}
	for _, b := range []*browser{c.admin, lin.browser} {
		got := b.get(file.text("file_path")).want(200)
		if string(got.body) != "print(1)" || !strings.HasPrefix(got.header.Get("Content-Disposition"), "attachment; ") || !strings.Contains(got.header.Get("Cache-Control"), "private") {
			t.Errorf("the response is %q with %v", got.body, got.header)
		}
	}
	head := lin.send("HEAD", file.text("file_path"), nil).want(200)
	if len(head.body) != 0 || head.header.Get("Content-Length") != "8" || head.header.Get("ETag") == "" {
		t.Errorf("HEAD returned the headers %v", head.header)
	}
	max.send("HEAD", file.text("file_path"), nil).want(403)
	max.get(file.text("file_path")).refused(403)
	open(t, c.addr).get(file.text("file_path")).refused(401)
	c.admin.get(own + "/" + link.text("id") + "/file").refused(404)
	// People cannot submit for others, or delete files of others.
	max.sendFile(own, "a.txt", []byte("x")).refused(403)
	max.post(own+"/link", record{"url": "https://example.org"}).refused(403)
	max.delete(own + "/" + file.text("id")).refused(403)
	max.delete(c.path + "/attendees/" + max.id + "/submissions/" + file.text("id")).refused(404)
	lin.delete(own + "/" + file.text("id")).want(204)
	lin.get(file.text("file_path")).refused(404)
	c.admin.delete(own + "/" + link.text("id")).want(204)
	if got := c.audited()[:5]; !slices.Equal(got, []string{"submission_delete", "submission_delete", "submission_upload", "submission_link", "submission_upload"}) {
		t.Errorf("the audited actions are %q", got)
	}
}

func TestCompletionCanRequireASubmission(t *testing.T) {
	t.Parallel()
	c := newClassOn(t, common.get(t).Addr(), record{"require_submission": true, "require_feedback": true})
	lin := c.attendee("Lin")
	lin.post(c.path+"/complete", nil).refused(409, "feedback is missing; a submission is missing")
	lin.post(c.path+"/feedback", record{"difficulty": "1", "satisfaction": "5"}).want(200)
	id := lin.hand(c, "a.txt", []byte("a")).object().text("id")
	lin.delete(c.path + "/attendees/" + lin.id + "/submissions/" + id).want(204)
	lin.post(c.path+"/complete", nil).refused(409, "submission")
	lin.post(c.path+"/attendees/"+lin.id+"/submissions/link", record{"url": "https://example.org"}).want(200)
	lin.post(c.path+"/complete", nil).want(200)
}

// However many uploads arrive at the same time, no attendee stores more than 50 MiB, and a refused
// upload leaves no file.
func TestAnAttendeesSubmissionsHaveAQuota(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.UploadsPerMinute = 0
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	lin := c.attendee("Lin")
	big := func(i int) []byte { return append(make([]byte, 10<<20-10), fmt.Sprintf("%010d", i)...) }
	var mu sync.Mutex
	status := map[int]int{}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			a := lin.hand(c, "big", big(i))
			mu.Lock()
			defer mu.Unlock()
			status[a.status]++
		})
	}
	wg.Wait()
	if status[200] != 5 || status[413] != 3 {
		t.Fatalf("the statuses are %v", status)
	}
	if n := len(filesIn(t, cfg.Server.Data)); n != 5 {
		t.Errorf("%d files are stored, want 5", n)
	}
	lin.hand(c, "small", []byte("x")).refused(413, "50 MiB")
	lin.post(c.path+"/attendees/"+lin.id+"/submissions/link", record{"url": "https://example.org"}).want(200)
	c.attendee("Max").hand(c, "small", []byte("x")).want(200)
	first := lin.get(c.path + "/submissions").list()[1].text("id")
	lin.delete(c.path + "/attendees/" + lin.id + "/submissions/" + first).want(204)
	lin.hand(c, "again", big(9)).want(200)
}

func TestAnErasedAttendeeLeavesNoFile(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	lin, max := c.attendee("Lin"), c.attendee("Max")
	lin.hand(c, "secret-name.txt", []byte("only by Lin")).want(200)
	lin.hand(c, "both.txt", []byte("by both")).want(200)
	kept := max.hand(c, "both.txt", []byte("by both")).object()
	before := len(filesIn(t, cfg.Server.Data))
	lin.delete(c.path + "/attendees/" + lin.id).want(204)
	if n := len(filesIn(t, cfg.Server.Data)); n != before-1 {
		t.Errorf("there were %d files before the erasure and %d after it", before, n)
	}
	max.get(kept.text("file_path")).want(200)
	deadline := time.Now().Add(testTimeout)
	for bytes.Contains(backup(t, cfg.Server.Data), []byte("secret-name")) {
		if time.Now().After(deadline) {
			t.Fatal("a later backup still contains the name of the file")
		}
	}
	c.admin.delete(c.path).want(204)
	if left := filesIn(t, cfg.Server.Data); len(left) != 0 {
		t.Errorf("files left behind: %q", left)
	}
}

func TestAllSubmissionsAreDownloadedInOneArchive(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max, con := c.attendee("Lin / Ling"), c.attendee(".."), c.attendee("CON")
	lin.hand(c, "a.txt", []byte("one")).want(200)
	lin.hand(c, "A.TXT", []byte("two")).want(200)
	lin.post(c.path+"/attendees/"+lin.id+"/submissions/link", record{"url": "https://example.org/x", "title": "Mine"}).want(200)
	max.hand(c, "..", []byte("three")).want(200)
	con.hand(c, `what?.txt`, []byte("four")).want(200)
	c.attendee("Empty")
	got := c.admin.get(c.path + "/submissions/download").want(200)
	_, held := unzipped(t, got.body)
	want := map[string]string{
		"Lin _ Ling/a.txt": "one", "Lin _ Ling/A (2).TXT": "two", "Lin _ Ling/links.txt": "Mine\nhttps://example.org/x\n\n",
		"file/file": "three", "_CON/what_.txt": "four",
	}
	if !maps.Equal(held, want) {
		t.Errorf("the archive contains %q", held)
	}
	if did := c.audited(); did[0] != "codelab_export" {
		t.Errorf("the last audited action is %s", did[0])
	}
}

// An upload that breaks off at any point leaves nothing.
func TestAnInterruptedUploadLeavesNothing(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	body, opts := form{name: "a.bin", content: make([]byte, 3<<20)}.encode()
	for _, sent := range []int{0, 100, 200_000, len(body) - 10} {
		r, w := io.Pipe()
		req, err := http.NewRequest(http.MethodPost, anyNode(c.admin.base)+"/api/upload/material", r)
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = int64(len(body))
		c.admin.authenticate(req)
		opts[0](req)
		go func() {
			_, _ = w.Write(body[:sent])
			_ = w.CloseWithError(io.ErrClosedPipe)
		}()
		if res, err := c.admin.http.Do(req); err == nil {
			_ = res.Body.Close()
			t.Errorf("after %d bytes, the upload returned %s", sent, res.Status)
		}
	}
	deadline := time.Now().Add(testTimeout)
	for len(filesIn(t, cfg.Server.Data)) > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("files left behind: %q", filesIn(t, cfg.Server.Data))
		}
	}
}
