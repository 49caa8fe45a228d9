package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/fasthttp/websocket"

	"atelier/actors/room"
)

// bulk returns frames that fill socket buffers.
func bulk(from, to uint64, size int) []room.Frame {
	fs := frames(from, to)
	for i := range fs {
		p := note{Type: "bulk", Seq: fs[i].Seq, Text: string(bytes.Repeat([]byte{'x'}, size))}
		fs[i].Payload = p.bytes()
	}
	return fs
}

// dialNarrow connects with a small receive buffer, which a few frames fill.
func (h *testServer) dialNarrow(query string) *client {
	return h.dialWith(&websocket.Dialer{NetDial: dialNarrow}, "ws://"+h.addr+"/ws?"+query)
}

func dialNarrow(network, addr string) (net.Conn, error) {
	c, err := net.Dial(network, addr)
	if err == nil {
		_ = c.(*net.TCPConn).SetReadBuffer(32 << 10)
	}
	return c, err
}

func (c *client) note() note {
	c.t.Helper()
	var n note
	m := c.next()
	if err := json.Unmarshal([]byte(m), &n); err != nil {
		c.t.Fatalf("the message %.100s is not a note: %v", m, err)
	}
	return n
}

// The client stops reading until the session is behind, and then reads again. No frame is missing,
// truncated or out of order, and private payloads arrive in their place.
func TestASlowReaderEventuallyGetsEverything(t *testing.T) {
	h := newTestServer(t, Options{})
	r := h.room("a")
	c := h.dialNarrow("room=a&person=p1")
	c.next()
	const last = 4000
	for seq := uint64(1); seq <= last; seq += 100 {
		r.Publish(bulk(seq, seq+99, 1000)...)
		c.session.Send(note{Type: "ack", Seq: seq + 99}.bytes())
		r.Transient(room.Frame{Payload: note{Type: "transient", Seq: seq}.bytes()})
	}
	eventually(t, "the session is behind", func() bool { return h.hub.Stats().Slow == 1 })
	seen, acked, transients := uint64(0), uint64(0), 0
	for seen < last || acked < last || transients < last/100 {
		switch n := c.note(); n.Type {
		case "bulk":
			if n.Seq != seen+1 {
				t.Fatalf("got frame %d after frame %d", n.Seq, seen)
			}
			seen = n.Seq
		case "ack":
			if n.Seq != acked+100 || n.Seq > seen {
				t.Fatalf("ack %d after ack %d and frame %d", n.Seq, acked, seen)
			}
			acked = n.Seq
		case "transient":
			transients++
		default:
			t.Fatalf("the slow client received %+v", n)
		}
	}
	eventually(t, "the session has caught up", func() bool { return h.hub.Stats().Slow == 0 })
	if s := h.hub.Stats(); s.ShortWrites == 0 || s.MissedTransients != 0 {
		t.Errorf("%d short writes, want some; %d missed transients, want none", s.ShortWrites, s.MissedTransients)
	}
}

func TestAnOvertakenReaderIsResynced(t *testing.T) {
	for _, c := range []struct {
		reason  Resync
		options Options
		limits  room.Limits
	}{
		{ResyncOvertaken, Options{}, room.Limits{Frames: 100}},
		{ResyncBytes, Options{MaxBehind: 100_000}, room.Limits{}},
	} {
		t.Run(c.reason.String(), func(t *testing.T) {
			h := newTestServer(t, c.options)
			r := room.New("e1", c.limits)
			h.rooms["a"] = r
			slow, quick := h.dialNarrow("room=a&person=p1"), h.dial("room=a&person=p2")
			slow.next()
			quick.next()
			const last = 2000
			for seq := uint64(1); seq <= last; seq += 20 {
				r.Publish(bulk(seq, seq+19, 1000)...)
				for n := seq; n < seq+20; n++ {
					if got := quick.note(); got.Seq != n {
						t.Fatalf("the quick client got %+v, want frame %d", got, n)
					}
				}
			}
			// The window can overtake the slow client more than once before it reads anything.
			seen, gotResyncs := uint64(0), uint64(0)
			for seen < last {
				n := slow.note()
				switch {
				case n.Type == "resync" && n.Reason == c.reason.String() && n.Seq > seen:
					gotResyncs++
				case n.Type != "bulk" || n.Seq != seen+1:
					t.Fatalf("got %s %d %s after frame %d", n.Type, n.Seq, n.Reason, seen)
				}
				seen = n.Seq
			}
			r.Publish(bulk(last+1, last+1, 10)...)
			if n := slow.note(); n.Seq != last+1 {
				t.Fatalf("got frame %d after frame %d", n.Seq, seen)
			}
			if got := h.hub.Stats().Resyncs[c.reason]; got != gotResyncs || gotResyncs == 0 {
				t.Errorf("the client got %d resyncs, the hub counted %d", gotResyncs, got)
			}
		})
	}
}

// 20 of 1,000 clients never read.
func TestStalledReadersAreClosedWithoutDelayingOthers(t *testing.T) {
	const all, stalled, rounds = 1000, 20, 50
	h := newTestServer(t, Options{Tick: 10 * time.Millisecond, SlowTimeout: 500 * time.Millisecond})
	r := h.room("a")
	var quick []*client
	for i := range all {
		if i%(all/stalled) == 0 {
			h.dialNarrow("room=a&person=s")
			continue
		}
		c := h.dial("room=a&person=p")
		c.next()
		quick = append(quick, c)
	}
	for round := uint64(1); round <= rounds; round++ {
		r.Publish(bulk(round, round, 10_000)...)
		for _, c := range quick {
			if m := c.next(); !strings.HasPrefix(m, fmt.Sprintf(`{"type":"bulk","seq":%d,`, round)) {
				t.Fatalf("got %.50s in round %d", m, round)
			}
		}
	}
	for range stalled {
		h.expectClosed(ReasonStalled)
	}
	if s := h.hub.Stats(); s.Closes[ReasonStalled] != stalled || s.Slow != 0 {
		t.Errorf("%d were closed as stalled, want 20; %d are slow, want 0", s.Closes[ReasonStalled], s.Slow)
	}
}

func TestPrivateQueueIsBounded(t *testing.T) {
	h := newTestServer(t, Options{PrivateBytes: 10_000, Tick: 10 * time.Millisecond, CloseGrace: 50 * time.Millisecond})
	c := h.dialNarrow("room=a&person=p1")
	c.next()
	// The socket is filled first. Otherwise everything would be sent directly.
	h.room("a").Publish(bulk(1, 2000, 1000)...)
	eventually(t, "the session is behind", func() bool { return h.hub.Stats().Slow == 1 })
	sent := 0
	for c.session.Send(make([]byte, 1000)) {
		if sent++; sent > 1000 {
			t.Fatal("the private queue has no bound")
		}
	}
	h.expectClosed(ReasonOverflow)
	if n := h.hub.Stats().Overflows; n != 1 {
		t.Errorf("%d overflows were counted, want 1", n)
	}
}

// The room is rewritten while a session is behind and shared segments contain old payloads.
func TestErasedPayloadsAreNotReplayed(t *testing.T) {
	h := newTestServer(t, Options{})
	r := h.room("a")
	c := h.dialNarrow("room=a&person=p1")
	c.next()
	for seq := uint64(1); seq <= 3000; seq += 50 {
		r.Publish(bulk(seq, seq+49, 1000)...)
	}
	eventually(t, "the session is behind", func() bool { return h.hub.Stats().Slow == 1 })
	r.Rewrite(func(f room.Frame) (room.Frame, bool) {
		f.Payload = note{Type: "erased", Seq: f.Seq}.bytes()
		return f, true
	})
	erased := 0
	for seq := uint64(1); seq <= 3000; seq++ {
		n := c.note()
		if n.Seq != seq {
			t.Fatalf("got frame %d, want %d", n.Seq, seq)
		}
		if n.Type == "erased" {
			erased++
		} else if erased > 0 {
			t.Fatalf("frame %d has its old payload, although earlier frames were erased", seq)
		}
	}
	if erased == 0 {
		t.Error("no payload was erased")
	}
}
