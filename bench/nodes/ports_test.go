//go:build linux

package nodes

import "testing"

// By default, Linux uses the ports from 32768 on for outgoing connections.
func TestFreePortsAreNotThoseOfOutgoingConnections(t *testing.T) {
	ports, err := freePorts(50)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, port := range ports {
		if port < 1024 || port >= 32768 || seen[port] {
			t.Errorf("port %d is privileged, used by outgoing connections, or returned twice", port)
		}
		seen[port] = true
	}
}
