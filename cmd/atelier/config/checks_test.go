package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// In an earlier version, durations needed no unit, and drain_timeout = 30 meant 30 nanoseconds.
func TestADurationNeedsAUnit(t *testing.T) {
	for text, want := range map[string]string{
		"[server]\n\ndrain_timeout = 30\n":                        `line 3: server.drain_timeout is a duration and needs a unit, like "30s", "5m" or "8h"`,
		"[live]\nping_interval = 1.5\n":                           `line 2: live.ping_interval is a duration`,
		"[server]\ndrain_timeout = \"30\"\n":                      `"30" is not a duration`,
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
		t.Error("a duration without a unit in the environment is accepted")
	}
	if c, err := Load("", []string{"ATELIER_LOG_ACCESS=true"}); err != nil || !c.Log.Access {
		t.Errorf("a switch in the environment is not read: %v", err)
	}
}

func TestInvalidSettingsAreRefused(t *testing.T) {
	for want, set := range map[string]func(c *Config){
		"server.listen":           func(c *Config) { c.Server.Listen = "127.0.0.1:80800" },
		"server.internal_listen":  func(c *Config) { c.Server.InternalListen = "127.0.0.1:http" },
		"ping_interval":           func(c *Config) { c.Live.PingInterval = c.Live.IdleTimeout },
		"allowed_origins":         func(c *Config) { c.Server.AllowedOrigins = []string{"example.org"} },
		"not an origin":           func(c *Config) { c.Server.AllowedOrigins = []string{"https://example.org/app"} },
		"shutdown_delay":          func(c *Config) { c.Server.ShutdownDelay = -1 },
		"live.replay_events":      func(c *Config) { c.Live.ReplayEvents = 0 },
		"live.slow_timeout":       func(c *Config) { c.Live.SlowTimeout = 0 },
		"joins_per_second":        func(c *Config) { c.Limits.JoinsFrom = -1 },
		"not a host like":         func(c *Config) { c.Web.Embed = []string{"https://player.example.org"} },
		"\"*\" is not a host":     func(c *Config) { c.Web.Embed = []string{"*"} },
		"\"*.org\" is not a host": func(c *Config) { c.Web.Embed = []string{"*.org"} },
		"127.0.0.1":               func(c *Config) { c.Web.Embed = []string{"127.0.0.1"} },
		"example.org; x":          func(c *Config) { c.Web.Embed = []string{"example.org; x"} },
		"\"127.1\" is not a host": func(c *Config) { c.Web.Embed = []string{"127.1"} },
		"127.0.0.0x1":             func(c *Config) { c.Web.Embed = []string{"127.0.0.0x1"} },
		"*.0.1":                   func(c *Config) { c.Web.Embed = []string{"*.0.1"} },
		"\"example.org.\" is not": func(c *Config) { c.Web.Embed = []string{"example.org."} },
		"example.org.\" is not":   func(c *Config) { c.Web.FrameAncestors = []string{"https://learn.example.org."} },
		"lab.example.org\" is this": func(c *Config) {
			c.Server.PublicURL, c.Web.Embed = "https://lab.example.org.", []string{"lab.example.org"}
		},
		"is this server itself": func(c *Config) {
			c.Server.PublicURL, c.Web.Embed = "https://Lab.example.org:8443", []string{"lab.example.org"}
		},
		"*.example.org\" is this": func(c *Config) {
			c.Server.PublicURL, c.Web.Embed = "https://lab.example.org", []string{"*.example.org"}
		},
		"needs at least one entry in urls": func(c *Config) { c.Live.IceServers = []IceServer{{Username: "u"}} },
		"not an address like stun":         func(c *Config) { c.Live.IceServers = []IceServer{{URLs: []string{"https://stun.example.org"}}} },
	} {
		c := Default()
		set(&c)
		if _, err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("an invalid setting (%s): got the error %v", want, err)
		}
	}
	c := Default()
	c.Server.AllowedOrigins = []string{"https://example.org", "http://localhost:5173"}
	if _, err := c.Check(); err != nil {
		t.Error(err)
	}
}

// ICE servers can be configured in the file and in the environment. Every visitor of the page can
// read their credentials, so checkconfig warns about them.
func TestIceServersAreConfigurable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	text := "[live]\nice_servers = [{urls = [\"stun:stun.example.org:3478\"]}, {urls = [\"turns:turn.example.org\"], username = \"u\", credential = \"c\"}]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(path, nil)
	if err != nil || len(c.Live.IceServers) != 2 || c.Live.IceServers[1].Username != "u" || c.Live.IceServers[1].URLs[0] != "turns:turn.example.org" {
		t.Fatalf("the servers in the file are %+v, %v", c.Live.IceServers, err)
	}
	warnings, err := c.Check()
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "turns:turn.example.org") {
		t.Errorf("the warnings are %q, %v", warnings, err)
	}
	var b strings.Builder
	if err := Write(&b, c); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err := Load(path, nil); err != nil || len(again.Live.IceServers) != 2 || again.Live.IceServers[1].Credential != "c" {
		t.Errorf("after writing and reading, the servers are %+v, %v", again.Live.IceServers, err)
	}
	c, err = Load("", []string{`ATELIER_LIVE_ICE_SERVERS=[{"urls":["stun:stun.example.org"]}]`})
	if err != nil || len(c.Live.IceServers) != 1 || c.Live.IceServers[0].URLs[0] != "stun:stun.example.org" {
		t.Errorf("the servers in the environment are %+v, %v", c.Live.IceServers, err)
	}
}

func TestWebhooksIntoTheInternalNetworkCauseAWarning(t *testing.T) {
	c := Default()
	c.Webhooks.AllowPrivate = true
	warnings, err := c.Check()
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "webhooks.allow_private") {
		t.Errorf("the warnings are %q, %v", warnings, err)
	}
}

func TestAmbiguousPathsInThePublicURLAreRefused(t *testing.T) {
	for address, good := range map[string]bool{
		"https://example.org": true, "https://example.org/": true, "https://example.org/lab": true, "https://example.org/lab/": true,
		"https://example.org/a/b-c_d.e~1": true, "https://example.org/Work": true,
		"https://example.org/api": false, "https://example.org/codelabs/x": false, "https://example.org/.well-known": false,
		"https://example.org/a//b": false, "https://example.org/../a": false, "https://example.org/a/./b": false, "https://example.org/a%2Fb": false,
		"https://example.org/ü": false, "https://example.org/a b": false, "https://example.org/a?b": false, "https://example.org/a#b": false,
		"https://u:p@example.org/a": false, "https://example.org/a;b": false, "https://example.org/a[": false, "https://example.org/a`": false, "https://example.org/a@": false,
	} {
		c := Default()
		c.Server.PublicURL = address
		c.Server.TrustedProxies = []string{"127.0.0.1/32"}
		_, err := c.Check()
		if got := err == nil; got != good {
			t.Errorf("%s: accepted is %v, want %v (%v)", address, got, good, err)
		}
	}
}

func TestOnlyValidOriginsMayFrameOrBeEmbedded(t *testing.T) {
	for origin, good := range map[string]bool{
		"https://learn.example.org": true, "https://learn.example.org:8443": true,
		"http://learn.example.org": false, "https://learn.example.org/": false, "https://*.example.org": false, "https://learn.example.org/a": false,
		"*": false, "'self'": false, "learn.example.org": false, "https://learn.example.org;": false, "https://learn.example.org https://b.example.org": false,
		"https://u@learn.example.org": false, "https://Learn.example.org": false, "": false,
	} {
		c := Default()
		c.Web.FrameAncestors = []string{origin}
		if _, err := c.Check(); (err == nil) != good {
			t.Errorf("%q: accepted is %v, want %v (%v)", origin, err == nil, good, err)
		}
	}
	for host, good := range map[string]bool{"learn.example.org": false, "*.example.org": false, "player.example.com": true} {
		c := Default()
		c.Web.FrameAncestors, c.Web.Embed = []string{"https://learn.example.org"}, []string{host}
		if _, err := c.Check(); (err == nil) != good {
			t.Errorf("embedding %s: accepted is %v, want %v (%v)", host, err == nil, good, err)
		}
	}
}
