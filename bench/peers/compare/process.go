package compare

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a running server.
type process struct {
	cmd     *exec.Cmd
	address string
	reading sync.WaitGroup
}

const (
	startWithin = 15 * time.Second
	// stopWithin is the timeout for an orderly stop.
	stopWithin = 5 * time.Second
)

// start starts a server on a free port and returns when it accepts connections.
func start(ctx context.Context, args []string) (*process, error) {
	args = append(args[:len(args):len(args)], "--listen", "127.0.0.1:0")
	p := &process{cmd: exec.Command(args[0], args[1:]...)}
	// The server has its own process group. Ctrl-C reaches only the comparison, which then stops
	// the server.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	errors, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	found := make(chan string, 1)
	var said strings.Builder
	p.reading.Go(func() {
		defer close(found)
		lines := bufio.NewScanner(errors)
		for lines.Scan() {
			if address, ok := strings.CutPrefix(lines.Text(), "listening "); ok {
				found <- address
				break
			}
			said.WriteString(lines.Text() + "\n")
		}
		// Later output is discarded. It is still read, because a full pipe would block the server.
		_, _ = io.Copy(io.Discard, errors)
	})
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	select {
	case address, ok := <-found:
		if ok {
			p.address = address
			return p, nil
		}
		err = fmt.Errorf("%s ended: %s", strings.Join(args, " "), strings.TrimSpace(said.String()))
	case <-ctx.Done():
		err = fmt.Errorf("%s has not printed its address: %w", strings.Join(args, " "), ctx.Err())
	}
	p.stop()
	return nil, err
}

// stop ends the server with SIGTERM, or after stopWithin with SIGKILL.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	late := time.AfterFunc(stopWithin, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	p.reading.Wait()
	_ = p.cmd.Wait()
}
