package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestADurationNeedsAUnit: drain_timeout = 30 was 30 nanoseconds.
func TestADurationNeedsAUnit(t *testing.T) {
	for text, want := range map[string]string{
		"[server]\n\ndrain_timeout = 30\n":                        `line 3: server.drain_timeout is a duration and needs a unit, like "30s", "5m" or "8h"`,
		"[live]\nping_interval = 1.5\n":                           `line 2: live.ping_interval is a duration`,
		"[server]\ndrain_timeout = \"30\"\n":                      `"30" is no duration`,
		"[server]\ndrain_timeout = \"30s\"\nlisten = 8080\n":      `line 3`,
		"[server]\nlisten = \"[::1]:80\"\ndrain_timeout = \"1h\"": "",
	} {
		path := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(path, nil)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := Load("", []string{"ATELIER_SERVER_DRAIN_TIMEOUT=30"}); err == nil {
		t.Error("a number in the environment")
	}
	if c, err := Load("", []string{"ATELIER_LOG_ACCESS=true"}); err != nil || !c.Log.Access {
		t.Errorf("a switch in the environment: %v", err)
	}
}

// TestWhatCannotWorkIsRefused before the start.
func TestWhatCannotWorkIsRefused(t *testing.T) {
	for want, set := range map[string]func(c *Config){
		"server.listen":          func(c *Config) { c.Server.Listen = "127.0.0.1:80800" },
		"server.internal_listen": func(c *Config) { c.Server.InternalListen = "127.0.0.1:http" },
		"ping_interval":          func(c *Config) { c.Live.PingInterval = c.Live.IdleTimeout },
		"allowed_origins":        func(c *Config) { c.Server.AllowedOrigins = []string{"example.org"} },
		"no origin":              func(c *Config) { c.Server.AllowedOrigins = []string{"https://example.org/app"} },
		"shutdown_delay":         func(c *Config) { c.Server.ShutdownDelay = -1 },
	} {
		c := Default()
		set(&c)
		if _, err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	c := Default()
	c.Server.AllowedOrigins = []string{"https://example.org", "http://localhost:5173"}
	if _, err := c.Check(); err != nil {
		t.Error(err)
	}
}
