// Package control is the socket in the data folder through which commands of
// the binary reach a running server: whoever may open the folder may use it.
package control

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const socketName = "control.sock"

// ErrNotRunning says that no server is running on the data folder.
var ErrNotRunning = errors.New("no server is running on this data folder")

// Operations is what a running server does for other commands.
type Operations struct {
	// Import reads a codelab from a file's content and returns a line that
	// says what was made.
	Import func(content io.Reader) (string, error)
	// Participant carries out a request of the participant commands, JSON, and
	// returns what to print.
	Participant func(request []byte) (string, error)
	// RotateKeys makes a new token key and returns what to print.
	RotateKeys func() (string, error)
	// Cluster says how the nodes are, JSON.
	Cluster func() ([]byte, error)
	// Backup writes a consistent backup.
	Backup func(w io.Writer) error
	// Scrub reads everything that is stored, writes what is damaged, and says
	// how much is.
	Scrub func(w io.Writer) (damaged int, err error)
}

// Server listens on the socket.
type Server struct {
	http    *http.Server
	path    string
	release func()
}

// Listen opens the socket. The caller holds the lock of the data folder, so a
// socket that exists is left over from a killed server.
func Listen(data string, ops Operations) (*Server, error) {
	path, release, err := socketPath(data)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		release()
		return nil, fmt.Errorf("remove the old control socket: %w", err)
	}
	// The socket must never be open to others, not even for a moment.
	old := syscall.Umask(0o177)
	l, err := net.Listen("unix", path)
	syscall.Umask(old)
	if err != nil {
		release()
		return nil, fmt.Errorf("listen on the control socket: %w", err)
	}
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, text string, err error) {
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, text)
	}
	mux.HandleFunc("POST /import", func(w http.ResponseWriter, r *http.Request) {
		line, err := ops.Import(r.Body)
		answer(w, line, err)
	})
	mux.HandleFunc("POST /participant", func(w http.ResponseWriter, r *http.Request) {
		request, err := io.ReadAll(io.LimitReader(r.Body, 64<<10))
		if err != nil {
			return
		}
		text, err := ops.Participant(request)
		answer(w, text, err)
	})
	mux.HandleFunc("POST /keys/rotate", func(w http.ResponseWriter, _ *http.Request) {
		text, err := ops.RotateKeys()
		answer(w, text, err)
	})
	mux.HandleFunc("POST /cluster/status", func(w http.ResponseWriter, _ *http.Request) {
		b, err := ops.Cluster()
		answer(w, string(b), err)
	})
	mux.HandleFunc("GET /backup", func(w http.ResponseWriter, r *http.Request) {
		begun := &begun{Writer: w}
		switch err := ops.Backup(begun); {
		case err != nil && !begun.yes:
			answer(w, "", err)
		case err != nil:
			// It breaks the stream, and the backup's own trailer shows that it is
			// not whole.
			panic(http.ErrAbortHandler)
		}
	})
	mux.HandleFunc("POST /scrub", func(w http.ResponseWriter, _ *http.Request) {
		var report bytes.Buffer
		damaged, err := ops.Scrub(&report)
		w.Header().Set(damagedHeader, strconv.Itoa(damaged))
		answer(w, report.String(), err)
	})
	s := &Server{http: &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}, path: path, release: release}
	go func() { _ = s.http.Serve(l) }()
	return s, nil
}

// begun knows whether anything was written.
type begun struct {
	io.Writer
	yes bool
}

func (b *begun) Write(p []byte) (int, error) {
	b.yes = true
	return b.Writer.Write(p)
}

// damagedHeader carries how much a scrub found.
const damagedHeader = "Atelier-Damaged"

// Close stops listening.
func (s *Server) Close() error {
	err := s.http.Close()
	s.release()
	return err
}

// socketPath is how to name the socket. A path of more than about 100 bytes
// is too long for a socket address, so a long one goes through the folder's
// file descriptor.
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

// Client talks to a running server.
type Client struct {
	http    http.Client
	release func()
}

// Dial returns a client, or ErrNotRunning.
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

// Close gives the client back.
func (c *Client) Close() {
	c.http.CloseIdleConnections()
	c.release()
}

// Import sends a file and returns the server's line about it.
func (c *Client) Import(content io.Reader) (string, error) {
	return c.post("/import", content)
}

// Participant sends a request of the participant commands and returns what to
// print.
func (c *Client) Participant(request []byte) (string, error) {
	return c.post("/participant", bytes.NewReader(request))
}

// RotateKeys makes a new token key and returns what to print.
func (c *Client) RotateKeys() (string, error) { return c.post("/keys/rotate", nil) }

// Cluster says how the nodes are, JSON.
func (c *Client) Cluster() (string, error) { return c.post("/cluster/status", nil) }

// Scrub reads everything that is stored, writes what is damaged, and says how
// much is.
func (c *Client) Scrub(w io.Writer) (damaged int, err error) {
	text, header, err := c.send("/scrub", nil)
	if err != nil {
		return 0, err
	}
	if damaged, err = strconv.Atoi(header.Get(damagedHeader)); err != nil {
		return 0, fmt.Errorf("read the server's answer: %w", err)
	}
	_, err = io.WriteString(w, text)
	return damaged, err
}

func (c *Client) post(path string, content io.Reader) (string, error) {
	text, _, err := c.send(path, content)
	return text, err
}

func (c *Client) send(path string, content io.Reader) (string, http.Header, error) {
	resp, err := c.http.Post("http://control"+path, "application/octet-stream", content)
	if err != nil {
		return "", nil, fmt.Errorf("reach the running server: %w", err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 8<<20))
	if err != nil {
		return "", nil, fmt.Errorf("read the server's answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return "", nil, errors.New(strings.TrimSpace(string(b)))
	}
	return string(b), resp.Header, nil
}

// Backup writes the server's backup to w.
func (c *Client) Backup(w io.Writer) error {
	resp, err := c.http.Get("http://control/backup")
	if err != nil {
		return fmt.Errorf("reach the running server: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		why, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
		return errors.New(strings.TrimSpace(string(why)))
	}
	if _, err := io.Copy(w, resp.Body); err != nil {
		return fmt.Errorf("the backup broke off: %w", err)
	}
	return nil
}
