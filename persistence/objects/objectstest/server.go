// Package objectstest contains the conformance suite for objects.Store, and starts stores for
// tests: a folder, and a bucket of a real S3 server.
package objectstest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelier/persistence/objects"
	"atelier/persistence/objects/folder"
	"atelier/persistence/objects/s3"
)

// These are the credentials of the test server.
const (
	AccessKey = "test-access-key"
	SecretKey = "test-secret-of-the-server"
	Bucket    = "tests"
)

// Server is an S3 server with an empty bucket.
type Server struct {
	// Endpoint is the server's host:port for HTTP.
	Endpoint string
	// Dir contains the bucket's objects as files.
	Dir string
}

// find returns the path of the server's program: the value of S3TEST, or bin/s3test in this module.
// "make bin/s3test" builds it. Tests do not build the program, because it depends on 200 modules.
func find() (string, error) {
	if path := os.Getenv("S3TEST"); path != "" {
		return path, nil
	}
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(dir) == dir {
			return "", errors.New("no S3 server for the test: S3TEST is not set, and the test runs outside of the module")
		}
		dir = filepath.Dir(dir)
	}
	path := filepath.Join(dir, "bin", "s3test")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("no S3 server for the test: run make bin/s3test (%w)", err)
	}
	return path, nil
}

// Serve starts a server that runs until the end of the test. If the program was not built, the test
// is skipped; with NEED_PROGRAMS=1 the test fails.
func Serve(t testing.TB) *Server {
	t.Helper()
	binary, err := find()
	if err != nil {
		if os.Getenv("NEED_PROGRAMS") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	data, sidecar := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(data, Bucket), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 5 { // another process can take the port
		if s := serve(t, binary, data, sidecar); s != nil {
			return s
		}
	}
	t.Fatal("the S3 server does not start")
	return nil
}

func serve(t testing.TB, binary, data, sidecar string) *Server {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	cmd := exec.Command(binary, data, sidecar, addr)
	cmd.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID="+AccessKey, "AWS_SECRET_ACCESS_KEY="+SecretKey)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if lines.Text() == "ready" {
			t.Cleanup(func() {
				_ = stdin.Close()
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			})
			return &Server{Endpoint: addr, Dir: filepath.Join(data, Bucket)}
		}
	}
	_ = cmd.Wait()
	return nil
}

// Options returns the options of a store in the server's bucket.
func (s *Server) Options() s3.Options {
	return s3.Options{Endpoint: s.Endpoint, Insecure: true, Bucket: Bucket, AccessKey: AccessKey, SecretKey: SecretKey}
}

// Backend is a store together with the folder that contains its objects.
type Backend struct {
	objects.Store
	Dir string
}

// Age makes the objects under a key prefix appear older to every node.
func (b *Backend) Age(t testing.TB, prefix string, by time.Duration) {
	t.Helper()
	err := b.List(t.Context(), prefix, func(i objects.Info) error {
		at := i.Changed.Add(-by)
		return os.Chtimes(filepath.Join(b.Dir, filepath.FromSlash(i.Key)), at, at)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Keys returns the keys that begin with a prefix.
func (b *Backend) Keys(t testing.TB, prefix string) (keys []string) {
	t.Helper()
	err := b.List(t.Context(), prefix, func(i objects.Info) error {
		keys = append(keys, i.Key)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// Change modifies the content of an object, as a failing disk would.
func (b *Backend) Change(t testing.TB, key string, change func([]byte) []byte) {
	t.Helper()
	path := filepath.Join(b.Dir, filepath.FromSlash(key))
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
}

// Folder returns a store in a folder.
func Folder(t testing.TB) *Backend {
	t.Helper()
	dir := t.TempDir()
	s, err := folder.Open(folder.Options{Dir: dir, MinFreeBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &Backend{s, dir}
}

// S3 returns a store in a bucket of a new server.
func S3(t testing.TB) *Backend {
	t.Helper()
	server := Serve(t)
	s, err := s3.Open(server.Options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &Backend{s, server.Dir}
}

// Each runs a test for each kind of store.
func Each(t *testing.T, test func(t *testing.T, b *Backend)) {
	for name, open := range map[string]func(testing.TB) *Backend{"folder": Folder, "s3": S3} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// Hostile returns a store whose server is the handler answer. If a busy machine exceeds the timeout
// while the store is opened, Hostile tries again.
func Hostile(t testing.TB, timeout time.Duration, answer http.HandlerFunc) (s *s3.Store, err error) {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	o := (&Server{Endpoint: strings.TrimPrefix(server.URL, "http://")}).Options()
	o.Timeout = timeout
	for end := time.Now().Add(time.Minute); ; {
		if s, err = s3.Open(o); err == nil {
			t.Cleanup(func() { _ = s.Close() })
		}
		if !errors.Is(err, context.DeadlineExceeded) || time.Now().After(end) {
			return s, err
		}
	}
}
