package acceptance

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// The test reads the log that the real binary writes, so it builds and starts the binary.
func TestTheAccessLogNamesTheCallerAndHasUnits(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the binary")
	}
	dir, addr := t.TempDir(), freeAddr(t)
	config := "[server]\nlisten = \"" + addr + "\"\ninternal_listen = \"\"\n[log]\nformat = \"json\"\naccess = true\n[storage]\nmin_free_mib = 64\n"
	if err := os.WriteFile(filepath.Join(dir, "c.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary(t), "serve", "--config", filepath.Join(dir, "c.toml"), "--data", filepath.Join(dir, "data"))
	cmd.Env = append(os.Environ(), "ADMIN_PW="+adminPW)
	out, err := cmd.StderrPipe()
	if err = errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(5*testTimeout, func() { _ = cmd.Process.Kill() })
	defer stop.Stop()
	lines := json.NewDecoder(out)
	next := func() (line map[string]any) {
		if err := lines.Decode(&line); err != nil {
			t.Fatal(err)
		}
		return line
	}
	for line := next(); line["msg"] != "listening"; line = next() {
	}
	c := newClassOn(t, addr, record{})
	lin := c.attendee("Lin")
	lin.get(c.path + "/chat").want(200)
	// The requests return a body in memory, a stream, a file, a range of a file, and an empty body.
	sent := map[string][]int{}
	notes := func(key string, a answer, bytes int) {
		sent[key] = append(sent[key], bytes)
		if a.status/100 != 2 {
			t.Errorf("%s returned status %d", key, a.status)
		}
	}
	a := lin.get(c.path + "/polls")
	notes("GET /api/codelabs/"+c.id+"/polls", a, len(a.body))
	a = c.admin.get(c.path + "/export")
	notes("GET /api/codelabs/"+c.id+"/export", a, len(a.body))
	picture := c.admin.sendFile("/upload/image", "a.png", pixel(7)).object().text("url")
	a = lin.get(picture)
	notes("GET /uploads/images/…", a, len(a.body))
	notes("GET /uploads/images/…", lin.get(picture, header("Range", "bytes=3-9")), 7)
	notes("HEAD /uploads/images/…", lin.send("HEAD", picture, nil), 0)
	_ = cmd.Process.Signal(os.Interrupt)
	rest, err := io.ReadAll(io.MultiReader(lines.Buffered(), out))
	if err = errors.Join(err, cmd.Wait()); err != nil {
		t.Fatal(err)
	}
	var stops []string
	who, units, logged := map[string]string{}, 0, map[string][]int{}
	for line := range bytes.Lines(rest) {
		var l struct {
			Msg, Method, Path, Who string
			TookMs                 *float64 `json:"took_ms"`
			Bytes                  *int
			Took                   any
		}
		if json.Unmarshal(line, &l) != nil {
			continue
		}
		if l.Took != nil || l.Msg == "request" && (l.TookMs == nil || l.Bytes == nil) {
			t.Errorf("a line without units: %s", line)
		}
		if l.TookMs != nil {
			units++
		}
		if key := l.Method + " " + l.Path; l.Bytes != nil && sent[key] != nil {
			logged[key] = append(logged[key], *l.Bytes)
		}
		who[l.Method+" "+l.Path] = l.Who
		if strings.HasPrefix(l.Msg, "stop") {
			stops = append(stops, l.Msg)
		}
	}
	if got := who["GET /api/codelabs/"+c.id+"/chat"]; got != "attendee "+lin.id {
		t.Errorf("the caller of the chat request is logged as %q", got)
	}
	if got := who["POST /api/codelabs"]; len(got) < len("admin login:") || got[:len("admin login:")] != "admin login:" {
		t.Errorf("the caller who created the codelab is logged as %q", got)
	}
	// A response is logged after it is sent, so two connections can log in another order.
	for _, requests := range []map[string][]int{logged, sent} {
		for _, bytes := range requests {
			slices.Sort(bytes)
		}
	}
	if !reflect.DeepEqual(logged, sent) {
		t.Errorf("bytes are logged as %v, want %v", logged, sent)
	}
	if len(stops) != 1 {
		t.Errorf("an interrupt is logged as %q, want one line", stops)
	}
	if units < 4 {
		t.Errorf("fewer than 4 durations in the log\n%s", rest)
	}
}
