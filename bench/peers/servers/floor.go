package servers

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// floor is the minimal fan-out: one goroutine that writes the same bytes to the sockets of all
// clients with write(2). It writes all waiting messages together. With --singly it writes one
// message after another, so a server that joins messages can be faster.
type floor struct{ singly bool }

func (*floor) About() string { return "a loop of write(2), nothing else" }

func (f *floor) Flags(flags *flag.FlagSet) {
	flags.BoolVar(&f.singly, "singly", false, "write each message separately instead of all waiting messages at once")
}

// joined is the maximum number of waiting messages.
const joined = 256

// wire is a client's socket. The reading goroutine closes conn, after the writing goroutine has
// released the wire. fd is valid until then.
type wire struct {
	conn  *net.TCPConn
	fd    int
	freed chan struct{}
	dead  bool
}

type floorLoop struct {
	singly      bool
	enter, exit chan *wire
	say         chan []byte
	done        <-chan struct{}
}

func (f *floor) Run(ctx context.Context, listen string, ready func(string)) error {
	ln, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer context.AfterFunc(ctx, func() { _ = ln.Close() })()
	loop := &floorLoop{singly: f.singly, enter: make(chan *wire), exit: make(chan *wire), say: make(chan []byte, joined), done: ctx.Done()}
	go loop.run()
	ready(ln.Addr().String())
	for {
		conn, err := ln.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("accept: %w", err)
		}
		go loop.client(conn.(*net.TCPConn))
	}
}

// run is the only writing goroutine.
func (l *floorLoop) run() {
	var wires []*wire
	var frame []byte
	for {
		select {
		case w := <-l.enter:
			wires = append(wires, w)
		case w := <-l.exit:
			for i, other := range wires {
				if other == w {
					wires[i] = wires[len(wires)-1]
					wires = wires[:len(wires)-1]
					break
				}
			}
			close(w.freed)
		case p := <-l.say:
			frame = appendFrame(frame[:0], p)
			for n := len(l.say); !l.singly && n > 0; n-- {
				frame = appendFrame(frame, <-l.say)
			}
			for _, w := range wires {
				w.write(frame)
			}
		case <-l.done:
			return
		}
	}
}

// write writes all of p. It abandons a client that accepts nothing within writeWithin.
func (w *wire) write(p []byte) {
	for len(p) > 0 && !w.dead {
		n, err := unix.Write(w.fd, p)
		switch err {
		case nil:
			p = p[n:]
		case unix.EINTR:
		case unix.EAGAIN:
			ready, err := unix.Poll([]unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLOUT}}, int(writeWithin/time.Millisecond))
			w.dead = err != unix.EINTR && (err != nil || ready == 0)
		default:
			w.dead = true
		}
	}
}

// client serves one connection.
func (l *floorLoop) client(conn *net.TCPConn) {
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 4<<10)
	if err := shake(conn, in); err != nil {
		return
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	w := &wire{conn: conn, freed: make(chan struct{})}
	if raw.Control(func(fd uintptr) { w.fd = int(fd) }) != nil {
		return
	}
	select {
	case l.enter <- w:
	case <-l.done:
		return
	}
	for {
		p, err := readFrame(in)
		if err != nil {
			break
		}
		select {
		case l.say <- p:
		case <-l.done:
			return
		}
	}
	select {
	case l.exit <- w:
		<-w.freed
	case <-l.done:
	}
}
