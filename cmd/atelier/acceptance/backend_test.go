package acceptance

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/service"
	"atelier/transport/control"
)

// A server with the memory store works like any other server, but stores nothing permanently and
// warns about that.
func TestTheServerRunsWithTheMemoryStore(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Storage.Backend = config.Memory
	warnings, err := cfg.Check()
	if err != nil || !strings.Contains(strings.Join(warnings, "\n"), "storage.backend is memory") {
		t.Errorf("the check returned %q, %v", warnings, err)
	}
	s := startUntilStopped(t, cfg)
	c := newClassOn(t, s.Addr(), record{})
	ann := c.join(open(t, c.addr), record{"name": "Ann"})
	live := ann.connect(c.id, "")
	live.acked(record{"type": "chat", "message": "kept for now"}, "r")
	if messages := texts(c.admin.get(c.path+"/chat").list(), "message"); len(messages) != 1 || messages[0] != "kept for now" {
		t.Errorf("the chat is %q", messages)
	}
	client, err := control.Dial(cfg.Server.Data)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Backup(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "no backup") {
		t.Errorf("a backup returned %v", err)
	}
	client.Close()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	again := startServer(t, cfg)
	admin := open(t, again.Addr())
	admin.post("/login", record{"admin_id": adminID, "admin_pw": adminPW}).want(200)
	admin.get(c.path).want(404)
}

func TestTheMemoryBackendRefusesAFolderWithAStore(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	if err := startUntilStopped(t, cfg).Stop(); err != nil {
		t.Fatal(err)
	}
	cfg.Storage.Backend = config.Memory
	if s, err := service.Start(cfg, service.Options{}, slog.New(slog.DiscardHandler)); err == nil {
		_ = s.Stop()
		t.Error("the server started in a folder with a store")
	} else if !strings.Contains(err.Error(), "storage.backend") {
		t.Error(err)
	}
}
