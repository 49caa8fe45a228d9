//go:build linux

package sockets

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// Resolve returns the address of a host and port for Target.
func Resolve(hostPort string) (unix.Sockaddr, error) {
	addr, err := net.ResolveTCPAddr("tcp", hostPort)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", hostPort, err)
	}
	if four := addr.IP.To4(); four != nil {
		return &unix.SockaddrInet4{Port: addr.Port, Addr: [4]byte(four)}, nil
	}
	return &unix.SockaddrInet6{Port: addr.Port, Addr: [16]byte(addr.IP.To16())}, nil
}

// perSource is the maximum number of connections from one loopback address. The kernel has 28,000
// ports for a pair of addresses, and some of them stay unavailable for a minute after their
// connections have ended.
const perSource = 12_000

// Source returns the address from which the n-th client connects to the server: 127.0.0.1 and
// higher for a server on IPv4 loopback, otherwise nil.
func Source(server unix.Sockaddr, n int) unix.Sockaddr {
	four, ok := server.(*unix.SockaddrInet4)
	if !ok || four.Addr[0] != 127 {
		return nil
	}
	return &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, byte(1 + n/perSource)}}
}
