package acceptance

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A facilitator deletes messages while others chat. An earlier version rewrote the log from an
// outdated view, which removed newer messages. These messages were missing from the replay, and
// after a kill they were lost permanently.
func TestErasingDuringAChatLosesNoMessage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the binary")
	}
	path, data := binary(t), t.TempDir()
	cmd, addr := run(t, path, data)
	c := newClassOn(t, addr, record{})
	const talkers, each = 4, 250
	var mu sync.Mutex
	acked := map[string]bool{} // the text of every message that must not be lost
	start := ""
	var wg sync.WaitGroup
	for i := range talkers {
		p := c.join(open(t, addr), record{"name": fmt.Sprint("talker ", i), "code": "1"})
		live := p.connect(c.id, "")
		if start == "" {
			start = resume(live.welcome.text("epoch"), live.welcome.seq())
		}
		wg.Go(func() {
			for n := range each {
				text := fmt.Sprintf("t%d-%04d", i, n)
				if live.conn.WriteJSON(record{"type": "chat", "message": text, "ref": text}) != nil || !confirmed(live, text) {
					t.Errorf("%s was not acknowledged", text)
					return
				}
				mu.Lock()
				acked[text] = true
				mu.Unlock()
			}
		})
	}
	talking := make(chan struct{})
	go func() { wg.Wait(); close(talking) }()
	deleted := 0
	for deleting := true; deleting; deleted++ {
		c.admin.post(c.path+"/messages", record{"type": "chat", "message": "regretted"}).want(200)
		for _, m := range c.admin.get(c.path + "/chat?limit=1000").list() {
			if m.text("message") == "regretted" {
				c.admin.delete(c.path + "/chat/" + m.text("id")).want(204)
			}
		}
		select {
		case <-talking:
			deleting = false
		default:
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	_, addr = run(t, path, data)
	c.admin.base = "http://" + addr
	c.admin.http.CloseIdleConnections()

	stored := texts(c.admin.get(c.path+"/chat?limit=1000").list(), "message")
	again := c.admin.connect(c.id, start)
	c.admin.post(c.path+"/messages", record{"type": "chat", "message": "last"}).want(200)
	again.untilChat("last")
	if n := again.count("resync"); n != 0 {
		t.Fatalf("the client received %d resyncs, want none", n)
	}
	replayed := map[string]bool{}
	for _, m := range again.stored() {
		replayed[m.text("message")] = true
	}
	lost, missed := 0, 0
	for text := range acked {
		if !slices.Contains(stored, text) {
			lost++
		}
		if !replayed[text] {
			missed++
		}
	}
	if len(acked) != talkers*each || lost > 0 || missed > 0 {
		t.Errorf("%d messages acknowledged, %d lost, %d not replayed, after %d deletions", len(acked), lost, missed, deleted)
	}
	if replayed["regretted"] || slices.Contains(stored, "regretted") {
		t.Error("a deleted message is still present")
	}
}

// The test follows an operator whose disk has damaged files. The scrub finds the damage, and the
// server never returns damaged data. With a damaged log, the server starts only if the operator
// passes --recover-damaged.
func TestDamageIsReportedAndNotServed(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the binary")
	}
	path, data := binary(t), t.TempDir()
	cmd, addr := run(t, path, data)
	c := newClassOn(t, addr, record{})
	lin := c.join(open(t, addr), record{"name": "Lin", "code": "1"})
	up := c.admin.sendFile("/upload/material", "notes.txt", []byte(strings.Repeat("some notes ", 99))).object()
	c.admin.post(c.path+"/materials", record{"title": "Notes", "material_type": "file", "file_path": up.text("url")}).want(200)
	for i := range 20 {
		lin.post(c.path+"/messages", record{"type": "chat", "message": fmt.Sprintf("message number %02d", i)}).want(200)
	}
	scrub := func(want string, code int) {
		t.Helper()
		s := exec.Command(path, "scrub", "--data", data)
		s.Env = append(os.Environ(), "ATELIER_STORAGE_MEMTABLE_MIB=16")
		out, _ := s.CombinedOutput()
		if !strings.Contains(string(out), want) || s.ProcessState.ExitCode() != code {
			t.Errorf("scrub printed %q and ended with %d", out, s.ProcessState.ExitCode())
		}
	}
	scrub(" 0 damaged", 0)
	blobs, err := filepath.Glob(filepath.Join(data, "blobs/objects/*/*"))
	if err != nil || len(blobs) != 1 {
		t.Fatalf("the blobs are %v, %v, want one", blobs, err)
	}
	flipByte(t, blobs[0], 50)
	c.admin.get(up.text("url")).refused(500)
	scrub("damaged: blob "+filepath.Base(blobs[0]), 1)

	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	logs, err := filepath.Glob(filepath.Join(data, "store/*.mem"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("the logs are %v, %v, want at least one", logs, err)
	}
	b, err := os.ReadFile(logs[len(logs)-1])
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(b), "message number 10")
	if at < 0 {
		t.Fatal("the message is not in the log")
	}
	flipByte(t, logs[len(logs)-1], at)
	start := exec.Command(path, "serve", "--listen", "127.0.0.1:0", "--internal-listen", "", "--data", data)
	start.Env = append(os.Environ(), "ADMIN_PW="+adminPW, "ATELIER_STORAGE_MEMTABLE_MIB=16")
	if out, err := start.CombinedOutput(); err == nil || !strings.Contains(string(out), "--recover-damaged") {
		t.Fatalf("starting with a damaged log ended with %v\n%s", err, out)
	}
	// If only the lost part of the log refers to a file, the file now looks unused, but must stay.
	orphan := filepath.Join(data, "objects/workspaces/01a1ff23-4f33-7000-9267-5f9cae67a250/made-git")
	long := time.Now().AddDate(-1, 0, 0)
	err = errors.Join(os.MkdirAll(filepath.Dir(orphan), 0o700), os.WriteFile(orphan, nil, 0o600), os.Chtimes(orphan, long, long))
	if err != nil {
		t.Fatal(err)
	}
	cmd, addr = run(t, path, data, "--recover-damaged")
	c.admin.base = "http://" + addr
	c.admin.http.CloseIdleConnections()
	left := texts(c.admin.get(c.path+"/chat").list(), "message")
	if len(left) != 10 || left[9] != "message number 09" {
		t.Errorf("the recovered messages are %q", left)
	}
	_ = cmd.Process.Signal(os.Interrupt)
	_ = cmd.Wait()
	if exists(filepath.Join(data, "objects/aside")) {
		t.Error("the recovery swept files")
	}
	scrub("damaged: blob", 1) // scrub also finds the damage without a running server

	// Without its MANIFEST, the store would start empty.
	if err := os.Remove(filepath.Join(data, "store/MANIFEST")); err != nil {
		t.Fatal(err)
	}
	start = exec.Command(path, "serve", "--listen", "127.0.0.1:0", "--internal-listen", "", "--data", data)
	start.Env = append(os.Environ(), "ADMIN_PW="+adminPW, "ATELIER_STORAGE_MEMTABLE_MIB=16")
	if out, err := start.CombinedOutput(); err == nil || !strings.Contains(string(out), "MANIFEST: the file is missing") || !strings.Contains(string(out), "--recover-damaged") {
		t.Fatalf("starting without a MANIFEST ended with %v\n%s", err, out)
	}
	_, addr = run(t, path, data, "--recover-damaged")
	c.admin.base = "http://" + addr
	c.admin.http.CloseIdleConnections()
	if left := texts(c.admin.get(c.path+"/chat").list(), "message"); len(left) != 10 {
		t.Errorf("the recovered messages are %q", left)
	}
}

func flipByte(t *testing.T, path string, at int) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], int64(at)); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1
	if _, err := f.WriteAt(b[:], int64(at)); err != nil {
		t.Fatal(err)
	}
}
