//go:build !linux

package live

import "net"

// plug gives a session its wire.
func (l *loop) plug(s *Session, conn net.Conn) error {
	s.wire = newPipe(l, s, conn)
	return nil
}

// listen makes the loop hear from the session.
func (l *loop) listen(s *Session) error {
	s.wire.(*pipe).start()
	return nil
}

// read and roomy are for polled sockets, of which there are none.
func (l *loop) read(*Session, bool) {}
func (l *loop) roomy(*Session)      {}

// Beneath returns what a TLS connection over c is to be made of: c itself.
func Beneath(c net.Conn) net.Conn { return c }
