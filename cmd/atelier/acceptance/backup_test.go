package acceptance

import (
	"bytes"
	"slices"
	"testing"

	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/service"
	"atelier/transport/control"
)

// backup requests a backup from the running server, as the command backup does.
func backup(t *testing.T, data string) []byte {
	t.Helper()
	client, err := control.Dial(data)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var b bytes.Buffer
	if err := client.Backup(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// restore fills a data folder from a backup, as the command restore does.
func restore(t *testing.T, cfg config.Config, saved []byte) {
	t.Helper()
	if err := onceItCan(func() error { return service.Restore(cfg, bytes.NewReader(saved), "") }); err != nil {
		t.Fatal(err)
	}
}

func TestALaterBackupContainsNoRemovedData(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	lin := c.join(open(t, c.addr), record{"name": "erased-name", "email": "erased@example.org", "code": "1"})
	max := c.join(open(t, c.addr), record{"name": "kept-name", "email": "kept@example.org"})
	for _, p := range []struct {
		*person
		mark string
		at   int
	}{{lin, "erased", 0}, {max, "kept", 10}} {
		live := p.connect(c.id, "")
		live.acked(record{"type": "chat", "message": p.mark + "-chat"}, "c")
		live.acked(record{"type": "dm", "target_id": "facilitator", "message": p.mark + "-dm"}, "d")
		p.post(c.path+"/inline-comments", c.anchor(c.steps[0], p.at, p.at+5, p.mark+"-comment")).want(200)
		p.post(c.path+"/feedback", record{"difficulty": "1", "satisfaction": "1", "comment": p.mark + "-feedback"}).want(200)
		p.post(c.path+"/help", record{"step_number": 1}).want(200)
	}
	c.admin.post(c.path+"/messages", record{"type": "chat", "message": "deleted-chat"}).want(200)
	// Deletions in quick succession are erased together after a pause, for which a backup must wait.
	var helpers []string
	for _, login := range []string{"erased-1@example.org", "erased-2@example.org", "erased-3@example.org"} {
		helpers = append(helpers, c.admin.post("/admin/people", record{"login": login, "name": "Helper", "role": "assistant"}).want(200).object().text("id"))
	}
	chat := c.admin.get(c.path + "/chat").list()
	kept := []string{"kept-name", "kept@example.org", "kept-chat", "kept-dm", "kept-comment", "kept-feedback"}
	gone := []string{"erased-name", "erased@example.org", "erased-chat", "erased-dm", "erased-comment", "erased-feedback", "deleted-chat", "erased-1@", "erased-2@", "erased-3@"}
	holds := func(b []byte, marks []string) string {
		for _, mark := range marks {
			if bytes.Contains(b, []byte(mark)) {
				return mark
			}
		}
		return ""
	}
	first := backup(t, cfg.Server.Data)
	for _, mark := range append(kept, gone...) {
		if !bytes.Contains(first, []byte(mark)) {
			t.Fatalf("the first backup does not contain %s: this test looks for the wrong text", mark)
		}
	}
	c.admin.delete(c.path + "/attendees/" + lin.id).want(204)
	c.admin.delete(c.path + "/chat/" + chat[len(chat)-1].text("id")).want(204)
	for _, id := range helpers {
		c.admin.delete("/admin/people/" + id).want(204)
	}
	// The server cleans the journal after it responds, but always before a backup.
	last := backup(t, cfg.Server.Data)
	if mark := holds(last, gone); mark != "" {
		t.Fatalf("the backup still contains %s", mark)
	}
	for _, mark := range kept {
		if !bytes.Contains(last, []byte(mark)) {
			t.Errorf("the backup lacks %s", mark)
		}
	}
}

func TestARestoredBackupStartsANewEpoch(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	lin := c.attendee("Lin")
	live := lin.connect(c.id, "")
	live.acked(record{"type": "chat", "message": "in the backup"}, "a")
	saved := backup(t, cfg.Server.Data)
	before := c.everything()
	at := live.acked(record{"type": "chat", "message": "after the backup"}, "b").seq()

	restored := testConfig(t)
	restore(t, restored, saved)
	addr := startServer(t, restored).Addr()
	c.admin = facilitator(t, addr, "")
	if after := c.everything(); !slices.Equal(after, before) {
		t.Errorf("restored:\n%s\nsaved:\n%s", after, before)
	}
	// A client's earlier position is not valid in the restored stream.
	again := c.admin.connect(c.id, resume(live.welcome.text("epoch"), at))
	if m := again.next("resync"); m.text("reason") != "epoch" || m.text("epoch") == live.welcome.text("epoch") {
		t.Errorf("received %v, want a resync to another epoch", m)
	}
}
