// Package control connects the binary's commands to a server. A running server has a socket in its
// data folder, which only the server's own user can use. If no server runs, the command calls the
// same handler in its own process.
package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"
)

const socketName = "control.sock"

// ErrNotRunning means that no server is running on the data folder.
var ErrNotRunning = errors.New("no server is running on this data folder")

// Server listens on the socket.
type Server struct {
	http     *fasthttp.Server
	listener net.Listener
	open     sync.Map // of net.Conn
	release  func()
}

// Listen opens the socket. The caller holds the data folder's lock, so an existing socket was left
// by a killed server.
func Listen(data string, handler fasthttp.RequestHandler) (*Server, error) {
	path, release, err := socketPath(data)
	if err != nil {
		return nil, err
	}
	l, err := listenPrivately(path)
	if err != nil {
		release()
		return nil, fmt.Errorf("listen on the control socket: %w", err)
	}
	s := &Server{http: newServer(handler), listener: l, release: func() { _ = os.Remove(path); release() }}
	s.http.ConnState = s.changed
	go func() { _ = s.http.Serve(l) }()
	return s, nil
}

// listenPrivately creates a socket that is never accessible to others, not even for a moment. It
// creates the socket in a private folder and then moves it, which replaces a socket left by a
// killed server. A umask would affect the whole process, in which other goroutines create files.
func listenPrivately(path string) (*net.UnixListener, error) {
	dir := filepath.Join(filepath.Dir(path), ".control")
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "s") // not longer than the path of the socket, see socketPath
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // closing would remove the name in the private folder
	err = os.Chmod(made, 0o600)
	if err == nil {
		err = os.Rename(made, path)
	}
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// newServer returns a server that streams bodies, because handlers bound them.
func newServer(handler fasthttp.RequestHandler) *fasthttp.Server {
	return &fasthttp.Server{
		Handler: handler, StreamRequestBody: true, MaxRequestBodySize: 64 << 10, DisablePreParseMultipartForm: true,
		ReadTimeout: 10 * time.Minute, Concurrency: 64, NoDefaultServerHeader: true, Logger: silent{},
	}
}

// changed tracks the open connections.
func (s *Server) changed(c net.Conn, state fasthttp.ConnState) {
	switch state {
	case fasthttp.StateNew:
		s.open.Store(c, nil)
	case fasthttp.StateClosed:
		s.open.Delete(c)
	}
}

// silent discards the log, because errors are returned to the caller.
type silent struct{}

func (silent) Printf(string, ...any) {}

// Close stops listening, and closes all connections without waiting for requests in progress.
func (s *Server) Close() error {
	defer s.release()
	now, cancel := context.WithCancel(context.Background())
	cancel()
	// The HTTP server does not close a listener that it has not taken over yet, so the listener is
	// closed here.
	_ = s.listener.Close()
	err := s.http.ShutdownWithContext(now)
	s.open.Range(func(c, _ any) bool {
		_ = c.(net.Conn).Close()
		return true
	})
	if errors.Is(err, context.Canceled) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// socketPath returns a path for the socket. A path of more than about 100 bytes is too long for a
// socket address, so a long path is opened through the folder's file descriptor.
func socketPath(data string) (path string, release func(), err error) {
	path = filepath.Join(data, socketName)
	if len(path) < 100 {
		return path, func() {}, nil
	}
	dir, err := os.Open(data)
	if err != nil {
		return "", nil, fmt.Errorf("open data folder: %w", err)
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), socketName), func() { _ = dir.Close() }, nil
}

// Client sends requests to a server as its operator.
type Client struct {
	http    http.Client
	release func()
}

// Within returns a client of a handler in this process.
func Within(handler fasthttp.RequestHandler) *Client {
	l := fasthttputil.NewInmemoryListener()
	server := newServer(handler)
	go func() { _ = server.Serve(l) }()
	c := &Client{release: func() { _ = l.Close() }}
	c.http.Transport = &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return l.Dial() }}
	return c
}

// Dial returns a client of the server that is running on a data folder. It returns ErrNotRunning if
// there is none.
func Dial(data string) (*Client, error) {
	path, release, err := socketPath(data)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotRunning
	}
	if err != nil {
		return nil, err
	}
	probe, err := net.Dial("unix", path)
	if err != nil {
		release()
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
			return nil, ErrNotRunning
		}
		return nil, fmt.Errorf("reach the running server: %w", err)
	}
	_ = probe.Close()
	c := &Client{release: release}
	c.http.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}}
	return c, nil
}

// Close releases the client.
func (c *Client) Close() {
	c.http.CloseIdleConnections()
	c.release()
}

// maxAnswer bounds responses that are read into memory, in bytes.
const maxAnswer = 64 << 20

// Call sends a JSON body, if any, and decodes the JSON response into out unless out is nil. A
// refusal is an error with the server's text.
func (c *Client) Call(method, path string, body, out any) error {
	var content io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(b)
	}
	return c.Send(method, path, "application/json", content, func(answer io.Reader) error {
		if out == nil {
			return nil
		}
		if err := json.NewDecoder(io.LimitReader(answer, maxAnswer)).Decode(out); err != nil {
			return fmt.Errorf("read the server's answer: %w", err)
		}
		return nil
	})
}

// Send sends any body, and passes the response to read. kind is the body's media type. A refusal is
// an error with the server's text.
func (c *Client) Send(method, path, kind string, body io.Reader, read func(answer io.Reader) error) error {
	req, err := http.NewRequestWithContext(context.Background(), method, "http://control"+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("User-Agent", "atelier command")
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("reach the running server: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return refusal(resp)
	}
	return read(resp.Body)
}

// refusal returns the error in a response.
func refusal(resp *http.Response) error {
	b, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return fmt.Errorf("read the server's answer: %w", err)
	}
	var failure struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(b, &failure) == nil && failure.Error != "" {
		return errors.New(failure.Error)
	}
	return fmt.Errorf("the server answered %s", resp.Status)
}
