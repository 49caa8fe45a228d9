package acceptance

import (
	"strconv"
	"strings"
	"testing"
)

func TestOnAFullDiskTheServerReadsAndRefusesWrites(t *testing.T) {
	cfg := testConfig(t)
	s := startUntilStopped(t, cfg)
	c := newClassOn(t, s.Addr(), record{})
	lin := c.attendee("Lin")
	lin.post(c.path+"/messages", record{"type": "chat", "message": "before"}).want(200)
	before := c.everything()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	cfg.Storage.MinFreeMiB = 1 << 40 // no disk has so much
	s = startServer(t, cfg)
	for _, b := range []*browser{c.admin, lin.browser} {
		b.base = "http://" + s.Addr()
	}
	if status, body := internal(s.InternalAddr(), "/readyz"); status != 200 || !strings.Contains(body, `"read_only":true`) {
		t.Errorf("readyz: %d %s", status, body)
	}
	live := lin.connect(c.id, "")
	if e := live.ask(record{"type": "chat", "message": "x"}, "r"); e.kind() != "error" || !strings.Contains(e.text("error"), "read-only") {
		t.Errorf("heard %v", e)
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
		t.Errorf("left are %q", left)
	}
	if after := c.everything(); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("read are\n%s\nbefore\n%s", after, before)
	}
}
