package acceptance

import (
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestOnAFullDiskTheServerServesReadsAndRefusesWrites(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	s := startUntilStopped(t, cfg)
	c := newClassOn(t, s.Addr(), record{})
	lin := c.attendee("Lin")
	lin.post(c.path+"/messages", record{"type": "chat", "message": "before"}).want(200)
	before := c.everything()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	cfg.Storage.MinFreeMiB = 1 << 40 // more than any disk has
	s = startServer(t, cfg)
	for _, b := range []*browser{c.admin, lin.browser} {
		b.base = "http://" + s.Addr()
	}
	if status, body := internal(s.InternalAddr(), "/readyz"); status != 503 || !strings.Contains(body, `"read_only":true`) || !strings.Contains(body, `"reason":"disk_full"`) {
		t.Errorf("readyz returned %d %s", status, body)
	}
	live := lin.connect(c.id, "")
	if e := live.ask(record{"type": "chat", "message": "x"}, "r"); e.kind() != "error" || !strings.Contains(e.text("error"), "read-only") {
		t.Errorf("received %v", e)
	}
	for _, a := range []answer{
		lin.post(c.path+"/messages", record{"type": "chat", "message": "x"}), lin.post(c.path+"/help", record{"step_number": 1}),
		c.admin.put(c.path, record{"title": "T"}), c.admin.post("/codelabs", record{"title": "T"}), c.admin.delete(c.path),
		c.admin.post("/admin/tokens", record{"name": "t"}),
		lin.hand(c, "a.txt", []byte("a")), lin.sendFile("/upload/image", "a.png", onePixel), c.admin.sendFile("/upload/material", "a", []byte("a")), c.admin.upload([]byte(tutorial)), c.admin.post("/login", record{"admin_id": adminID, "admin_pw": adminPW}),
	} {
		a.refused(503, "read-only")
		if n, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || n < 1 {
			t.Errorf("%s: Retry-After is %q", a.what, a.header.Get("Retry-After"))
		}
	}
	if left := filesIn(t, cfg.Server.Data); len(left) != 0 {
		t.Errorf("files left behind: %q", left)
	}
	if after := c.everything(); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("the state is\n%s\nwant\n%s", after, before)
	}
}

// On a full disk, a facilitator can still sign in and delete.
func TestOnAFullDiskSpaceCanBeFreed(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	s := startUntilStopped(t, cfg)
	c := newClassOn(t, s.Addr(), record{})
	lin := c.attendee("Lin")
	up := c.admin.sendFile("/upload/material", "notes.txt", []byte("notes")).object()
	material := c.admin.post(c.path+"/materials", record{"title": "Notes", "material_type": "file", "file_path": up.text("url")}).object()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(cfg.Server.Data, &disk); err != nil {
		t.Fatal(err)
	}
	// The value is between the free space and twice the free space. The server then counts as full,
	// but half of the value, the reserve, is available for deletions.
	cfg.Storage.MinFreeMiB = int(disk.Bavail*uint64(disk.Bsize)>>20) * 3 / 2
	s = startServer(t, cfg)
	lin.base = "http://" + s.Addr()
	lin.post(c.path+"/messages", record{"type": "chat", "message": "x"}).refused(503, "read-only")
	admin := open(t, s.Addr())
	admin.post("/login", record{"admin_id": adminID, "admin_pw": adminPW}).want(200)
	admin.post("/codelabs", record{"title": "T"}).refused(503, "read-only")
	admin.delete(c.path + "/materials/" + material.text("id")).want(204)
	admin.get(up.text("url")).want(404)
	admin.delete(c.path).want(204)
	admin.get(c.path).want(404)
}
