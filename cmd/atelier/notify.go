package main

import (
	"net"
	"os"
)

// notify reports the service's state to systemd (sd_notify(3)); elsewhere there is no
// NOTIFY_SOCKET and it does nothing. A service whose readiness is not heard is started and
// stopped all the same, so errors are dropped.
func notify(state string) {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return
	}
	// A name that begins with @ is of the abstract namespace, as Go has it too.
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = conn.Write([]byte(state))
}
