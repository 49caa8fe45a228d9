//go:build linux

package server

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		serve()
	}
	os.Exit(m.Run())
}

// serve is a server that reports readiness and then does nothing.
func serve() {
	for _, name := range []string{"listening", "internal listening"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		go func() { _ = http.Serve(l, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) }()
		fmt.Fprintf(os.Stderr, "msg=%q addr=%s\n", name, l.Addr())
	}
	select {}
}

// Only an unexpected end of a server is reported, not an end that the caller requested.
func TestADeathIsReported(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(self)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Remove()
	start := func() {
		t.Helper()
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	start()
	p.Kill()
	start()
	if at, how := p.Died(); !at.IsZero() || how != nil {
		t.Errorf("the running process died at %v, %v", at, how)
	}
	// The system sends the same signal when memory runs out.
	if err := p.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.reader.Wait()
	for range 2 {
		if at, how := p.Died(); at.IsZero() || how == nil || !strings.Contains(how.Error(), "killed") {
			t.Errorf("the death is reported at %v as %v", at, how)
		}
	}
	if err := p.Stop(); err != nil {
		t.Errorf("stopping an ended process: %v", err)
	}
	// The death is still reported after a restart.
	start()
	p.Kill()
	if _, how := p.Died(); how == nil {
		t.Error("the first death was forgotten")
	}
}
