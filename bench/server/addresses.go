package server

import (
	"net"
	"strings"
)

// addresses contains the addresses at which a server listens, according to its first log lines.
type addresses struct {
	public, internal string
}

// read handles a line of the server's log, in text or JSON. It reports whether both addresses have
// been found.
func (a *addresses) read(line string) bool {
	if strings.Contains(line, "listening") {
		if addr := attribute(line, "addr"); addr != "" {
			if strings.Contains(line, "internal") {
				a.internal = addr
			} else {
				a.public = addr
			}
		}
	}
	return a.public != "" && a.internal != ""
}

// attribute finds the value of a host:port attribute in a log line.
func attribute(line, key string) string {
	for _, start := range []string{" " + key + "=", `"` + key + `":`} {
		_, rest, found := strings.Cut(line, start)
		if !found {
			continue
		}
		rest = strings.TrimPrefix(strings.TrimSpace(rest), `"`)
		if end := strings.IndexAny(rest, "\" ,}\t"); end >= 0 {
			rest = rest[:end]
		}
		if _, _, err := net.SplitHostPort(rest); err == nil {
			return rest
		}
	}
	return ""
}
