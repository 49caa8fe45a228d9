//go:build !linux

package live

import "net"

// plug sets a session's wire.
func (l *loop) plug(s *Session, conn net.Conn) error {
	s.wire = newPipe(l, s, conn)
	return nil
}

// listen starts reading from the session.
func (l *loop) listen(s *Session) error {
	s.wire.(*pipe).start()
	return nil
}

// read and roomy do nothing: they are needed only for polled sockets, which do not exist on this
// system.
func (l *loop) read(*Session, bool) {}
func (l *loop) roomy(*Session)      {}

// Beneath returns l unchanged.
func Beneath(l net.Listener) net.Listener { return l }
