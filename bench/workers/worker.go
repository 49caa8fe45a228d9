//go:build linux

package workers

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"atelier/bench/broadcast"
	"atelier/bench/pacing"
)

// Serve executes the orders that arrive over a stream, until the stream ends.
func Serve(conn net.Conn) error { return newWorker(conn).serve() }

func newWorker(conn net.Conn) *worker {
	w := &worker{line: line{conn: conn}, clock: pacing.NewClock()}
	// The clock counts from an arbitrary moment. base is its distance from the zero of the
	// machine's clock.
	w.base = monotonic() - w.clock.Now()
	return w
}

func (w *worker) serve() error {
	defer w.end()
	for {
		var o Order
		err := w.line.receive(&o, largest)
		if err == nil {
			err = w.report(w.do(&o))
		}
		switch {
		case err != nil && gone(err):
			return nil
		case err != nil:
			w.last(err.Error())
			return err
		}
	}
}

// gone reports whether an error only means that the other side has ended. If a stream is closed
// while samples are in flight, it is reset.
func gone(err error) bool {
	for _, end := range []error{io.EOF, net.ErrClosed, io.ErrClosedPipe, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}

// lastWithin is the timeout of the last message, so that a coordinator that does not read cannot
// block a worker.
const lastWithin = time.Second

// last sends the coordinator the reason why no more messages follow.
func (w *worker) last(words string) {
	if w.line.conn.SetWriteDeadline(time.Now().Add(lastWithin)) == nil {
		_ = w.report(&Report{Last: words})
	}
}

// worker executes the orders of one coordinator, on the goroutine of Serve.
type worker struct {
	line   line
	clock  pacing.Clock
	base   time.Duration // the zero of clock, on the machine's clock
	offset time.Duration // the timeline minus the machine's clock
	engine *broadcast.Engine
	// samples contains the engine's samples to be sent.
	samples chan broadcast.Sample

	mu sync.Mutex // guards writing to line
}

func (w *worker) report(r *Report) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.line.send(r)
}

// end ends the current job and the stream.
func (w *worker) end() {
	w.drop()
	_ = w.line.conn.Close()
}

// drop ends the current job, if any.
func (w *worker) drop() {
	if w.engine != nil {
		w.engine.Close()
		close(w.samples)
		w.engine = nil
	}
}

// do executes one order.
func (w *worker) do(o *Order) *Report {
	switch {
	case o.Tick:
		return &Report{Clock: monotonic(), Boot: boot()}
	case o.Offset != nil:
		w.offset = *o.Offset
		return &Report{}
	case o.Job != nil:
		return failed(w.begin(o.Job))
	case w.engine == nil:
		return failed(errors.New("there is no job"))
	case o.Connect != nil:
		w.engine.Connect(*o.Connect)
	case o.Ready:
		return &Report{Muster: w.engine.Muster()}
	case o.Load != nil:
		if len(o.Load.Stages) == 0 {
			return failed(errors.New("a load has no stage"))
		}
		w.engine.Load(o.Load)
	case o.Drop != nil:
		w.engine.Drop(o.Drop)
	case o.Stop:
		w.engine.Stop()
	case o.Sent:
		sent := w.engine.Sent()
		return &Report{Sent: &sent}
	case o.Finish != nil:
		return &Report{Outcome: w.engine.Finish(o.Finish)}
	}
	return &Report{}
}

// begin creates the clients of a job.
func (w *worker) begin(job *broadcast.Job) error {
	w.drop()
	// A coordinator that does not read cannot stop the loop, because samples wait in this channel,
	// and are dropped if there are too many.
	samples := make(chan broadcast.Sample, 100)
	engine, err := broadcast.NewEngine(job, w.clock, w.base+w.offset, func(s broadcast.Sample) {
		select {
		case samples <- s:
		default:
		}
	})
	if err != nil {
		return err
	}
	w.engine, w.samples = engine, samples
	go func() {
		for s := range samples {
			// If the coordinator no longer reads, Serve notices.
			_ = w.report(&Report{Sample: &s})
		}
	}()
	return nil
}

func failed(err error) *Report {
	if err == nil {
		return &Report{}
	}
	return &Report{Error: err.Error()}
}

// monotonic returns the machine's clock, which all its processes share.
func monotonic() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// boot identifies a machine and its current boot.
func boot() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// strangers is the maximum number of connections that have not yet proved the secret. They prove it
// concurrently, because each can take up to proveWithin.
const strangers = 256

// Listen serves coordinators that have the secret, one after another, until ctx ends. It refuses a
// concurrent coordinator, which receives the reason. It calls listening with the address once it
// listens, and turnedAway for each caller that does not prove that it has the secret.
func Listen(ctx context.Context, address, secret string, listening func(net.Addr), turnedAway func(net.Addr, error)) error {
	if err := CheckSecret(secret); err != nil {
		return err
	}
	certificate, err := ephemeral()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	listening(l.Addr())
	var guests sync.WaitGroup
	defer guests.Wait()
	defer cancel()
	door, work := make(chan struct{}, strangers), make(chan struct{}, 1)
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13}
	for {
		raw, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("accept: %w", err)
		}
		door <- struct{}{}
		guests.Go(func() {
			conn := tls.Server(raw, config)
			proving := context.AfterFunc(ctx, func() { _ = raw.Close() })
			err := prove(conn, secret, roleWorker, roleCoordinator)
			proving()
			<-door
			if err != nil {
				// The refused caller gets no response, and does not end the worker.
				turnedAway(raw.RemoteAddr(), err)
				_ = raw.Close()
				return
			}
			w := newWorker(conn)
			defer context.AfterFunc(ctx, func() {
				w.last("its process was stopped")
				_ = raw.Close()
			})()
			timer := time.NewTimer(turnWithin)
			defer timer.Stop()
			select {
			case work <- struct{}{}:
				_ = w.serve()
				<-work
			case <-timer.C:
				decline(conn)
			}
		})
	}
}

// turnWithin is the maximum time for which a coordinator waits for the previous one, which can be
// about to end.
const turnWithin = 2 * time.Second

// decline answers a coordinator's first order with the error that another coordinator is active.
func decline(conn net.Conn) {
	defer conn.Close()
	if conn.SetDeadline(time.Now().Add(proveWithin)) != nil {
		return
	}
	l := line{conn: conn}
	if l.receive(&Order{}, largest) == nil {
		_ = l.send(&Report{Error: "it works for another coordinator"})
	}
}
