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

// Beneath returns l as a listener of TLS is to be made over it: as it is.
func Beneath(l net.Listener) net.Listener { return l }
