package rest

import (
	"crypto/tls"
	"net"
	"syscall"
)

// errLeft ends the work for a client that has left; hardly anybody reads it.
var errLeft = &statusError{status: 400, text: "the client left before the end"}

// present fails when the client has closed its connection. It looks without
// reading, so what a client sends ahead stays where it is; a connection that
// cannot be looked at counts as open.
func (r *Request) present() error {
	c := r.Conn()
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if closed(c) {
		return errLeft
	}
	return nil
}

// closed says that the peer has closed the connection.
func closed(c net.Conn) bool {
	s, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	gone := false
	err = raw.Control(func(fd uintptr) {
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		gone = n == 0 && err == nil || err == syscall.ECONNRESET
	})
	return gone || err != nil
}
