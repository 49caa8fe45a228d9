package acceptance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
)

// try uploads a file to a server that can be killed during the upload. It returns the record if the
// server acknowledged the upload.
func (p *person) try(c *class, content []byte) record {
	body, opts := form{name: "a.bin", content: content}.encode()
	req, err := http.NewRequest(http.MethodPost, anyNode(p.base)+"/api"+c.path+"/attendees/"+p.id+"/submissions", bytes.NewReader(body))
	if err != nil {
		return nil
	}
	p.authenticate(req)
	opts[0](req)
	res, err := p.http.Do(req)
	if err != nil {
		return nil
	}
	defer res.Body.Close()
	var made record
	if b, err := io.ReadAll(res.Body); err != nil || res.StatusCode != 200 || json.Unmarshal(b, &made) != nil {
		return nil
	}
	return made
}

// An acknowledged file survives a kill. An interrupted upload leaves no partial file.
func TestFilesSurviveSIGKILL(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the binary")
	}
	path, data := binary(t), t.TempDir()
	cmd, addr := run(t, path, data)
	c := newClassOn(t, addr, record{})
	people := []*person{c.attendee("Lin"), c.attendee("Max")}
	held := map[string]string{} // contents of acknowledged files, by path
	var mu sync.Mutex
	for round := range 3 {
		enough := make(chan struct{})
		kill := sync.OnceFunc(func() { close(enough) })
		var uploads sync.WaitGroup
		for i, p := range people {
			uploads.Go(func() {
				defer kill() // if the test fails
				for n := range 12 {
					content := fmt.Sprintf("%d %d %d %0*d", round, i, n, 300_000, n)
					made := p.try(c, []byte(content))
					if made == nil {
						return
					}
					mu.Lock()
					held[made.text("file_path")] = content
					mu.Unlock()
					if n == 5 {
						kill()
					}
				}
			})
		}
		<-enough
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		uploads.Wait()
		cmd, addr = run(t, path, data)
		for _, b := range []*browser{c.admin, people[0].browser, people[1].browser} {
			b.base = "http://" + addr
			b.http.CloseIdleConnections()
		}
		for file, content := range held {
			if got := c.admin.get(file); got.status != 200 || string(got.body) != content {
				t.Fatalf("round %d: reading the acknowledged %s returned %d, %d bytes", round, file, got.status, len(got.body))
			}
		}
		if half, _ := filepath.Glob(filepath.Join(data, "blobs", "tmp", "*")); len(half) > 0 {
			t.Errorf("round %d: partial files left: %q", round, half)
		}
	}
	if len(held) < 3*6 {
		t.Errorf("only %d files were acknowledged", len(held))
	}
}
