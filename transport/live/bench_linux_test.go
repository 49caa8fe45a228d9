package live

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"atelier/actors/room"
	"atelier/transport/rfc6455"
)

// drainer reads and discards everything that arrives on many sockets.
type drainer struct {
	epfd int
	// kept contains the descriptors. run closes each one when its peer closes.
	kept []int
}

func newDrainer() (*drainer, error) {
	epfd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	return &drainer{epfd: epfd}, err
}

func (d *drainer) add(c *net.TCPConn) error {
	fd, err := newSocket(c, &Options{SendBuffer: 4 << 10})
	if err != nil {
		return err
	}
	d.kept = append(d.kept, int(fd))
	return unix.EpollCtl(d.epfd, unix.EPOLL_CTL_ADD, int(fd),
		&unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

func (d *drainer) run() {
	runtime.LockOSThread()
	events := make([]unix.EpollEvent, 1024)
	buf := make([]byte, 1<<20)
	for {
		n, err := unix.EpollWait(d.epfd, events, -1)
		if err != nil && err != unix.EINTR {
			return
		}
		for _, ev := range events[:max(n, 0)] {
			if n, err := unix.Read(int(ev.Fd), buf); n == 0 && err == nil {
				unix.Close(int(ev.Fd))
			}
		}
	}
}

// silent is a Handler that ignores all messages.
type silent struct{}

func (silent) Message(*Session, []byte) {}
func (silent) Limited(*Session, []byte) {}
func (silent) Closed(*Session, Reason)  {}

func benchOptions(r *room.Room, i int) AttachOptions {
	return AttachOptions{
		Room:    r,
		Person:  "p" + strconv.Itoa(i),
		Handler: silent{},
		Welcome: func(seq, _ uint64) []byte { return []byte(`{"type":"welcome"}`) },
		Resync:  func(seq uint64, _ string) []byte { return []byte(`{"type":"resync"}`) },
	}
}

// awaitJoin waits until n sessions have received their welcome.
func awaitJoin(h *Hub, n int) {
	for h.Stats().Writes < uint64(n) {
		time.Sleep(time.Millisecond)
	}
}

const benchFrame = 200

// BenchmarkFanout publishes frames of 200 bytes. It compares the hub with a bare loop that only
// writes the same bytes to the same sockets with write(2). First the benchmark publishes batches of
// 256 frames with at most four batches in flight, so that the hub joins frames. Then it publishes
// frames one by one, each after the previous one was sent.
//
//	go test -run xxx -bench Fanout -benchtime 50x ./transport/live
//
// On two noisy cores that the readers share, the hub reaches 0.7 to 1.2 times the bare loop's
// rate, mostly 1.0. The ratio is the same for joined and single frames, at 1,000 and at 10,000
// connections. Joined frames reach 9 to 26 million deliveries per second at 1,000 connections, and
// 14 to 19 million at 10,000. Over 90 % of the time is spent in write(2).
func BenchmarkFanout(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprintf("conns=%d", n), func(b *testing.B) { benchFanout(b, n, 256, 4) })
	}
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprintf("singly/conns=%d", n), func(b *testing.B) { benchFanout(b, n, 1, 1) })
	}
}

func benchFanout(b *testing.B, n, join, underWay int) {
	conns := connect(b, n)
	loop := bareLoop(b, conns, join, max(2, 40_000/n))
	hub, r := attachAll(b, conns)
	defer hub.Close()
	rate := publishMany(b, hub, r, n, join, underWay)
	b.ReportMetric(rate/loop, "of-bare-loop")
}

// attachAll attaches connections to a room of a new hub.
func attachAll[C net.Conn](b *testing.B, conns []C) (*Hub, *room.Room) {
	b.Helper()
	hub, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	hub.Start(0)
	r := room.New("e1", room.Limits{})
	for i, c := range conns {
		if _, err := hub.Attach(c, nil, benchOptions(r, i)); err != nil {
			b.Fatal(err)
		}
	}
	awaitJoin(hub, len(conns))
	return hub, r
}

// publishMany is the timed part of the benchmark. It returns the deliveries per second.
func publishMany(b *testing.B, hub *Hub, r *room.Room, n, join, underWay int) float64 {
	b.Helper()
	payload := bytes.Repeat([]byte{'x'}, benchFrame)
	seq, batch := uint64(0), make([]room.Frame, join)
	publish := func() {
		for i := range batch {
			seq++
			batch[i] = room.Frame{Seq: seq, Payload: payload}
		}
		r.Publish(batch...)
	}
	delivered := func() uint64 { return hub.Stats().Deliveries }
	until := func(target uint64) {
		// A reader that lags must resync, and then never receives the frames that this loop counts.
		// Therefore the wait has a limit.
		for limit := time.Now().Add(20 * time.Second); delivered() < target; {
			if time.Now().After(limit) {
				b.Fatalf("%d of %d deliveries; %+v", delivered(), target, hub.Stats())
			}
			time.Sleep(20 * time.Microsecond)
		}
	}
	for range 2 {
		publish()
	}
	until(seq * uint64(n))

	b.ReportAllocs()
	b.ResetTimer()
	start, from := time.Now(), delivered()
	for range b.N {
		publish()
		if ahead := uint64((underWay - 1) * join); seq > ahead {
			until((seq - ahead) * uint64(n))
		}
	}
	until(seq * uint64(n))
	rate := float64(delivered()-from) / time.Since(start).Seconds()
	b.StopTimer()
	b.ReportMetric(rate/1e6, "Mdeliveries/s")
	s := hub.Stats()
	b.ReportMetric(float64(s.ShortWrites)/float64(s.Writes), "short/write")
	return rate
}

// BenchmarkTLS sends frames of 200 bytes one by one to 1,000 connections: plain, with TLS in the
// loop, and with TLS on goroutines. The reader does not decrypt. The idle benchmarks report
// the memory that an idle connection adds to the process.
//
//	go test -run xxx -bench TLS -benchtime 300x ./transport/live
func BenchmarkTLS(b *testing.B) {
	for _, kind := range []struct {
		name string
		wire wireKind
	}{{"plain", bare}, {"loop", secured}, {"goroutines", piped}} {
		b.Run("fanout/"+kind.name, func(b *testing.B) {
			conns := connectAs(b, 1000, kind.wire)
			hub, r := attachAll(b, conns)
			defer hub.Close()
			publishMany(b, hub, r, len(conns), 1, 1)
		})
		b.Run("idle/"+kind.name, func(b *testing.B) {
			const n = 5000
			debug.FreeOSMemory()
			without := resident(b)
			conns := connectAs(b, n, kind.wire)
			hub, _ := attachAll(b, conns)
			clear(conns)
			debug.FreeOSMemory()
			b.ReportMetric(float64(resident(b)-without)/n, "RSS-B/conn")
			hub.Close()
		})
	}
}

// BenchmarkWake measures one frame from Publish to a waiting client, in an idle process and in
// one whose processors are all busy.
func BenchmarkWake(b *testing.B) {
	for _, busy := range []int{0, runtime.GOMAXPROCS(0)} {
		b.Run(fmt.Sprintf("busy=%d", busy), func(b *testing.B) {
			h := newTestServer(b, Options{})
			r := h.room("a")
			c := h.dial("room=a&person=p")
			c.next()
			var stop atomic.Bool
			var wg sync.WaitGroup
			for range busy {
				wg.Go(func() {
					for !stop.Load() {
						// Between two checks of stop, this loop takes about as long as a request.
						for i := range 50_000 {
							_ = i
						}
						runtime.Gosched()
					}
				})
			}
			b.ResetTimer()
			for i := range b.N {
				r.Publish(frames(uint64(i+1), uint64(i+1))...)
				c.next()
			}
			b.StopTimer()
			stop.Store(true)
			wg.Wait()
		})
	}
}

// bareLoop writes the joined bytes of a batch to every socket, with one goroutine per
// processor, like the hub's loops. It returns the frames written per second.
func bareLoop(b *testing.B, conns []*net.TCPConn, join, rounds int) float64 {
	b.Helper()
	var p []byte
	for range join {
		p = rfc6455.AppendFrame(p, rfc6455.Text, bytes.Repeat([]byte{'x'}, benchFrame))
	}
	fds := make([]int, len(conns))
	for i, c := range conns {
		raw, err := c.SyscallConn()
		if err != nil {
			b.Fatal(err)
		}
		_ = raw.Control(func(fd uintptr) { fds[i] = int(fd) })
		_ = c.SetWriteBuffer(64 << 10)
	}
	round := func(fds []int) {
		left := make([][]byte, len(fds))
		for i := range left {
			left[i] = p
		}
		for open := len(fds); open > 0; {
			for i, rest := range left {
				if len(rest) == 0 {
					continue
				}
				n, err := unix.Write(fds[i], rest)
				if err != nil && err != unix.EAGAIN {
					b.Error(err)
					return
				}
				if left[i] = rest[max(n, 0):]; len(left[i]) == 0 {
					open--
				}
			}
			runtime.Gosched()
		}
	}
	all := func(rounds int) {
		var wg sync.WaitGroup
		k := runtime.GOMAXPROCS(0)
		for part := range k {
			wg.Go(func() {
				for range rounds {
					round(fds[part*len(fds)/k : (part+1)*len(fds)/k])
				}
			})
		}
		wg.Wait()
	}
	all(1)
	start := time.Now()
	all(rounds)
	return float64(rounds*join*len(fds)) / time.Since(start).Seconds()
}

// BenchmarkIdleMemory reports the memory that an idle WebSocket session adds to the process: 1,100
// bytes. Later rounds in one process reuse the memory of the first round, so run a single round:
//
//	go test -run xxx -bench IdleMemory -benchtime 1x ./transport/live
func BenchmarkIdleMemory(b *testing.B) {
	const n = 9000
	for range b.N {
		debug.FreeOSMemory()
		without := resident(b)
		conns := connect(b, n)
		hub, _ := attachAll(b, conns)
		clear(conns)
		debug.FreeOSMemory()
		b.ReportMetric(float64(resident(b)-without)/n, "RSS-B/conn")
		hub.Close()
	}
}

func resident(b *testing.B) int {
	b.Helper()
	p, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(p))[1])
	if err != nil {
		b.Fatal(err)
	}
	return pages * syscall.Getpagesize()
}

// BenchmarkAckInFanout measures how soon the author of a message gets the frame and then the ack of
// the message, while 9,000 others get the frame too. The hub sends acks in the middle of a fan-out
// (flushMidway). Otherwise an ack would take as long as the whole fan-out.
//
//	go test -run xxx -bench AckInFanout -benchtime 20x ./transport/live
func BenchmarkAckInFanout(b *testing.B) {
	conns := connect(b, 9000)
	hub, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	hub.Start(0)
	defer hub.Close()
	r := room.New("e1", room.Limits{})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer ln.Close()
	author, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer author.Close()
	served, err := ln.Accept()
	if err != nil {
		b.Fatal(err)
	}
	first, err := hub.Attach(served, nil, benchOptions(r, -1))
	if err != nil {
		b.Fatal(err)
	}
	for i, c := range conns {
		if _, err := hub.Attach(c, nil, benchOptions(r, i)); err != nil {
			b.Fatal(err)
		}
	}
	awaitJoin(hub, len(conns)+1)
	payload, ack := bytes.Repeat([]byte{'x'}, 100), bytes.Repeat([]byte{'a'}, 50)
	buf := make([]byte, 4096)
	read := func(n int) {
		for got := 0; got < n; {
			k, err := author.Read(buf[:n-got])
			if err != nil {
				b.Fatal(err)
			}
			got += k
		}
	}
	read(2 + len(`{"type":"welcome"}`))
	var frame, answer, all time.Duration
	b.ResetTimer()
	for i := range b.N {
		before := hub.Stats().Deliveries
		start := time.Now()
		r.Publish(room.Frame{Seq: uint64(i + 1), Payload: payload})
		first.Send(ack)
		read(2 + len(payload))
		frame += time.Since(start)
		read(2 + len(ack))
		answer += time.Since(start)
		for hub.Stats().Deliveries < before+uint64(len(conns))+1 {
			time.Sleep(20 * time.Microsecond)
		}
		all += time.Since(start)
	}
	ms := func(d time.Duration) float64 { return d.Seconds() * 1e3 / float64(b.N) }
	b.ReportMetric(ms(frame), "ms-to-frame")
	b.ReportMetric(ms(answer), "ms-to-ack")
	b.ReportMetric(ms(all), "ms-to-everybody")
}
