// Package postgrestest runs a PostgreSQL server for tests. Each test process has one server, in a
// temporary folder, and each test has a new database. The server ends when Stop is called and, on
// Linux, at the latest with the process, even if the process is killed.
package postgrestest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Server is the PostgreSQL server of this process.
type Server struct {
	dir  string // contains data, socket and log
	bin  string
	cred *syscall.Credential // nil: the user that runs the tests

	mu      sync.Mutex
	process *exec.Cmd     // guarded by mu
	ended   chan struct{} // guarded by mu; closed when process is gone
	made    int           // guarded by mu; number of databases
}

var shared struct {
	once   sync.Once
	server *Server
	err    error
}

// Main runs the tests of a package, then stops the server, and returns the exit code.
func Main(m *testing.M) int {
	code := m.Run()
	Stop()
	return code
}

// Stop stops the server if it runs, and removes its folder.
func Stop() {
	shared.once.Do(func() { shared.err = errors.New("stopped") })
	if s := shared.server; s != nil {
		s.Signal(syscall.SIGQUIT)
		_ = os.RemoveAll(s.dir)
	}
}

// Get returns the server of this process, and starts it if necessary. If PostgreSQL is not
// installed, the test is skipped, or fails if NEED_PROGRAMS is set.
func Get(t testing.TB) *Server {
	t.Helper()
	bin := find()
	if bin == "" {
		if os.Getenv("NEED_PROGRAMS") != "" {
			t.Fatal("PostgreSQL is not installed: no postgres in PATH or /usr/lib/postgresql")
		}
		t.Skip("PostgreSQL is not installed")
	}
	shared.once.Do(func() { shared.server, shared.err = start(bin) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server
}

// Folder returns the folder of this process's server, or "" if no server runs.
func Folder() string {
	if shared.server == nil {
		return ""
	}
	return shared.server.dir
}

// find returns the folder of the server's programs. It prefers the programs in PATH, and then the
// newest version in /usr/lib/postgresql. It returns "" if there are none.
func find() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	slices.SortFunc(found, func(a, b string) int { return version(b) - version(a) })
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[0])
}

func start(bin string) (*Server, error) {
	// A socket path is limited to 107 bytes, so the folder is not in t.TempDir.
	dir, err := os.MkdirTemp("", "pg-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, bin: bin}
	if os.Getuid() == 0 {
		// PostgreSQL refuses to run as root.
		if s.cred, err = postgres(); err == nil {
			err = os.Chown(dir, int(s.cred.Uid), int(s.cred.Gid))
		}
	}
	if err == nil {
		init := s.command("initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C")
		var out []byte
		if out, err = init.CombinedOutput(); err != nil {
			err = fmt.Errorf("initdb: %w: %s", err, out)
		}
	}
	if err == nil {
		err = s.Start()
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	return s, nil
}

func postgres() (*syscall.Credential, error) {
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2)
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.SysProcAttr = attributes(s.cred)
	return cmd
}

// Start starts the server, for the first time or after Signal. It returns once the server accepts
// connections.
func (s *Server) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	// Syncs and full-page writes are disabled, because commits do not have to survive a crash of
	// the machine.
	cmd := s.command("postgres", "-D", s.data(), "-k", s.dir, "-c", "listen_addresses=", "-c", "fsync=off",
		"-c", "synchronous_commit=on", "-c", "full_page_writes=off", "-c", "max_connections=200", "-c", "autovacuum_naptime=5s")
	cmd.Stdout, cmd.Stderr = log, log
	began, ended := make(chan error), make(chan struct{})
	go func() {
		// The kernel sends the parent-death signal to the server when this thread ends, so the
		// thread must stay.
		runtime.LockOSThread()
		err := cmd.Start()
		began <- err
		if err == nil {
			_ = cmd.Wait()
		}
		close(ended)
	}()
	if err := <-began; err != nil {
		return err
	}
	s.process, s.ended = cmd, ended
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		conn, err := pgx.Connect(context.Background(), s.dsn("postgres"))
		if err == nil {
			return conn.Close(context.Background())
		}
		select {
		case <-ended:
			out, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("postgres ended: %s", out[max(0, len(out)-2000):])
		case <-time.After(wait):
		}
	}
}

// Signal sends a signal to the server and waits for the server's end. SIGINT closes the connections
// properly; SIGQUIT simulates a crash.
func (s *Server) Signal(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.process.Process.Signal(sig)
	<-s.ended
}

// Restart stops the server with a signal and starts it again.
func (s *Server) Restart(t testing.TB, sig syscall.Signal) {
	t.Helper()
	s.Signal(sig)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) dsn(database string) string {
	return "postgres://postgres@/" + database + "?host=" + url.QueryEscape(s.dir)
}

// Database creates a database, removes it after the test, and returns its address.
func Database(t testing.TB) string {
	t.Helper()
	dsn, name := lasting(t)
	t.Cleanup(func() { Get(t).exec(t, "drop database "+name+" with (force)") })
	return dsn
}

// Lasting creates a database that exists until this process ends, and returns its address.
func Lasting(t testing.TB) string {
	t.Helper()
	dsn, _ := lasting(t)
	return dsn
}

func lasting(t testing.TB) (dsn, name string) {
	t.Helper()
	s := Get(t)
	s.mu.Lock()
	s.made++
	name = fmt.Sprint("test", s.made)
	s.mu.Unlock()
	s.exec(t, "create database "+name)
	return s.dsn(name), name
}

func (s *Server) exec(t testing.TB, sql string) {
	t.Helper()
	Exec(t, s.dsn("postgres"), sql)
}

// Exec runs a statement on a database.
func Exec(t testing.TB, dsn, sql string, args ...any) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(context.Background(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

// In returns the address of the database that belongs to one of the test's folders. The first call
// for a folder creates the database. A test that reopens the folder therefore finds its data.
func In(t testing.TB, dir string) string {
	t.Helper()
	note := filepath.Join(dir, "postgres")
	if b, err := os.ReadFile(note); err == nil {
		return string(bytes.TrimSpace(b))
	}
	dsn := Database(t)
	if err := os.WriteFile(note, []byte(dsn), 0o600); err != nil {
		t.Fatal(err)
	}
	return dsn
}
