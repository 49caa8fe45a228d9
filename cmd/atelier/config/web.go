package config

import (
	"net"
	"net/url"
	"strings"

	"golang.org/x/net/idna"
)

// Web is about the browser app.
type Web struct {
	Embed []string `toml:"embed" doc:"Hosts (player.example.org, or *.example.org for all below it) whose pages may be shown in steps, by https and after a press; links lead to all others. Their scripts run in the reader's browser, without access to this server."`
}

func (w *Web) check(publicURL string, bad func(string, ...any)) {
	own := ""
	if u, err := url.Parse(publicURL); err == nil {
		own = strings.ToLower(u.Hostname())
	}
	for _, h := range w.Embed {
		switch name, all := strings.CutPrefix(h, "*."); {
		case !isHost(name):
			bad("web.embed: %q is no host like player.example.org or *.example.org", h)
		case own != "" && (!all && own == name || all && strings.HasSuffix(own, "."+name)):
			// With this server's origin a page in a frame could do what its reader may.
			bad("web.embed: %q is this server itself (server.public_url)", h)
		}
	}
}

// isHost says whether a text is the name of a host as it stands in addresses: in small
// letters, with a dot, and no address of a machine.
func isHost(s string) bool {
	ascii, err := idna.Registration.ToASCII(s)
	return err == nil && ascii == s && strings.Contains(s, ".") && net.ParseIP(s) == nil && len(s) <= 253
}
