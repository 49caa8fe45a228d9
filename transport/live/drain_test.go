package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"atelier/transport/rfc6455"
)

func TestDrainSendsEveryClientAReconnectDelay(t *testing.T) {
	const n = 100
	h := newTestServer(t, Options{CloseGrace: 100 * time.Millisecond, Tick: 10 * time.Millisecond})
	var clients []*client
	for range n {
		c := h.dial("room=a&person=p")
		c.next()
		clients = append(clients, c)
	}
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		done <- h.hub.Drain(ctx, func(ms int) []byte {
			return fmt.Appendf(nil, `{"type":"reconnect","seq":%d}`, ms)
		}, 10*time.Second)
	}()
	delays := make(map[uint64]bool)
	for _, c := range clients {
		var m note
		if err := json.Unmarshal([]byte(c.next()), &m); err != nil || m.Type != "reconnect" || m.Seq >= 10_000 {
			t.Fatalf("the drain sent %+v, %v", m, err)
		}
		delays[m.Seq] = true
		if code := c.expectClose(); code != rfc6455.CloseRestart {
			t.Fatalf("closed with %d, want CloseRestart", code)
		}
		c.conn.Close()
	}
	if err := wait(t, done, "end of Drain"); err != nil {
		t.Error(err)
	}
	if len(delays) < n/2 {
		t.Errorf("there are only %d different delays for 100 clients", len(delays))
	}
	if s := h.hub.Stats(); s.Sessions != 0 || s.Closes[ReasonDrain] != n {
		t.Errorf("after the drain, %d sessions remain; it closed %d", s.Sessions, s.Closes[ReasonDrain])
	}
	a, b := net.Pipe()
	defer b.Close()
	if _, err := h.hub.Attach(a, nil, AttachOptions{Room: h.room("a"), Handler: h.owner}); !errors.Is(err, ErrDraining) {
		t.Errorf("Attach while draining returned %v, want ErrDraining", err)
	}
}

// A session can pass the check for draining and join only after Drain has sent the delays.
func TestASessionThatJoinsDuringDrainGetsADelay(t *testing.T) {
	h := newTestServer(t, Options{CloseGrace: testTimeout})
	early := h.dial("room=a&person=p")
	early.next()
	early.conn.SetCloseHandler(func(int, string) error { return nil }) // does not answer the close
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.hub.Drain(ctx, func(int) []byte { return []byte(`{"type":"reconnect"}`) }, 0) }()
	early.next()
	if code := early.expectClose(); code != rfc6455.CloseRestart {
		t.Fatalf("closed with %d, want CloseRestart", code)
	}
	h.hub.Reopen() // the check passes, but Drain continues, because early does not answer
	late := h.dial("room=a&person=q")
	late.next()
	if got := late.next(); got != `{"type":"reconnect"}` {
		t.Errorf("the late session received %s", got)
	}
	if code := late.expectClose(); code != rfc6455.CloseRestart {
		t.Errorf("closed with %d, want CloseRestart", code)
	}
	cancel()
	if err := wait(t, done, "end of Drain"); !errors.Is(err, context.Canceled) {
		t.Errorf("Drain returned %v", err)
	}
}

func TestDrainEndsWithItsContext(t *testing.T) {
	h := newTestServer(t, Options{})
	c := h.dial("room=a&person=p") // never answers the close
	c.next()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	err := h.hub.Drain(ctx, func(int) []byte { return []byte("{}") }, 0)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Drain returned %v, want DeadlineExceeded", err)
	}
	h.hub.Close()
	h.expectClosed(ReasonDrain)
}

func TestAHubThatNeverStartedCanBeClosed(t *testing.T) {
	hub, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	hub.Close()
	hub.Close()
}
