package rest

import (
	"crypto/tls"
	"net"
	"syscall"

	"atelier/transport/httpapi"
)

// errLeft is returned when the client has disconnected. Such a client rarely receives the error.
var errLeft = &httpapi.Error{Status: 400, Text: "the client left before the end"}

// present returns errLeft if the client has closed its connection.
func (r *Request) present() error {
	if closed(r.Conn()) {
		return errLeft
	}
	return nil
}

// closed reports whether the peer or this server has closed the connection. It consumes no data that
// the client has already sent. A connection without a descriptor counts as open.
func closed(c net.Conn) bool {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	s, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	gone := false
	err = raw.Control(func(fd uintptr) { gone = hungUp(int(fd)) })
	return gone || err != nil
}
