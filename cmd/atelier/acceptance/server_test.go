package acceptance

import (
	"log/slog"
	"os"
	"sync"
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
	return configOn(t.TempDir())
}

func configOn(data string) config.Config {
	c := config.Default()
	c.Server.Listen, c.Server.InternalListen = "127.0.0.1:0", "127.0.0.1:0"
	c.Server.Data = data
	c.Server.ReconnectSpread = config.Duration(10 * time.Millisecond)
	c.Server.DrainTimeout = config.Duration(10 * time.Second)
	c.Admin.Password = adminPW
	c.Storage.MemtableMiB = 16
	c.Storage.MinFreeMiB = 64
	return c
}

// startServer runs the whole server in this process until the test ends.
func startServer(t testing.TB, c config.Config) *service.Service {
	t.Helper()
	s := startUntilStopped(t, c)
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return s
}

// startUntilStopped runs the whole server; the caller stops it.
func startUntilStopped(t testing.TB, c config.Config) *service.Service {
	t.Helper()
	if _, err := c.Check(); err != nil {
		t.Fatal(err)
	}
	s, err := service.Start(c, service.Options{}, slog.New(slog.NewTextHandler(&suiteLog, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// common is the server of all tests that need no configuration of their own.
// Each makes its own codelab, so they do not meet. It trusts proxies on
// loopback, so that a test can come from an address of its own, and counts no
// writes, since all tests share one address.
var common sharedServer

type sharedServer struct {
	once sync.Once
	s    *service.Service
	data string
}

func (c *sharedServer) get(t testing.TB) *service.Service {
	t.Helper()
	c.once.Do(func() {
		data, err := os.MkdirTemp("", "atelier-acceptance-*")
		if err != nil {
			t.Fatal(err)
		}
		c.data = data
		cfg := configOn(data)
		cfg.Server.TrustedProxies = []string{"127.0.0.0/8"}
		cfg.Server.AllowedOrigins = []string{"https://app.example.org"}
		cfg.Limits.WritesPerMinute, cfg.Limits.UploadsPerMinute = 0, 0
		c.s = startUntilStopped(t, cfg)
	})
	if c.s == nil {
		t.Fatal("the common server did not start")
	}
	return c.s
}

func (c *sharedServer) stop() {
	if c.s != nil {
		_ = c.s.Stop()
		_ = os.RemoveAll(c.data)
	}
}
