package acceptance

import (
	"io"
	"log/slog"
	"testing"
	"time"

	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/service"
)

const (
	adminID = "admin"
	adminPW = "correct horse battery"
)

// testConfig is a configuration for a server on free ports and a temporary
// folder, with small buffers.
func testConfig(t testing.TB) config.Config {
	t.Helper()
	c := config.Default()
	c.Server.Listen, c.Server.InternalListen = "127.0.0.1:0", "127.0.0.1:0"
	c.Server.Data = t.TempDir()
	c.Server.ReconnectSpread = config.Duration(10 * time.Millisecond)
	c.Server.DrainTimeout = config.Duration(10 * time.Second)
	c.Admin.Password = adminPW
	c.Storage.MemtableMiB = 16
	return c
}

// startServer runs the whole server in this process until the test ends.
func startServer(t testing.TB, c config.Config) *service.Service {
	t.Helper()
	if _, err := c.Check(); err != nil {
		t.Fatal(err)
	}
	s, err := service.Start(c, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return s
}
