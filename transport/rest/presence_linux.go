package rest

import "golang.org/x/sys/unix"

const established = 1 // a state of TCP

// hungUp says that the peer has closed. It asks for the state of the
// connection, since the end may stand behind bytes that nobody has read: those
// with which TLS says goodbye.
func hungUp(fd int) bool {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	return err == nil && info.State != established
}
