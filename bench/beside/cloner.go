//go:build linux

package beside

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"atelier/bench/report"
)

// A separate process makes the clones. In the workshop's process, hundreds of connections that read
// at full speed would delay the workshop's messages.

// crowd contains the cloning attendees, and the bandwidth of the line that they share, in bytes/s.
type crowd struct {
	People []access `json:"people"`
	Line   float64  `json:"line"`
}

// outcome is the result of a clone.
type outcome struct {
	Took    time.Duration `json:"took,omitempty"`
	Refused string        `json:"refused,omitempty"`
	Failed  string        `json:"failed,omitempty"`
}

// ServeClones runs in the separate process. It first reads the cloning attendees from in. Each
// further JSON value is the planned time of a round. For each round, ServeClones makes a clone for
// each attendee, and writes the results to out. It returns at the end of in.
func ServeClones(ctx context.Context, in io.Reader, out io.Writer) error {
	if err := yield(); err != nil {
		return fmt.Errorf("lower the priority of the clones: %w", err)
	}
	orders, answers := json.NewDecoder(in), json.NewEncoder(out)
	var c crowd
	if err := orders.Decode(&c); err != nil {
		return fmt.Errorf("read the cloning attendees: %w", err)
	}
	people, line := c.People, &line{bytesPerSecond: c.Line}
	for {
		var due time.Time
		if err := orders.Decode(&due); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		all := make([]outcome, len(people))
		var clones sync.WaitGroup
		for i := range people {
			clones.Go(func() { all[i] = people[i].outcome(ctx, due, line) })
		}
		clones.Wait()
		if err := answers.Encode(all); err != nil {
			return err
		}
	}
}

// yield lowers the priority of this process, because real attendees clone on their own machines.
// Later threads inherit the priority.
func yield() error {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			return err
		}
		if err := unix.SchedSetAttr(id, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}

// outcome makes a clone on a new connection.
func (a *access) outcome(ctx context.Context, due time.Time, l *line) outcome {
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	_, err := clone(ctx, &http.Client{Transport: transport, Timeout: within}, a, l)
	var no *refusal
	switch {
	case err == nil:
		return outcome{Took: time.Since(due)}
	case errors.As(err, &no):
		return outcome{Refused: err.Error()}
	}
	return outcome{Failed: err.Error()}
}

// cloner controls the separate process.
type cloner struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	orders  *json.Encoder
	answers *json.Decoder
}

// startCloner starts the program, which must call ServeClones. The program ends when ctx ends or
// stop is called.
func startCloner(ctx context.Context, program []string, who crowd) (*cloner, error) {
	cmd := exec.CommandContext(ctx, program[0], program[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the program that clones: %w", err)
	}
	c := &cloner{cmd, in, json.NewEncoder(in), json.NewDecoder(out)}
	if err := c.orders.Encode(who); err != nil {
		c.stop()
		return nil, fmt.Errorf("send the cloning attendees: %w", err)
	}
	return c, nil
}

// clone lets the process make one clone for each attendee, and counts the results.
func (c *cloner) clone(due time.Time, done *report.Tally) error {
	if err := c.orders.Encode(due); err != nil {
		return err
	}
	var all []outcome
	if err := c.answers.Decode(&all); err != nil {
		return err
	}
	for _, o := range all {
		switch {
		case o.Refused != "":
			done.Refuse(o.Refused)
		case o.Failed != "":
			done.GiveUp(o.Failed)
		default:
			done.Succeed(o.Took, true)
		}
	}
	return nil
}

func (c *cloner) stop() {
	_ = c.in.Close() // this ends the process
	_ = c.cmd.Wait()
}
