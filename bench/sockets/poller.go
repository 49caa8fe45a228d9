//go:build linux

package sockets

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// batch is the maximum number of sockets served before the agenda runs again.
const batch = 128

// poller is an epoll set and an eventfd to wake its owner.
//
// A parked loop waits for the epoll descriptor in Go's own poller instead of in epoll_wait(2). A
// goroutine in a system call keeps its P until sysmon takes it away. If there is one P per core,
// this delays all other goroutines by up to 10 ms.
type poller struct {
	epoll        *os.File
	raw          syscall.RawConn
	epfd, wakefd int
	ready        [batch]unix.EpollEvent
}

func newPoller() (*poller, error) {
	epfd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create epoll: %w", err)
	}
	// os.NewFile gives a descriptor to Go's poller only when it is nonblocking.
	if err := unix.SetNonblock(epfd, true); err != nil {
		unix.Close(epfd)
		return nil, fmt.Errorf("set epoll nonblocking: %w", err)
	}
	wakefd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		unix.Close(epfd)
		return nil, fmt.Errorf("create eventfd: %w", err)
	}
	p := &poller{epfd: epfd, wakefd: wakefd, epoll: os.NewFile(uintptr(epfd), "epoll")}
	if p.raw, err = p.epoll.SyscallConn(); err != nil {
		p.close()
		return nil, fmt.Errorf("reach epoll: %w", err)
	}
	// Every write to an edge-triggered eventfd is an event, so it is never read.
	if err := p.control(unix.EPOLL_CTL_ADD, wakefd, unix.EPOLLIN|unix.EPOLLET, 0); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// control changes the watched events of a descriptor. Id 0 is the eventfd.
func (p *poller) control(op, fd int, events uint32, id uint64) error {
	ev := unix.EpollEvent{Events: events, Fd: int32(uint32(id)), Pad: int32(uint32(id >> 32))}
	if err := unix.EpollCtl(p.epfd, op, fd, &ev); err != nil {
		return fmt.Errorf("watch socket: %w", err)
	}
	return nil
}

// id returns the id of an event's connection.
func id(ev unix.EpollEvent) uint64 { return uint64(uint32(ev.Fd)) | uint64(uint32(ev.Pad))<<32 }

// poll returns the ready events. The slice is valid until the next call.
func (p *poller) poll() []unix.EpollEvent {
	n, err := unix.EpollWait(p.epfd, p.ready[:], 0)
	if err != nil {
		return nil
	}
	return p.ready[:n]
}

// park returns when something is ready, the poller was woken, or the timeout has passed.
func (p *poller) park(atMost time.Duration) {
	if atMost <= 0 {
		return
	}
	if err := p.epoll.SetReadDeadline(time.Now().Add(min(atMost, time.Hour))); err != nil {
		return
	}
	asked := false
	_ = p.raw.Read(func(uintptr) bool {
		// The first call checks whether waiting is necessary at all. The runtime's record of an
		// earlier edge can be stale, or not exist yet.
		if !asked {
			asked = true
			return p.pending()
		}
		return true
	})
}

// pending reports whether an event is ready, without consuming it.
func (p *poller) pending() bool {
	fds := [1]unix.PollFd{{Fd: int32(p.epfd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds[:], 0)
	return err != nil || n > 0
}

// wake ends park. It is safe for concurrent use, but not after close.
func (p *poller) wake() {
	one := [8]byte{0: 1}
	_, _ = unix.Write(p.wakefd, one[:])
}

func (p *poller) close() {
	p.epoll.Close()
	unix.Close(p.wakefd)
}
