package workers

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"atelier/bench/broadcast"
)

// Order is a request of the coordinator. Exactly one field is set.
type Order struct {
	// Tick requests the clock of the worker's machine.
	Tick bool `json:"tick,omitempty"`
	// Offset is the run's timeline minus the clock of the worker's machine.
	Offset *time.Duration `json:"offset,omitempty"`
	// Job begins a run and ends the previous one.
	Job *broadcast.Job `json:"job,omitempty"`
	// Connect dials all clients, spread over this duration. Ready requests the number of connected
	// clients. For the fields below, see the methods of broadcast.Engine with the same names.
	Connect *time.Duration    `json:"connect,omitempty"`
	Ready   bool              `json:"ready,omitempty"`
	Load    *broadcast.Load   `json:"load,omitempty"`
	Drop    *broadcast.Drop   `json:"drop,omitempty"`
	Stop    bool              `json:"stop,omitempty"`
	Sent    bool              `json:"sent,omitempty"`
	Finish  *broadcast.Finish `json:"finish,omitempty"`
}

// Report is a worker's response or, with Sample or Last, an unprompted message. Error is the reason
// why an order failed. Clock is the clock of the worker's machine. Boot identifies the machine and
// its boot: processes with the same Boot share the clock.
type Report struct {
	Error string `json:"error,omitempty"`
	// Last is the reason why the worker ends.
	Last    string             `json:"last,omitempty"`
	Clock   time.Duration      `json:"clock,omitempty"`
	Boot    string             `json:"boot,omitempty"`
	Muster  *broadcast.Muster  `json:"muster,omitempty"`
	Sent    *broadcast.Sent    `json:"sent,omitempty"`
	Outcome *broadcast.Outcome `json:"outcome,omitempty"`
	Sample  *broadcast.Sample  `json:"sample,omitempty"`
}

// largest is the maximum message size in bytes. It is enough for a job of 20,000 clients, or the
// outcome of a long run.
const largest = 256 << 20

var errLarge = errors.New("message is too large")

// line is one side of the stream. One goroutine can read while another writes. But two goroutines
// must not read concurrently, and two must not write concurrently.
type line struct {
	conn net.Conn
	in   []byte
}

func (l *line) send(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	if len(text) > largest {
		return errLarge
	}
	b := binary.BigEndian.AppendUint32(make([]byte, 0, len(text)+4), uint32(len(text)))
	if _, err := l.conn.Write(append(b, text...)); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	return nil
}

// receive reads a message of at most limit bytes.
func (l *line) receive(v any, limit int) error {
	var head [4]byte
	if _, err := io.ReadFull(l.conn, head[:]); err != nil {
		return fmt.Errorf("receive: %w", err)
	}
	n := binary.BigEndian.Uint32(head[:])
	if int64(n) > int64(limit) {
		return errLarge
	}
	// Memory grows with the received bytes rather than with the announced length.
	l.in = l.in[:0]
	for len(l.in) < int(n) {
		piece := min(int(n)-len(l.in), 1<<20)
		at := len(l.in)
		l.in = append(l.in, make([]byte, piece)...)
		if _, err := io.ReadFull(l.conn, l.in[at:]); err != nil {
			return fmt.Errorf("receive: %w", err)
		}
	}
	if err := json.Unmarshal(l.in, v); err != nil {
		return fmt.Errorf("decode message: %w", err)
	}
	return nil
}
