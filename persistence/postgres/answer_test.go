package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"atelier/actors/durable"
	"atelier/persistence/postgres/postgrestest"
)

// cutter closes the connection at a later response, after the response has arrived but before it is
// read.
type cutter struct {
	left atomic.Int64 // number of responses to pass on before the cut; negative passes all
	cuts atomic.Int64
}

func (c *cutter) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &cutConn{Conn: conn, cutter: c}, nil
}

type cutConn struct {
	net.Conn
	cutter *cutter
}

func (c *cutConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err == nil && c.cutter.left.Load() >= 0 && c.cutter.left.Add(-1) == -1 {
		c.cutter.cuts.Add(1)
		_ = c.Conn.Close()
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

// If the response to a commit is lost, the append succeeds exactly once, whether or not the commit
// happened.
func TestACommitWithALostResponseSucceedsOnce(t *testing.T) {
	var c cutter
	c.left.Store(-1)
	s := openTest(t, Options{URL: postgrestest.Database(t), dial: c.dial})
	log := openLog(t, s, "codelab/1")
	if err := commit(log, 1, "r1"); err != nil {
		t.Fatal(err)
	}
	put(t, s, row("count", "0"))
	for round := range 4 {
		c.left.Store(int64(round))
		if err := commit(log, uint64(round)+2, fmt.Sprint("r", round+2)); err != nil {
			t.Errorf("append in round %d: %v", round, err)
		}
		c.left.Store(int64(round))
		guarded := row("count", fmt.Sprint(round+1))
		guarded.Precondition = durable.Unchanged(fmt.Append(nil, round))
		if err := durable.Commit(s, []durable.Row{guarded}); err != nil {
			t.Errorf("guarded append in round %d: %v", round, err)
		}
		refused := row("count", "x")
		refused.Precondition = durable.Absent()
		c.left.Store(int64(round))
		if err := durable.Commit(s, []durable.Row{refused}); !errors.Is(err, durable.ErrConflict) {
			t.Errorf("refused append in round %d: %v, want ErrConflict", round, err)
		}
	}
	c.left.Store(-1)
	if c.cuts.Load() < 4 {
		t.Errorf("only %d responses were lost", c.cuts.Load())
	}
	var got []string
	if err := log.Replay(0, func(seq uint64, record []byte) error {
		got = append(got, fmt.Sprint(seq, string(record)))
		return nil
	}); err != nil || fmt.Sprint(got) != "[1r1 2r2 3r3 4r4 5r5]" {
		t.Errorf("the log is %v, %v", got, err)
	}
}
