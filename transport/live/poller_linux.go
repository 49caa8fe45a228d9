package live

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// pollBatch is the maximum number of events per poll.
const pollBatch = 256

// event describes the operations for which a session's socket is ready.
type event struct {
	id uint64
	// in means that bytes can be read, and out means that bytes can be written. hup means that the
	// peer has closed its side or the connection has failed, so the loop must read to the end.
	in, out, hup bool
}

// poller is an epoll set, edge-triggered, and an eventfd to wake its owner.
//
// A parked loop does not block in epoll_wait: it waits for the epoll descriptor itself in Go's
// poller, as any goroutine waits for a connection. A goroutine that blocks in a system call keeps
// its P until sysmon takes the P away, 20 us to 10 ms later. With one loop per CPU, such calls
// stall everything else. With poll(2) instead, a frame took 5 to 6 times as long to reach the
// client in an idle process (70 us instead of 12 us). With all CPUs busy it took 2.5 times as long.
// During a full fan-out, in which a loop never parks, there was no difference (go test -bench
// 'Wake|Fanout/conns=1000').
type poller struct {
	// Immutable after newPoller.
	epoll *os.File
	// Immutable after newPoller.
	raw syscall.RawConn
	// Immutable after newPoller.
	epfd, wakefd int

	// Owned by the loop goroutine.
	ready [pollBatch]unix.EpollEvent
	// Owned by the loop goroutine.
	events [pollBatch]event
}

func newPoller() (*poller, error) {
	epfd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create epoll: %w", err)
	}
	wakefd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		unix.Close(epfd)
		return nil, fmt.Errorf("create eventfd: %w", err)
	}
	p := &poller{epfd: epfd, wakefd: wakefd}
	// Every write to an edge-triggered eventfd is an event, so the poller never reads the eventfd.
	// Its id is 0; session ids begin at 1.
	wake := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET}
	if err := unix.EpollCtl(epfd, unix.EPOLL_CTL_ADD, wakefd, &wake); err != nil {
		unix.Close(epfd)
		unix.Close(wakefd)
		return nil, fmt.Errorf("watch eventfd: %w", err)
	}
	// os.NewFile adds a descriptor to Go's poller only if it is non-blocking.
	if err := unix.SetNonblock(epfd, true); err != nil {
		unix.Close(epfd)
		unix.Close(wakefd)
		return nil, fmt.Errorf("set epoll nonblocking: %w", err)
	}
	p.epoll = os.NewFile(uintptr(epfd), "epoll")
	if p.raw, err = p.epoll.SyscallConn(); err != nil {
		p.close()
		return nil, fmt.Errorf("reach epoll: %w", err)
	}
	return p, nil
}

// add watches a socket for the session with this id.
func (p *poller) add(fd int, id uint64) error {
	ev := unix.EpollEvent{
		Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET,
		Fd:     int32(uint32(id)),
		Pad:    int32(uint32(id >> 32)),
	}
	if err := unix.EpollCtl(p.epfd, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
		return fmt.Errorf("watch socket: %w", err)
	}
	return nil
}

// poll returns up to pollBatch sockets that are ready now; the next call returns the others. The
// slice is valid until the next call.
func (p *poller) poll() []event {
	n, err := unix.EpollWait(p.epfd, p.ready[:], 0)
	if err != nil {
		n = 0
	}
	count := 0
	for _, ev := range p.ready[:n] {
		id := uint64(uint32(ev.Fd)) | uint64(uint32(ev.Pad))<<32
		if id == 0 {
			continue
		}
		p.events[count] = event{
			id:  id,
			in:  ev.Events&(unix.EPOLLIN|unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0,
			out: ev.Events&unix.EPOLLOUT != 0,
			hup: ev.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0,
		}
		count++
	}
	return p.events[:count]
}

// park blocks until poll would return an event or wake is called.
func (p *poller) park() {
	asked := false
	_ = p.raw.Read(func(uintptr) bool {
		// On the first call the function checks whether waiting is necessary: the runtime's record
		// of an earlier edge can be stale or missing.
		if !asked {
			asked = true
			return p.pending()
		}
		return true
	})
}

// pending reports whether the set has a ready event, without consuming it.
func (p *poller) pending() bool {
	fds := [1]unix.PollFd{{Fd: int32(p.epfd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds[:], 0)
	return err != nil || n > 0
}

// wake ends park. Any goroutine can call it, but not after close.
func (p *poller) wake() {
	one := [8]byte{0: 1}
	_, _ = unix.Write(p.wakefd, one[:])
}

func (p *poller) close() {
	p.epoll.Close()
	unix.Close(p.wakefd)
}
