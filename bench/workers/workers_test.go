//go:build linux

package workers

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"atelier/bench/broadcast"
)

// TestMain also acts as the worker process that a coordinator starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		conn, err := Inherited()
		if err == nil {
			err = Serve(conn)
		}
		if err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

const secret = "a secret of tests only"

// listen starts a worker that waits for a coordinator, and returns its address.
func listen(t *testing.T) string {
	t.Helper()
	address, _, _ := listenUntil(t)
	return address
}

// listenUntil starts a worker. end stops this worker. turnedAway receives the errors of the
// connections that the worker refused.
func listenUntil(t *testing.T) (at string, end func(), turnedAway chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	turnedAway = make(chan error, 10)
	address := make(chan string, 1)
	done := make(chan error, 1)
	go func() {
		done <- Listen(ctx, "127.0.0.1:0", secret, func(a net.Addr) { address <- a.String() }, func(_ net.Addr, why error) {
			select {
			case turnedAway <- why:
			default: // no test reads it
			}
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return <-address, cancel, turnedAway
}

// The end of a remote worker is reported with its address and its last message.
func TestTheEndOfARemoteWorkerIsReported(t *testing.T) {
	address, end, _ := listenUntil(t)
	c, err := Gather(&Plan{Remote: []string{address}, Secret: secret}, func(broadcast.Sample) {})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	end()
	<-c.Gone()
	_, err = c.All(func(int) *Order { return &Order{Tick: true} })
	if want := "worker " + address + " ended: its process was stopped"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

// If a worker cannot send a last message, the error still identifies the worker.
func TestTheEndOfAWorkerWithoutAMessageIsReported(t *testing.T) {
	mine, its := net.Pipe()
	_ = its.Close()
	c := &Group{gone: make(chan struct{})}
	c.add("worker far", mine, nil, func(broadcast.Sample) {})
	if _, err := c.All(func(int) *Order { return &Order{Tick: true} }); err == nil || err.Error() != "worker far ended without a message" {
		t.Errorf("the error is %v, want that the worker ended without a message", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// Local and remote workers accept a job, report its progress, and use the coordinator's time.
func TestWorkersExecuteOrders(t *testing.T) {
	for name, plan := range map[string]*Plan{
		"inside": {Processes: 1},
		"beside": {Processes: 2, Binary: os.Args[0], Args: []string{"worker"}},
		"remote": {Remote: []string{listen(t), listen(t)}, Secret: secret},
	} {
		t.Run(name, func(t *testing.T) {
			samples := make(chan broadcast.Sample, 100)
			c, err := Gather(plan, func(s broadcast.Sample) {
				select {
				case samples <- s:
				default:
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			job := &broadcast.Job{Address: "127.0.0.1:1", Host: "x", AllPublishers: 1, Seed: 1}
			if _, err := c.All(func(int) *Order { return &Order{Job: job} }); err != nil {
				t.Fatal(err)
			}
			reports, err := c.All(func(int) *Order { return &Order{Ready: true} })
			if err != nil || len(reports) != c.Size() {
				t.Fatalf("got %d reports, %v, want %d", len(reports), err, c.Size())
			}
			// The second of a sample is on the coordinator's timeline.
			s := <-samples
			if now := int64(c.Now() / time.Second); s.Second < 0 || s.Second > now {
				t.Errorf("the sample is of second %d, now is second %d", s.Second, now)
			}
			if name == "inside" == c.Separate || c.Uncertain > 100*time.Millisecond {
				t.Errorf("separate %v, clocks agree within %v", c.Separate, c.Uncertain)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestInvalidOrdersAreRefused(t *testing.T) {
	c, err := Gather(&Plan{Processes: 1}, func(broadcast.Sample) {})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for want, order := range map[string]*Order{
		"no job":   {Ready: true},
		"no stage": {Load: &broadcast.Load{}},
		"match":    {Job: &broadcast.Job{Dialect: broadcast.Dialect{Match: "("}}},
	} {
		if want == "no stage" {
			if _, err := c.All(func(int) *Order { return &Order{Job: &broadcast.Job{Address: "127.0.0.1:1"}} }); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.All(func(int) *Order { return order }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %s, got %v", want, err)
		}
		if _, err := c.All(func(int) *Order { return &Order{Tick: true} }); err != nil {
			t.Errorf("after the refusal, the worker is gone: %v", err)
		}
	}
}

func TestTheEndOfALocalWorkerIsReported(t *testing.T) {
	c, err := Gather(&Plan{Processes: 2, Binary: os.Args[0], Args: []string{"worker"}}, func(broadcast.Sample) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.members[1].process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-c.Gone()
	_, err = c.All(func(int) *Order { return &Order{Tick: true} })
	for err == nil {
		_, err = c.All(func(int) *Order { return &Order{Tick: true} })
	}
	if err.Error() != "worker 2 ended: signal: killed" {
		t.Error(err)
	}
	if err := c.Close(); err == nil {
		t.Error("Close does not report the end of the worker")
	}
}

// A client without the secret gets only the worker's proof and does no harm. The next client with
// the secret is served.
func TestStrangersAreRefused(t *testing.T) {
	address, _, turnedAway := listenUntil(t)
	const wrong = "another secret, as long"
	if _, err := Gather(&Plan{Remote: []string{address}, Secret: wrong}, nil); err == nil {
		t.Error("a wrong secret is accepted")
	}
	if err := <-turnedAway; !errors.Is(err, errStranger) || strings.Contains(err.Error(), wrong) || strings.Contains(err.Error(), secret) {
		t.Errorf("the error of the worker is %v", err)
	}
	for _, payload := range []string{"", "GET / HTTP/1.1\r\n\r\n", "\x00\x00\x00\x05{}"} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write([]byte(payload))
		_ = conn.Close()
	}
	// This client uses TLS and announces a huge proof.
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = conn.Write([]byte{0xff, 0xff, 0xff, 0xff})
	const proof = 4 + 1 + 44 + 1 // the length prefix, and Base64 in quotation marks
	if b, err := io.ReadAll(conn); len(b) != proof || err != nil && !errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "reset") {
		t.Errorf("a client without the secret received %q, %v", b, err)
	}
	_ = conn.Close()
	c, err := Gather(&Plan{Remote: []string{address}, Secret: secret}, func(broadcast.Sample) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// stranger listens like a worker, but does not have the secret.
func stranger(t *testing.T) net.Listener {
	t.Helper()
	certificate, err := ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// The coordinator reveals nothing to a stranger that listens on the worker's address.
func TestTheCoordinatorSendsNothingToAStranger(t *testing.T) {
	l := stranger(t)
	got := make(chan []byte, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			got <- []byte(err.Error())
			return
		}
		defer conn.Close()
		_, _ = conn.Write([]byte("\x00\x00\x00\x02\"\""))
		b, _ := io.ReadAll(conn)
		got <- b
	}()
	if _, err := Gather(&Plan{Remote: []string{l.Addr().String()}, Secret: secret}, nil); !errors.Is(err, errStranger) {
		t.Errorf("the error of the coordinator is %v", err)
	}
	if b := <-got; len(b) > 0 {
		t.Errorf("the coordinator sent %q to a stranger", b)
	}
}

// A man in the middle has two connections, and a proof is valid only on the connection for which it
// was made.
func TestAManInTheMiddleIsRefused(t *testing.T) {
	address := listen(t)
	l := stranger(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		victim, err := l.Accept()
		if err != nil {
			return
		}
		defer victim.Close()
		worker, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			return
		}
		defer worker.Close()
		go func() { _, _ = io.Copy(worker, victim) }()
		_, _ = io.Copy(victim, worker)
	}()
	if _, err := Gather(&Plan{Remote: []string{l.Addr().String()}, Secret: secret}, nil); err == nil {
		t.Error("orders are sent through a man in the middle")
	}
	<-done
}

// Silent connections do not block other connections. A second coordinator gets an error that
// mentions the first.
func TestSilentConnectionsBlockNobody(t *testing.T) {
	address := listen(t)
	var strangers []net.Conn
	for range 5 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		strangers = append(strangers, conn)
	}
	first, err := Gather(&Plan{Remote: []string{address}, Secret: secret}, func(broadcast.Sample) {})
	if err != nil {
		t.Fatal(err)
	}
	// The coordinator was accepted while the worker was still waiting for all strangers.
	for i, conn := range strangers {
		if err := conn.SetReadDeadline(time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the silent connection %d was closed before: %v", i, err)
		}
	}
	if _, err := Gather(&Plan{Remote: []string{address}, Secret: secret}, nil); err == nil || !strings.Contains(err.Error(), "another coordinator") {
		t.Errorf("the error of the second coordinator is %v", err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	next, err := Gather(&Plan{Remote: []string{address}, Secret: secret}, func(broadcast.Sample) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Close(); err != nil {
		t.Error(err)
	}
}

// A proof that is sent back to its author is not accepted.
func TestAnEchoedProofIsRefused(t *testing.T) {
	l := stranger(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if conn, err := l.Accept(); err == nil {
			defer conn.Close()
			_, _ = io.Copy(conn, conn)
		}
	}()
	conn, err := reach(l.Addr().String(), secret)
	if err == nil {
		t.Error("an echoed proof is accepted")
		_ = conn.Close()
	}
	<-done
}

// A worker on a machine with a different clock gets its offset to the timeline.
func TestAWorkerGetsTheOffsetOfItsClock(t *testing.T) {
	const ahead = time.Hour
	mine, its := net.Pipe()
	offsets := make(chan time.Duration, 1)
	go func() {
		l := line{conn: its}
		for {
			var o Order
			if l.receive(&o, largest) != nil {
				return
			}
			r := &Report{Clock: monotonic() + ahead, Boot: "another"}
			if o.Offset != nil {
				offsets <- *o.Offset
			}
			if l.send(r) != nil {
				return
			}
		}
	}()
	c := &Group{start: monotonic(), gone: make(chan struct{})}
	c.add("far", mine, nil, func(broadcast.Sample) {})
	if err := c.synchronise(); err != nil {
		t.Fatal(err)
	}
	if off := <-offsets + ahead + c.start; off.Abs() > 100*time.Millisecond || c.Uncertain <= 0 {
		t.Errorf("the clock is off by %v, uncertain by %v", off, c.Uncertain)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestShortSecretsAreRefused(t *testing.T) {
	if err := Listen(t.Context(), "127.0.0.1:0", "short", func(net.Addr) {}, nil); err == nil {
		t.Error("a worker listens with a secret that can be guessed")
	}
	if _, err := Gather(&Plan{Remote: []string{"127.0.0.1:1"}, Secret: ""}, nil); err == nil {
		t.Error("a coordinator without a secret is accepted")
	}
}
