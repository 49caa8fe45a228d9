//go:build linux

package broadcast

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"atelier/bench/pacing"
)

// allow limits the number of files that this process can open in addition to those already open.
func allow(t *testing.T, more int) {
	t.Helper()
	var old unix.Rlimit
	open, err := os.ReadDir("/proc/self/fd")
	if err == nil {
		err = unix.Getrlimit(unix.RLIMIT_NOFILE, &old)
	}
	if err == nil {
		err = unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(len(open) + more), Max: old.Max})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
			t.Error(err)
		}
	})
}

func TestMoreClientsThanFilesAreRefused(t *testing.T) {
	allow(t, 300)
	job := &Job{Address: "127.0.0.1:1", Host: "x", Dialect: words, AllPublishers: 1, Subscribers: make([]Seat, 1000), Seed: 1}
	e, err := NewEngine(job, pacing.NewClock(), 0, func(Sample) {})
	if err == nil {
		e.Close()
		t.Fatal("a thousand clients connected with 300 file descriptors")
	}
	if !strings.Contains(err.Error(), "for 1000 connections") {
		t.Errorf("the error is %v, want one that names 1000 connections", err)
	}
}

// A lack of files on this machine is not counted against the server.
func TestAMissingFileDescriptorIsNotChargedToTheServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	job := &Job{Address: l.Addr().String(), Host: "x", Dialect: words, AllPublishers: 1, Subscribers: make([]Seat, 50), Seed: 1}
	e, err := NewEngine(job, pacing.NewClock(), 0, func(Sample) {})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	allow(t, 0)
	e.Connect(0)
	wait(t, func() bool {
		tried := false
		e.loop.Do(func() { tried = e.out.Lack != "" })
		return tried
	})
	o := e.Finish(&Finish{Until: e.now() + 10*time.Millisecond, Sent: []int64{100}})
	// A few files were closed while the limit was being set.
	if o.Lack != "too many open files" || o.Unopened < 40 || len(o.Disconnects) > 0 || o.Lost > 0 {
		t.Errorf("the outcome is %+v", *o)
	}
}
