//go:build linux

package workers

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"atelier/bench/broadcast"
)

// Group contains the workers of a coordinator. Its methods are not safe for concurrent use.
type Group struct {
	// Uncertain bounds the error of the workers' clocks.
	Uncertain time.Duration
	// Separate means that the workers are separate processes.
	Separate bool

	start   time.Duration // the zero of the timeline, on this machine's clock
	gone    chan struct{} // see Gone
	once    sync.Once     // closes gone
	members []*member
}

// member is the coordinator's record of one worker.
type member struct {
	name    string
	line    line
	answers chan *Report
	process *exec.Cmd
	running sync.WaitGroup
	// last is the last message of the worker, and err the reason why answers was closed. Read them
	// only after answers was closed.
	last string
	err  error
	exit func() error // waits for the worker's process, if any, and returns how it ended
}

// Plan describes the workers of a group.
type Plan struct {
	// Processes is the number of processes on this machine, started from Binary with the arguments
	// Args. With at most 1, the worker runs inside this process.
	Processes int
	Binary    string
	Args      []string
	// Remote contains the addresses of remote workers, which share the secret. If there are any, no
	// local processes are started.
	Remote []string
	Secret string
}

// Size returns the number of workers.
func (p *Plan) Size() int {
	if n := len(p.Remote); n > 0 {
		return n
	}
	return max(p.Processes, 1)
}

// sampled receives a sample of each worker every second.
type sampled func(broadcast.Sample)

// Gather starts the workers, or connects to them. It calls onSample on separate goroutines.
func Gather(p *Plan, onSample func(broadcast.Sample)) (*Group, error) {
	c := &Group{start: monotonic(), gone: make(chan struct{})}
	var err error
	switch {
	case len(p.Remote) > 0:
		c.Separate = true
		if err = CheckSecret(p.Secret); err != nil {
			return nil, err
		}
		for _, address := range p.Remote {
			var conn net.Conn
			if conn, err = reach(address, p.Secret); err != nil {
				break
			}
			c.add("worker "+address, conn, nil, onSample)
		}
	case p.Processes <= 1:
		mine, its := net.Pipe()
		go func() { _ = Serve(its) }()
		c.add("worker", mine, nil, onSample)
	default:
		c.Separate = true
		for i := range p.Processes {
			if err = c.spawn(p, i, onSample); err != nil {
				break
			}
		}
	}
	if err == nil {
		err = c.synchronise()
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// spawn starts a worker that communicates over its file descriptor 3, which no other process can
// reach.
func (c *Group) spawn(p *Plan, i int, onSample sampled) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("connect worker: %w", err)
	}
	mine, its := os.NewFile(uintptr(pair[0]), "worker"), os.NewFile(uintptr(pair[1]), "coordinator")
	defer its.Close()
	defer mine.Close()
	conn, err := net.FileConn(mine)
	if err != nil {
		return fmt.Errorf("connect worker: %w", err)
	}
	cmd := exec.Command(p.Binary, p.Args...)
	cmd.ExtraFiles = []*os.File{its}
	cmd.Stderr = os.Stderr
	// Ctrl-C reaches only the coordinator, which then ends its workers.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		_ = conn.Close()
		return fmt.Errorf("start worker: %w", err)
	}
	c.add(fmt.Sprintf("worker %d", i+1), conn, cmd, onSample)
	return nil
}

// Inherited returns the stream of a worker that was started by a coordinator.
func Inherited() (net.Conn, error) {
	f := os.NewFile(3, "coordinator")
	if f == nil {
		return nil, errors.New("a worker without --listen must be started by a coordinator")
	}
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("a worker without --listen must be started by a coordinator: %w", err)
	}
	return conn, nil
}

func (c *Group) add(name string, conn net.Conn, process *exec.Cmd, onSample sampled) {
	m := &member{name: name, line: line{conn: conn}, answers: make(chan *Report, 1), process: process}
	m.exit = sync.OnceValue(m.wait)
	c.members = append(c.members, m)
	m.running.Go(func() {
		defer c.once.Do(func() { close(c.gone) })
		defer close(m.answers)
		for {
			r := &Report{}
			if m.err = m.line.receive(r, largest); m.err != nil {
				return
			}
			if r.Last != "" {
				m.last = r.Last
				continue
			}
			if r.Sample != nil {
				onSample(*r.Sample)
				continue
			}
			m.answers <- r
		}
	})
}

// Gone returns a channel that is closed when a worker has ended, so that the coordinator can stop
// waiting.
func (c *Group) Gone() <-chan struct{} { return c.gone }

// Size returns the number of workers.
func (c *Group) Size() int { return len(c.members) }

// Now returns the time on the timeline.
func (c *Group) Now() time.Duration { return monotonic() - c.start }

// exchanges is the number of clock exchanges with a worker on another machine.
const exchanges = 31

// synchronise sends each worker the position of its clock on the timeline.
func (c *Group) synchronise() error {
	for _, m := range c.members {
		quickest := time.Duration(1<<63 - 1)
		offset := -c.start
		for range exchanges {
			asked := monotonic()
			r, err := m.do(&Order{Tick: true})
			if err != nil {
				return err
			}
			took := monotonic() - asked
			if r.Boot != "" && r.Boot == boot() {
				quickest = 0
				break
			}
			if took < quickest {
				quickest, offset = took, asked+took/2-r.Clock-c.start
			}
		}
		c.Uncertain = max(c.Uncertain, quickest/2)
		if _, err := m.do(&Order{Offset: &offset}); err != nil {
			return err
		}
	}
	return nil
}

// do sends an order and waits for the report.
func (m *member) do(o *Order) (*Report, error) {
	if err := m.line.send(o); errors.Is(err, errLarge) {
		return nil, fmt.Errorf("%s: %w", m.name, err)
	} else if err != nil {
		// The reason is returned below, because an earlier message of the worker can name it.
		_ = m.line.conn.Close()
	}
	r, ok := <-m.answers
	if !ok {
		return nil, m.ended()
	}
	if r.Error != "" {
		return nil, fmt.Errorf("%s: %s", m.name, r.Error)
	}
	return r, nil
}

// ended describes how a worker ended, with its last message if it sent one.
func (m *member) ended() error {
	exit := m.exit()
	switch {
	case m.last != "":
		return fmt.Errorf("%s ended: %s", m.name, m.last)
	case exit != nil:
		return fmt.Errorf("%s ended: %w", m.name, exit)
	case !gone(m.err):
		return fmt.Errorf("%s ended: %w", m.name, m.err)
	}
	return fmt.Errorf("%s ended without a message", m.name)
}

// wait waits until the worker's process has ended, and kills the process after 5 s. It returns nil
// for a worker without a process of its own.
func (m *member) wait() error {
	if m.process == nil {
		return nil
	}
	timer := time.AfterFunc(5*time.Second, func() { _ = m.process.Process.Kill() })
	defer timer.Stop()
	return m.process.Wait()
}

// All sends every worker its order concurrently, and returns the reports in the workers' order.
func (c *Group) All(order func(worker int) *Order) ([]*Report, error) {
	reports := make([]*Report, len(c.members))
	errs := make([]error, len(c.members))
	var wg sync.WaitGroup
	for i, m := range c.members {
		wg.Go(func() { reports[i], errs[i] = m.do(order(i)) })
	}
	wg.Wait()
	return reports, errors.Join(errs...)
}

// Close ends the workers. Remote workers then wait for the next coordinator.
func (c *Group) Close() error {
	var errs []error
	for _, m := range c.members {
		_ = m.line.conn.Close()
		// The worker's later messages are discarded.
		for range m.answers {
		}
		m.running.Wait()
		errs = append(errs, m.exit())
	}
	c.members = nil
	return errors.Join(errs...)
}
