//go:build linux

package server

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Bounds of waiting for the process.
const (
	startWithin = 60 * time.Second
	stopWithin  = 15 * time.Second
)

// Process is a server and what it needs to be started again.
type Process struct {
	// Binary is the path of the executable. Immutable.
	Binary string
	// Dir holds the data and the log. Immutable.
	Dir string
	// AdminID and AdminPW are generated. Immutable.
	AdminID, AdminPW string

	addr addresses
	cmd  *exec.Cmd
	log  *os.File
	// reader waits for the end of the log of the running child.
	reader sync.WaitGroup
	// spent is the processor time of children that have ended.
	spent time.Duration
}

// New prepares a server in a new temporary folder.
func New(binary string) (*Process, error) {
	if _, err := os.Stat(binary); err != nil {
		return nil, fmt.Errorf("server binary: %w", err)
	}
	dir, err := os.MkdirTemp("", "atelier-bench-")
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	log, err := os.OpenFile(filepath.Join(dir, "server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("server log: %w", err)
	}
	return &Process{Binary: binary, Dir: dir, AdminID: "bench", AdminPW: rand.Text(), log: log}, nil
}

// URL is where the server listens.
func (p *Process) URL() string { return "http://" + p.addr.public }

// Start starts the server and returns when it is ready. The public address is
// that of the first start.
func (p *Process) Start(ctx context.Context) error {
	public := p.addr.public
	if public == "" {
		public = "127.0.0.1:0"
	}
	cmd := exec.Command(p.Binary, "serve", "--listen", public, "--internal-listen", "127.0.0.1:0", "--data", filepath.Join(p.Dir, "data"))
	// The people of a load test all come from one address.
	cmd.Env = append([]string{"ATELIER_LIMITS_REGISTRATIONS_PER_SECOND_PER_ADDRESS=0"}, os.Environ()...)
	cmd.Env = append(cmd.Env, "ADMIN_ID="+p.AdminID, "ADMIN_PW="+p.AdminPW)
	// A group of its own: Ctrl-C is for the load test, which ends the server in
	// its turn.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return fmt.Errorf("server log: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start server: %w", err)
	}
	p.cmd = cmd
	found := make(chan addresses, 1)
	p.reader.Go(func() { p.follow(stderr, found) })

	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	select {
	case addr, ok := <-found:
		if !ok {
			return fmt.Errorf("server ended or did not say where it listens%s", p.tail())
		}
		p.addr = addr
	case <-ctx.Done():
		return fmt.Errorf("start server: %w%s", ctx.Err(), p.tail())
	}
	return p.ready(ctx)
}

// follow copies the server's log, sends the addresses when they are known, and
// closes found at the end of the log.
func (p *Process) follow(stderr io.Reader, found chan<- addresses) {
	defer close(found)
	var addr addresses
	known := false
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadString('\n')
		// A full disk must not stop the server, so the copy may fail.
		_, _ = p.log.WriteString(line)
		if !known && addr.read(line) {
			known = true
			found <- addr
		}
		if err != nil {
			return
		}
	}
}

// ready returns when the internal listener says so.
func (p *Process) ready(ctx context.Context) error {
	client := http.Client{Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.addr.internal+"/readyz", nil)
		if err != nil {
			return fmt.Errorf("ask for readiness: %w", err)
		}
		resp, err := client.Do(req)
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("server is not ready: %w%s", ctx.Err(), p.tail())
		case <-tick.C:
		}
	}
}

// Kill ends the server as a power cut does.
func (p *Process) Kill() { _ = p.end(syscall.SIGKILL) }

// Pause stops the server where it is until Continue; nothing is lost, everything
// is late.
func (p *Process) Pause() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// Continue ends Pause.
func (p *Process) Continue() error { return p.cmd.Process.Signal(syscall.SIGCONT) }

// Stop asks the server to end, and kills it if it does not within 15 s; that is
// an error.
func (p *Process) Stop() error {
	if p.cmd == nil {
		return nil
	}
	child := p.cmd.Process
	timer := time.AfterFunc(stopWithin, func() { _ = child.Kill() })
	err := p.end(syscall.SIGTERM)
	if !timer.Stop() {
		return errors.New("server did not stop within " + stopWithin.String())
	}
	if err != nil {
		return fmt.Errorf("stop server: %w%s", err, p.tail())
	}
	return nil
}

func (p *Process) end(signal syscall.Signal) error {
	if p.cmd == nil {
		return nil
	}
	_ = p.cmd.Process.Signal(signal)
	p.reader.Wait()
	err := p.cmd.Wait()
	p.spent += p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
	p.cmd = nil
	return err
}

// Remove deletes the data folder and the log. The server must have ended.
func (p *Process) Remove() error {
	p.log.Close()
	return os.RemoveAll(p.Dir)
}

// tail is the end of the log, for error messages.
func (p *Process) tail() string {
	b, err := os.ReadFile(p.log.Name())
	if err != nil || len(b) == 0 {
		return ""
	}
	return "; its log ends:\n" + string(b[max(0, len(b)-1500):])
}
