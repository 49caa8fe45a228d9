//go:build linux

package server

import (
	"bufio"
	"cmp"
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

// These are the timeouts for the start and the stop of the process.
const (
	startWithin = 60 * time.Second
	stopWithin  = 15 * time.Second
)

// Process is a server, with everything needed to restart it.
type Process struct {
	// Binary is the path of the executable that Start runs. It changes only while no child runs.
	Binary string
	// Dir contains the data and the log. Immutable.
	Dir string
	// AdminID and AdminPW are the owner's login, which New sets. Immutable after Start.
	AdminID, AdminPW string
	// Listen is the public address of the first start. If it is empty, a free loopback port is
	// used. Immutable after Start.
	Listen string

	// Env contains settings of the server, as NAME=value, in addition to the settings of every run.
	// Immutable after Start.
	Env []string

	log *os.File
	// reader waits until the log of the running child ends.
	reader sync.WaitGroup

	mu sync.Mutex
	// Only the owner changes these fields. Other goroutines read them under mu.
	cmd  *exec.Cmd
	addr addresses
	// spent is the CPU time of children that have ended. Guarded by mu.
	spent time.Duration
	// Guarded by mu. ending means that the running child is being stopped. died and how describe a
	// child's unexpected end. how is set after the child has been waited for.
	ending bool
	died   time.Time
	how    error
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
		return nil, errors.Join(fmt.Errorf("server log: %w", err), os.Remove(dir))
	}
	return &Process{Binary: binary, Dir: dir, AdminID: "bench", AdminPW: rand.Text(), log: log}, nil
}

// InternalURL returns the address of the server's metrics.
func (p *Process) InternalURL() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return "http://" + p.addr.internal
}

// URL returns the address of the server.
func (p *Process) URL() string { return "http://" + p.addr.public }

// Start starts the server and returns when it is ready. It reuses the public address of the first
// start. After an error the server can still run, so the caller must call Kill.
func (p *Process) Start(ctx context.Context) error {
	public := cmp.Or(p.addr.public, p.Listen, "127.0.0.1:0")
	cmd := exec.Command(p.Binary, "serve", "--listen", public, "--internal-listen", "127.0.0.1:0", "--data", filepath.Join(p.Dir, "data"))
	// All people of a load test register from one address, so the limit per address is disabled.
	cmd.Env = append([]string{"ATELIER_LIMITS_REGISTRATIONS_PER_SECOND_PER_ADDRESS=0"}, os.Environ()...)
	cmd.Env = append(cmd.Env, p.Env...)
	cmd.Env = append(cmd.Env, "ADMIN_ID="+p.AdminID, "ADMIN_PW="+p.AdminPW)
	// The server has its own process group. Ctrl-C reaches only the load test, which then stops the
	// server.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return fmt.Errorf("server log: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start server: %w", err)
	}
	p.mu.Lock()
	p.cmd, p.ending = cmd, false
	p.mu.Unlock()
	found := make(chan addresses, 1)
	p.reader.Go(func() { p.follow(stderr, found) })

	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	select {
	case addr, ok := <-found:
		if !ok {
			return fmt.Errorf("server ended or did not log its addresses%s", p.tail())
		}
		p.mu.Lock()
		p.addr = addr
		p.mu.Unlock()
	case <-ctx.Done():
		return fmt.Errorf("start server: %w%s", ctx.Err(), p.tail())
	}
	return p.ready(ctx)
}

// follow copies the server's log, sends the addresses when they are known, and closes found at the
// end of the log. If the log ends unexpectedly, the server has died, and follow records the time.
func (p *Process) follow(stderr io.Reader, found chan<- addresses) {
	defer close(found)
	var addr addresses
	known := false
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadString('\n')
		// A full disk must not stop the server, so errors of the copy are ignored.
		_, _ = p.log.WriteString(line)
		if !known && addr.read(line) {
			known = true
			found <- addr
		}
		if err != nil {
			break
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ending && p.died.IsZero() {
		p.died = time.Now()
	}
}

// Died returns when and how the server first ended without being stopped. For example, it crashed,
// or the system killed it to free memory. The time is zero if this did not happen.
func (p *Process) Died() (at time.Time, how error) {
	p.mu.Lock()
	at, how = p.died, p.how
	p.mu.Unlock()
	if at.IsZero() || how != nil {
		return at, how
	}
	_ = p.end(0)
	p.mu.Lock()
	defer p.mu.Unlock()
	return at, p.how
}

// ready returns when the internal listener reports readiness.
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

// Kill ends the server with SIGKILL, so that it cannot shut down in an orderly way.
func (p *Process) Kill() { _ = p.end(syscall.SIGKILL) }

// Pause suspends the server until Continue. Nothing is lost, but everything is delayed.
func (p *Process) Pause() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// Continue ends Pause.
func (p *Process) Continue() error { return p.cmd.Process.Signal(syscall.SIGCONT) }

// Stop asks the server to end, and kills it after 15 s, which counts as an error.
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

// end sends a signal to the child, and waits until the child has ended. Signal 0 only waits.
func (p *Process) end(signal syscall.Signal) error {
	if p.cmd == nil {
		return nil
	}
	p.mu.Lock()
	p.ending = true
	p.mu.Unlock()
	_ = p.cmd.Process.Signal(signal)
	p.reader.Wait()
	err := p.cmd.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spent += p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
	if !p.died.IsZero() && p.how == nil {
		p.how = errors.New(p.cmd.ProcessState.String())
	}
	p.cmd = nil
	return err
}

// Remove deletes the data folder and the log. The server must have ended.
func (p *Process) Remove() error {
	p.log.Close()
	return os.RemoveAll(p.Dir)
}

// tail returns the end of the log, for error messages.
func (p *Process) tail() string {
	b, err := os.ReadFile(p.log.Name())
	if err != nil || len(b) == 0 {
		return ""
	}
	return "; its log ends:\n" + string(b[max(0, len(b)-1500):])
}
