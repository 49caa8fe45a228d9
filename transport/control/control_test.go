package control

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/valyala/fasthttp"
)

// greet is a handler in place of the server's API.
func greet(ctx *fasthttp.RequestCtx) {
	if string(ctx.Path()) == "/api/refused" {
		answer(ctx, nil, errors.New("no such thing"))
		return
	}
	if string(ctx.Path()) == "/api/panics" {
		panic("oh")
	}
	answer(ctx, string(ctx.Method())+" "+string(ctx.Path())+" "+string(ctx.PostBody()), nil)
}

// Close ends responses in progress. A client that never reads must not prevent a server from
// stopping.
func TestClosingEndsResponsesInProgress(t *testing.T) {
	data := t.TempDir()
	begun, ended := make(chan struct{}), make(chan error, 1)
	s, err := Listen(data, Operations{Backup: func(w io.Writer) error {
		close(begun)
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				ended <- err
				return err
			}
		}
	}}.Handler(greet))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Dial(data)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	broke := make(chan error, 1)
	stuck := make(chan struct{})
	go func() { broke <- c.Backup(&patient{stuck}) }()
	<-begun
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil {
		t.Error("the backup continued after Close")
	}
	close(stuck)
	if err := <-broke; err == nil {
		t.Error("the client got a complete backup after Close")
	}
}

// patient is a writer that blocks every write until the test lets it continue.
type patient struct{ until chan struct{} }

func (p *patient) Write(b []byte) (int, error) {
	<-p.until
	return len(b), nil
}

// listen serves operations on the folder data, and returns a client.
func listen(t *testing.T, data string, ops Operations) *Client {
	t.Helper()
	s, err := Listen(data, ops.Handler(greet))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	c, err := Dial(data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestCommandsReachTheServer(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("deep", 30)) // longer than a socket address can be
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{t.TempDir(), long} {
		c := listen(t, data, Operations{
			RotateKeys: func() (string, error) { return "rotated", nil },
			Cluster:    func() ([]byte, error) { return []byte(`{"nodes": 2}`), nil },
			Backup:     func(w io.Writer) error { _, err := io.WriteString(w, "everything"); return err },
			Scrub:      func(w io.Writer) (int, error) { _, err := io.WriteString(w, "two are damaged"); return 2, err },
		})
		var response string
		if err := c.Call("POST", "/api/x", map[string]int{"n": 1}, &response); response != `POST /api/x {"n":1}` || err != nil {
			t.Errorf("Call returned %q, %v", response, err)
		}
		if err := c.Call("GET", "/api/refused", nil, nil); err == nil || err.Error() != "no such thing" {
			t.Error(err)
		}
		if err := c.Call("GET", "/api/panics", nil, nil); err == nil || err.Error() != "internal error" {
			t.Error(err)
		}
		if text, err := c.RotateKeys(); text != "rotated" || err != nil {
			t.Errorf("RotateKeys returned %q, %v, want rotated", text, err)
		}
		var st struct{ Nodes int }
		if err := c.Cluster(&st); st.Nodes != 2 || err != nil {
			t.Errorf("Cluster returned %v, %v, want 2 nodes", st, err)
		}
		var b bytes.Buffer
		if err := c.Backup(&b); b.String() != "everything" || err != nil {
			t.Errorf("Backup wrote %q, %v, want everything", b.String(), err)
		}
		b.Reset()
		if n, err := c.Scrub(&b); n != 2 || b.String() != "two are damaged" || err != nil {
			t.Errorf("Scrub returned %d, %v, want 2, and wrote %q", n, err, b.String())
		}
	}
}

// An interrupted backup must not look complete. A backup that cannot begin returns the reason.
func TestAFailedBackupReturnsAnError(t *testing.T) {
	var begins bool
	c := listen(t, t.TempDir(), Operations{Backup: func(w io.Writer) error {
		if begins {
			if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<20)); err != nil {
				return err
			}
		}
		return errors.New("the disk is gone")
	}})
	if err := c.Backup(io.Discard); err == nil || err.Error() != "the disk is gone" {
		t.Error(err)
	}
	begins = true
	if err := c.Backup(io.Discard); err == nil || !strings.Contains(err.Error(), "broke off") {
		t.Error(err)
	}
}

func TestOnlyTheOwnerCanConnect(t *testing.T) {
	data := t.TempDir()
	if _, err := Dial(data); !errors.Is(err, ErrNotRunning) {
		t.Errorf("without a server Dial returned %v, want ErrNotRunning", err)
	}
	listen(t, data, Operations{})
	info, err := os.Stat(filepath.Join(data, socketName))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the socket has the mode %v, %v", info.Mode(), err)
	}
}

// Files that other goroutines create while sockets are opened have the requested mode. An earlier
// version set a umask for the socket, which affected the whole process. Two sockets opened at the
// same time left the umask changed.
func TestListeningChangesNoUmask(t *testing.T) {
	before := syscall.Umask(0o022)
	defer syscall.Umask(before)
	stop := make(chan struct{})
	var listening sync.WaitGroup
	for range 4 {
		data := t.TempDir()
		listening.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if s, err := Listen(data, greet); err != nil {
					t.Error(err)
				} else if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	dir := t.TempDir()
	for i := range 2000 {
		name := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(name, nil, 0o755); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("a file created meanwhile has the mode %v, %v", info.Mode(), err)
			break
		}
	}
	close(stop)
	listening.Wait()
}

// A killed server leaves its socket. The next server replaces it.
func TestALeftoverSocketIsReplaced(t *testing.T) {
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, socketName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(data); !errors.Is(err, ErrNotRunning) {
		t.Errorf("with a leftover socket Dial returned %v, want ErrNotRunning", err)
	}
	c := listen(t, data, Operations{RotateKeys: func() (string, error) { return "here", nil }})
	if text, err := c.RotateKeys(); text != "here" || err != nil {
		t.Errorf("RotateKeys returned %q, %v, want here", text, err)
	}
}

// In an earlier version, a server that was closed immediately after its start continued to listen.
func TestClosingAtOnceStopsListening(t *testing.T) {
	for range 50 {
		data := t.TempDir()
		s, err := Listen(data, greet)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := Dial(data); !errors.Is(err, ErrNotRunning) {
			t.Fatalf("after Close Dial returned %v, want ErrNotRunning", err)
		}
	}
}

// A backup runs on its own goroutine, so the handler cannot recover its panic.
func TestAPanicOfABackupDoesNotEndTheServer(t *testing.T) {
	reported := make(chan string, 1)
	c := listen(t, t.TempDir(), Operations{
		Backup:   func(io.Writer) error { panic("oh") },
		Cluster:  func() ([]byte, error) { return []byte(`{"nodes": 2}`), nil },
		Panicked: func(path, kind string) { reported <- path + " " + kind },
	})
	if err := c.Backup(io.Discard); err == nil || err.Error() != "internal error" {
		t.Errorf("the backup returned %v", err)
	}
	if got := <-reported; got != "/operator/backup string" {
		t.Errorf("the report of the panic is %q", got)
	}
	var st struct{ Nodes int }
	if err := c.Cluster(&st); err != nil {
		t.Error(err)
	}
}
