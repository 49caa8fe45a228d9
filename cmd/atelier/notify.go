package main

import (
	"net"
	"os"
)

// notify reports the service's state to systemd (sd_notify(3)). Without NOTIFY_SOCKET it does
// nothing. Errors are ignored, because systemd starts and stops a service even if it misses a
// notification.
func notify(state string) {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return
	}
	// systemd and Go both use @ at the beginning of a name for the abstract namespace.
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = conn.Write([]byte(state))
}
