package server

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// patientListener continues when the process or the machine runs out of resources for connections,
// such as descriptors. The HTTP server stops at any error from Accept, so a large number of idle
// connections could otherwise stop the whole service.
type patientListener struct {
	net.Listener
	// shed frees resources, if possible.
	shed func()
	// full reports whether the remaining descriptors are reserved. Nil means that they never are.
	full func() bool
	// pauses counts the pauses of Accept.
	pauses atomic.Uint64

	closed chan struct{} // closed by Close
	once   sync.Once
}

func patient(l net.Listener, shed func()) *patientListener {
	return &patientListener{Listener: l, shed: shed, closed: make(chan struct{})}
}

// The length of a pause. The first pause is short, because resources were just freed.
const (
	shortPause = 5 * time.Millisecond
	longPause  = 500 * time.Millisecond
)

// Accept waits for the next connection.
func (l *patientListener) Accept() (net.Conn, error) {
	for pause := shortPause; ; pause = min(2*pause, longPause) {
		if l.full == nil || !l.full() || l.over() {
			c, err := l.Listener.Accept()
			if err == nil || !passes(err) {
				return c, err
			}
		}
		l.pauses.Add(1)
		l.shed()
		select {
		case <-l.closed:
		case <-time.After(pause):
		}
	}
}

func (l *patientListener) over() bool {
	select {
	case <-l.closed:
		return true
	default:
		return false
	}
}

// Close ends Accept. A second call does nothing.
func (l *patientListener) Close() (err error) {
	l.once.Do(func() {
		close(l.closed)
		err = l.Listener.Close()
	})
	return err
}

// passes reports whether to continue after an error from Accept. Such an error means that resources
// are missing for the moment, that a client hung up in the queue, or that a firewall refused the
// connection.
func passes(err error) bool {
	for _, errno := range []syscall.Errno{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EPERM, syscall.EPROTO,
	} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}
