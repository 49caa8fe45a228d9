package config

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/idna"
)

// Web is the configuration section of the browser app.
type Web struct {
	Embed          []string `toml:"embed" doc:"Hosts whose pages steps can show (player.example.org, or *.example.org for all subdomains), over https and after a click; other hosts become links. Their scripts run in the reader's browser, without access to this server."`
	FrameAncestors []string `toml:"frame_ancestors" doc:"Origins (https://learn.example.org) whose pages can show attendee pages in a frame. Facilitators always open a separate window. Empty: none."`
}

// ownPaths contains the first segments of the server's own paths, without a prefix.
var ownPaths = []string{
	"api", "uploads", "git", "assets", "handler", "sandbox", "schemas", ".well-known",
	"codelabs", "admin", "j", "login", "invite", "account", "certificate", "verify", "help",
}

// checkPrefix checks server.public_url. The address must have no user, query or fragment. Its path
// must satisfy isPrefix, and must not begin with one of ownPaths.
func checkPrefix(u *url.URL, bad func(string, ...any)) {
	path := strings.TrimRight(u.EscapedPath(), "/")
	switch {
	case u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		bad("server.public_url must be a host and a path, without a user, ? and #")
	case path == "":
	case !isPrefix(path):
		bad("server.public_url: each segment of the path %q must have only letters, digits, '-', '_', '.' and '~', and must be neither empty nor only dots", u.Path)
	case slices.Contains(ownPaths, strings.Split(path, "/")[1]):
		bad("server.public_url: the path must not begin with /%s, which the server has itself", strings.Split(path, "/")[1])
	}
}

// isPrefix reports whether each segment of a path has only letters, digits and "-_.~", and is
// neither empty nor only dots. Every proxy interprets such a path in the same way.
func isPrefix(path string) bool {
	for _, part := range strings.Split(path[1:], "/") {
		if part == "" || part[0] == '.' && strings.Trim(part, ".") == "" {
			return false
		}
		for _, c := range part {
			if c|0x20 < 'a' && (c < '0' || c > '9') && !strings.ContainsRune("-_.~", c) || c|0x20 > 'z' && c != '~' && c != '_' {
				return false
			}
		}
	}
	return true
}

func (w *Web) check(publicURL string, bad func(string, ...any)) {
	own := ""
	if u, err := url.Parse(publicURL); err == nil {
		own = strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	}
	ancestors := map[string]bool{}
	for _, o := range w.FrameAncestors {
		u, err := url.Parse(o)
		if err != nil || u.Scheme != "https" || u.Host == "" || o != "https://"+u.Host || strings.Contains(o, "*") || !isHost(u.Hostname()) {
			bad("web.frame_ancestors: %q is not an origin like https://learn.example.org", o)
			continue
		}
		ancestors[u.Hostname()] = true
	}
	for _, h := range w.Embed {
		switch name, all := strings.CutPrefix(h, "*."); {
		case !isHost(name):
			bad("web.embed: %q is not a host like player.example.org or *.example.org", h)
		case own != "" && (!all && own == name || all && strings.HasSuffix(own, "."+name)):
			// A framed page with this server's origin could do everything that its reader can do.
			bad("web.embed: %q is this server itself (server.public_url)", h)
		default:
			for a := range ancestors {
				if name == a || all && strings.HasSuffix(a, "."+name) {
					// Otherwise a step could show a page of the origin that has this server in a
					// frame.
					bad("web.embed: %q can show this server in its frames (web.frame_ancestors), so it cannot be embedded", h)
				}
			}
		}
	}
}

// isHost reports whether s is a host name as used in addresses: in lower case, with a dot that is
// not at the end, and not an IP address. Browsers treat every name that ends in a number as an IP
// address (127.1, 127.0.0.0x1).
func isHost(s string) bool {
	ascii, err := idna.Registration.ToASCII(s)
	last := s[strings.LastIndexByte(s, '.')+1:]
	return err == nil && ascii == s && len(last) < len(s) && last != "" && !isNumber(last) && len(s) <= 253
}

func isNumber(s string) bool {
	if hex, ok := strings.CutPrefix(s, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(s, "0123456789") == ""
}
