package rest

import "golang.org/x/sys/unix"

const established = 1 // TCP state

// hungUp reports whether the peer has closed the connection. It reads the TCP state instead of the
// socket, because unread bytes can precede the end, such as the close alert of TLS.
func hungUp(fd int) bool {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	return err == nil && info.State != established
}
