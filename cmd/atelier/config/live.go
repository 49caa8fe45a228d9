package config

import (
	"strings"
	"time"
)

// Live is the configuration section of WebSocket and SSE connections.
type Live struct {
	ReplayEvents int      `toml:"replay_events" min:"1" doc:"Number of recent events per codelab that are kept for reconnecting clients."`
	ReplayMiB    int      `toml:"replay_mib" min:"1" doc:"Maximum memory per codelab for these events, in MiB."`
	PingInterval Duration `toml:"ping_interval" min:"10ms" doc:"Silence after which the server pings a client."`
	IdleTimeout  Duration `toml:"idle_timeout" min:"10ms" doc:"Silence after which the server closes a connection; longer than ping_interval."`
	SlowTimeout  Duration `toml:"slow_timeout" min:"10ms" doc:"Maximum time for which a client reads nothing; then it must resync, or is disconnected."`

	IceServers []IceServer `toml:"ice_servers" doc:"STUN and TURN servers for shared screens: tables of urls, username, credential. Everybody can read them, so use short-lived credentials."`
}

// IceServer is a server through which browsers connect to each other, in WebRTC's format.
type IceServer struct {
	URLs       []string `toml:"urls" json:"urls"`
	Username   string   `toml:"username,omitempty" json:"username"`
	Credential string   `toml:"credential,omitempty" json:"credential"`
}

func defaultLive() Live {
	return Live{
		ReplayEvents: 50000, ReplayMiB: 64, PingInterval: Duration(30 * time.Second),
		IdleTimeout: Duration(75 * time.Second), SlowTimeout: Duration(20 * time.Second), IceServers: []IceServer{},
	}
}

func (l *Live) check(bad, warn func(string, ...any)) {
	if l.PingInterval >= l.IdleTimeout {
		bad("live.ping_interval must be shorter than live.idle_timeout, or every silent client is disconnected")
	}
	for _, s := range l.IceServers {
		if len(s.URLs) == 0 {
			bad("live.ice_servers: every server needs at least one entry in urls")
		}
		for _, u := range s.URLs {
			scheme, rest, _ := strings.Cut(u, ":")
			if rest == "" || scheme != "stun" && scheme != "stuns" && scheme != "turn" && scheme != "turns" {
				bad("live.ice_servers: %q is not an address like stun:stun.example.org:3478", u)
			}
		}
		if s.Credential != "" {
			warn("live.ice_servers: the credential of %s can be read by everybody who reaches this server", strings.Join(s.URLs, ", "))
		}
	}
}
