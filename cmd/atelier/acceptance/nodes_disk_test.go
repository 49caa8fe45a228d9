package acceptance

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/service"
	"atelier/persistence/postgres/postgrestest"
)

// fullable puts the data folder of a server on a separate disk. fill uses all its space, and free
// releases that space.
func fullable(t *testing.T, cfg *config.Config) (fill, free func()) {
	t.Helper()
	if err := os.MkdirAll(cfg.Server.Data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", cfg.Server.Data, "tmpfs", 0, "size=16m,mode=700"); err != nil {
		if errors.Is(err, syscall.EPERM) {
			t.Skip("mounting a disk of a fixed size requires root")
		}
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(cfg.Server.Data, syscall.MNT_DETACH) })
	cfg.Storage.MinFreeMiB = 1
	ballast := filepath.Join(cfg.Server.Data, "ballast")
	fill = func() {
		f, err := os.Create(ballast)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		block := make([]byte, 64<<10)
		for ; len(block) > 0; block = block[:len(block)/2] {
			for err == nil {
				_, err = f.Write(block)
			}
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
			err = nil
		}
	}
	return fill, func() {
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	}
}

// readiness returns a server's response to /readyz.
func readiness(s *service.Service) (status int, body record) {
	status, text := internal(s.InternalAddr(), "/readyz")
	_ = json.Unmarshal([]byte(text), &body)
	return status, body
}

// A node reports that its disk is full, and refuses everything that needs reliable storage. In an
// earlier version, such a node lost anonymous votes, and stopped tokens and polls on every node.
func TestANodeWithAFullDiskRefusesWhatItCannotStore(t *testing.T) {
	t.Parallel()
	cfgs := nodeConfigs(t, 3, postgrestest.Database(t), testConfig(t))
	fill, free := fullable(t, &cfgs[1])
	nodes := startLasting(t, cfgs)
	m := newMarket(t, nodes[0].Addr(), production)
	c := newClassOn(t, nodes[0].Addr(), record{})
	var people []*person
	for i := range 6 {
		people = append(people, c.attendee(fmt.Sprint("Voter ", i)))
	}
	anonymous := func() record {
		return c.admin.post(c.path+"/polls", record{"kind": "choice", "question": "Which?", "options": []string{"a", "b"}, "anonymous": true}).want(200).object()
	}
	unopened := anonymous()
	fill()
	poll := c.poll(record{"kind": "choice", "question": "Which?", "options": []string{"a", "b"}, "anonymous": true})
	for i, p := range people {
		p.vote(c, poll, record{"choice": []int{i % 2}}).want(200)
	}

	// Nodes with free disk space still create and redeem tokens.
	tokenize := func(node int) string {
		status, code, token := m.platform.answered(nodes[node].Addr()+m.path, "/tokenize", record{"credential": visa(), "binding": m.binding("full")})
		if status != 200 {
			t.Fatalf("tokenize on node %d returned %d %s", node+1, status, code)
		}
		return token
	}
	first, third := tokenize(0), tokenize(2)
	if status, code, number := m.psp.answered(nodes[2].Addr()+m.path, "/detokenize", record{"token": first, "binding": m.binding("full")}); number != cardNumber {
		t.Errorf("detokenize returned %d %s", status, code)
	}

	eventual(t, "the node reports its full disk", func() bool {
		status, body := readiness(nodes[1])
		return status == 503 && body["reason"] == "disk_full" && body["error"] == body["why"] && body["error"] != nil
	})
	var health record
	eventual(t, "the other nodes report it", func() bool {
		health = part(t, c.admin, "nodes")
		text := health.text("text")
		list, _ := health["list"].([]any) // null while the database does not respond
		for _, n := range list {          // each node reports its own figures once per second
			if _, known := n.(map[string]any)["clock_offset_ms"].(float64); !known {
				return false
			}
		}
		return len(list) > 0 && health["ok"] == false && strings.Contains(text, "node2") && strings.Contains(text, "disk")
	})
	for _, n := range health["list"].([]any) {
		n := record(n.(map[string]any))
		if want := n.text("node") != "node2"; n["writable"] != want {
			t.Errorf("writable is wrong: %v", n)
		}
	}

	// The node with the full disk must refuse to open a poll, because it could lose the poll's
	// secret.
	c.admin.base = "http://" + nodes[1].Addr()
	refused := c.admin.send("POST", c.path+"/polls/"+unopened.text("id")+"/open", nil)
	if refused.status != 503 || strings.Contains(string(refused.body), "internal") {
		t.Errorf("opening a poll on the full node returned %d %s", refused.status, refused.body)
	}
	c.admin.base = "http://" + nodes[0].Addr()
	closed := c.admin.post(c.path+"/polls/"+poll.text("id")+"/close", nil).want(200).object()
	eventual(t, "the votes are counted", func() bool { // the node that has the secret can be slow to respond
		for _, p := range c.admin.get(c.path + "/polls").want(200).list() {
			if p.text("id") == poll.text("id") {
				closed = p
			}
		}
		return closed["counting"] == false
	})
	if fmt.Sprint(closed["counts"]) != "[3 3]" || closed["void"] != false {
		t.Errorf("the closed poll is %v", closed)
	}
	if left, _ := filepath.Glob(filepath.Join(cfgs[1].Server.Data, "secrets", "ballots-*")); len(left) != 0 {
		t.Errorf("ballot secrets left on the full node: %v", left)
	}

	// When the node has space again, it fetches the missing data before it serves.
	free()
	eventual(t, "the node is ready again", func() bool {
		status, _ := readiness(nodes[1])
		return status == 200
	})
	if status, code, number := m.psp.answered(nodes[1].Addr()+m.path, "/detokenize", record{"token": third, "binding": m.binding("full")}); number != cardNumber {
		t.Errorf("detokenize on the node that was full when the token was created: %d %s", status, code)
	}
}

// A node without space for copies can still serve uploaded files. It serves them even if it is the
// only node.
func TestReadingNeedsNoFreeDiskSpace(t *testing.T) {
	t.Parallel()
	cfgs := nodeConfigs(t, 1, postgrestest.Database(t), testConfig(t))
	fill, _ := fullable(t, &cfgs[0])
	node := startLasting(t, cfgs)[0]
	c := newClassOn(t, node.Addr(), record{})
	content := strings.Repeat("what somebody has sent\n", 40_000)
	dana := c.attendee("Dana")
	path := c.path + "/attendees/" + dana.id + "/submissions"
	sent := dana.sendFile(path, "long.txt", []byte(content)).want(200).object().text("id")
	if err := node.Stop(); err != nil {
		t.Fatal(err)
	}
	node = startLasting(t, cfgs)[0] // the new node has no copies of files yet
	fill()
	c.admin.base = "http://" + node.Addr()
	if got := c.admin.get(path + "/" + sent + "/file").want(200); string(got.body) != content {
		t.Errorf("read %d bytes of %d", len(got.body), len(content))
	}
	part := c.admin.get(path+"/"+sent+"/file", header("Range", "bytes=23-45")).want(206)
	if string(part.body) != content[23:46] {
		t.Errorf("the range is %q", part.body)
	}
	eventual(t, "the node reports its full disk", func() bool {
		status, body := readiness(node)
		return status == 503 && body["reason"] == "disk_full"
	})
	c.admin.post(c.path+"/polls", record{"lines": "Still here?\n- yes\n- no"}).want(200) // stored in the database
}
