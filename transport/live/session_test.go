package live

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fasthttp/websocket"

	"atelier/transport/rfc6455"
)

func (h *testServer) expectClosed(want Reason) {
	h.t.Helper()
	if got := wait(h.t, h.owner.closed, "Closed"); got != want {
		h.t.Errorf("closed: %v, want %v", got, want)
	}
}

func TestMessagesReachTheHandlerAndAreAnswered(t *testing.T) {
	h := newTestServer(t, Options{})
	c := h.dial("room=a&person=p1")
	c.next()
	c.send("hello")
	if m := wait(t, h.owner.messages, "message"); m != "hello" {
		t.Errorf("the handler received %q, want hello", m)
	}
	big := strings.Repeat("b", 100_000)
	c.send("echo " + big)
	c.expect(big)
	if c.session.Person() != "p1" || c.session.IsFacilitator() || c.session.Room() != h.room("a") {
		t.Error("the session has another person, rank or room")
	}
}

func TestACloseFrameIsAnswered(t *testing.T) {
	h := newTestServer(t, Options{})
	for _, code := range []int{1000, 1001, 4000} {
		c := h.dial("room=a&person=p1")
		c.next()
		msg := websocket.FormatCloseMessage(code, "bye")
		if err := c.conn.WriteControl(websocket.CloseMessage, msg, time.Now().Add(testTimeout)); err != nil {
			t.Fatal(err)
		}
		if got := c.expectClose(); got != code {
			t.Errorf("closed with %d, want %d", got, code)
		}
		h.expectClosed(ReasonPeer)
	}
	eventually(t, "the room is left", func() bool { return h.hub.Stats().Sessions == 0 })
}

func TestCloseFollowsTheFramesSentBefore(t *testing.T) {
	h := newTestServer(t, Options{})
	c := h.dial("room=a&person=p1")
	c.next()
	h.room("a").Publish(frames(1, 3)...)
	c.session.Send([]byte("last words"))
	c.session.Close(rfc6455.ClosePolicy, "removed")
	if c.session.Send([]byte("too late")) {
		t.Error("Send after Close was accepted")
	}
	c.expect(text(1), text(2), text(3), "last words")
	if code := c.expectClose(); code != rfc6455.ClosePolicy {
		t.Errorf("closed with %d, want ClosePolicy", code)
	}
	h.expectClosed(ReasonServer)
}

func TestBrokenFramesCloseTheConnection(t *testing.T) {
	h := newTestServer(t, Options{MaxMessage: 1000})
	for _, c := range []struct {
		input []byte
		code  int
	}{
		{rfc6455.AppendFrame(nil, rfc6455.Text, []byte("unmasked")), rfc6455.CloseProtocol},
		{masked(0x82, []byte("binary")), rfc6455.CloseUnsupported},
		{clientText("\xff"), rfc6455.CloseInvalidText},
		{clientText(strings.Repeat("x", 1001)), rfc6455.CloseTooBig},
	} {
		cl := h.dial("room=a&person=p1")
		cl.next()
		if _, err := cl.conn.NetConn().Write(c.input); err != nil {
			t.Fatal(err)
		}
		if code := cl.expectClose(); code != c.code {
			t.Errorf("closed with %d, want %d", code, c.code)
		}
		cl.conn.Close()
		h.expectClosed(ReasonProtocol)
	}
}

// After a client has violated the protocol, everything that it sends except its close frame is
// discarded. An earlier version also ignored the close frame, so the connection stayed open for all
// of CloseGrace.
func TestTheClientsCloseFrameEndsABrokenConnection(t *testing.T) {
	h := newTestServer(t, Options{CloseGrace: time.Hour})
	c := h.dial("room=a&person=p1")
	c.next()
	if _, err := c.conn.NetConn().Write(masked(0x82, []byte("binary"))); err != nil {
		t.Fatal(err)
	}
	// The library answers a close frame when it reads one.
	if code := c.expectClose(); code != rfc6455.CloseUnsupported {
		t.Fatalf("closed with %d, want CloseUnsupported", code)
	}
	h.expectClosed(ReasonProtocol)
}

func TestPingIsAnswered(t *testing.T) {
	h := newTestServer(t, Options{})
	c := h.dial("room=a&person=p1")
	c.next()
	pongs := make(chan string, 1)
	c.conn.SetPongHandler(func(p string) error { pongs <- p; return nil })
	if err := c.conn.WriteControl(websocket.PingMessage, []byte("are you there"), time.Now().Add(testTimeout)); err != nil {
		t.Fatal(err)
	}
	c.send("echo done")
	c.expect("done")
	if p := wait(t, pongs, "pong"); p != "are you there" {
		t.Errorf("the pong has %q, want the payload of the ping", p)
	}
}

// An earlier version closed all sessions immediately, without a ping, when the process had been
// suspended for the idle time.
func TestASilentClientIsPingedThenClosed(t *testing.T) {
	for what, interval := range map[string]time.Duration{
		"pinged in time":  20 * time.Millisecond,
		"pinged too late": time.Hour,
	} {
		t.Run(what, func(t *testing.T) {
			h := newTestServer(t, Options{
				Tick: 5 * time.Millisecond, PingInterval: interval,
				IdleTimeout: 100 * time.Millisecond, CloseGrace: 50 * time.Millisecond,
			})
			c := h.dial("room=a&person=p1")
			c.next()
			pings := 0
			c.conn.SetPingHandler(func(string) error { pings++; return nil }) // no pong
			if code := c.expectClose(); code != rfc6455.CloseGoingAway {
				t.Errorf("closed with %d, want CloseGoingAway", code)
			}
			if pings == 0 {
				t.Error("the client got no ping")
			}
			h.expectClosed(ReasonIdle)
		})
	}
}

func TestFloodIsLimited(t *testing.T) {
	h := newTestServer(t, Options{MessageRate: 0.001, MessageBurst: 3})
	c := h.dial("room=a&person=p1")
	c.next()
	for i := range 5 {
		c.send(fmt.Sprint("echo ", i))
	}
	c.expect("0", "1", "2", `{"type":"error"}`, `{"type":"error"}`)
	if n := h.hub.Stats().Limited; n != 2 {
		t.Errorf("%d messages were limited, want 2", n)
	}
}

func TestBucketRefills(t *testing.T) {
	var b bucket
	second := int64(time.Second)
	for i, c := range []struct {
		now  int64
		want bool
	}{
		{0, true}, {0, true}, {0, false}, {second / 2, true}, {second / 2, false},
		{10 * second, true}, {10 * second, true}, {10 * second, false},
	} {
		if got := b.take(c.now, 2, 2); got != c.want {
			t.Errorf("step %d: take returned %v", i, got)
		}
	}
}

func TestAVanishedClientIsReported(t *testing.T) {
	h := newTestServer(t, Options{})
	c := h.dial("room=a&person=p1")
	c.next()
	c.conn.NetConn().Close()
	h.expectClosed(ReasonGone)
	eventually(t, "the room is left", func() bool { return h.hub.Stats().Sessions == 0 })
}

// A message arrives in the same packet as the upgrade request, so fasthttp's reader has already
// read it.
func TestBytesAfterTheHandshakeAreNotLost(t *testing.T) {
	h := newTestServer(t, Options{})
	conn, err := net.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	request := "GET /ws?room=a&person=p1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
	if _, err := conn.Write(append([]byte(request), slices.Concat(clientText("first"), clientText("second"))...)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"first", "second"} {
		if m := wait(t, h.owner.messages, "message"); m != want {
			t.Errorf("got %q, want %q", m, want)
		}
	}
}

func TestSSE(t *testing.T) {
	h := newTestServer(t, Options{Tick: 5 * time.Millisecond, Heartbeat: 20 * time.Millisecond})
	r := h.room("a")
	r.Publish(frames(1, 3)...)
	conn, err := net.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /sse?room=a&person=p1&since=1 HTTP/1.1\r\nHost: x\r\n\r\n")
	s := wait(t, h.sessions, "session")
	_ = conn.SetReadDeadline(time.Now().Add(testTimeout))
	in := bufio.NewReader(conn)
	until := func(want string) {
		t.Helper()
		var got bytes.Buffer
		for !strings.HasSuffix(got.String(), want) {
			b, err := in.ReadByte()
			if err != nil {
				t.Fatalf("got %q, want %q: %v", got.String(), want, err)
			}
			got.WriteByte(b)
		}
	}
	until("text/event-stream\r\nCache-Control: no-store\r\n\r\n" +
		"id: e1:1\ndata: {\"type\":\"welcome\",\"seq\":1,\"head\":3}\n\n" +
		"id: e1:2\ndata: {\"seq\":2}\n\nid: e1:3\ndata: {\"seq\":3}\n\n")
	until("event: beat\ndata: {}\n\n")
	s.Send([]byte("private"))
	until("data: private\n\n")
	r.Publish(frames(4, 4)...)
	until("id: e1:4\ndata: {\"seq\":4}\n\n")
	fmt.Fprint(conn, "whatever")
	s.Close(rfc6455.CloseNormal, "")
	// The server does not read what the client sent, so the connection can also be reset.
	if _, err := in.ReadString(0); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("after Close the stream ends with %v", err)
	}
	h.expectClosed(ReasonServer)
}

func TestSignalsReachThePersonsSessionsAndTheFacilitators(t *testing.T) {
	h := newTestServer(t, Options{SignalBytes: 1000})
	r := h.room("a")
	ann, ann2, bob := h.dial("room=a&person=ann"), h.dial("room=a&person=ann"), h.dial("room=a&person=bob")
	facilitator := h.dial("room=a&person=lea&facilitator=1")
	elsewhere := h.dial("room=b&person=ann")
	everyone := []*client{ann, ann2, bob, facilitator, elsewhere}
	for _, c := range everyone {
		c.next()
	}
	h.hub.SendPerson(r, "ann", []byte("to ann"))
	h.hub.SendFacilitators(r, []byte("to facilitators"))
	if h.hub.SendPerson(r, "ann", make([]byte, 1001)) {
		t.Error("a signal over the bound was accepted")
	}
	eventually(t, "signals are out", func() bool { return h.hub.Stats().Private == 3 })
	for _, c := range everyone {
		c.session.Send([]byte("end"))
	}
	ann.expect("to ann", "end")
	ann2.expect("to ann", "end")
	bob.expect("end")
	facilitator.expect("to facilitators", "end")
	elsewhere.expect("end")

	h.hub.EachSession(r, "ann", func(s *Session) { s.Close(rfc6455.ClosePolicy, "removed") })
	for _, c := range []*client{ann, ann2} {
		if code := c.expectClose(); code != rfc6455.ClosePolicy {
			t.Errorf("closed with %d, want ClosePolicy", code)
		}
	}
	h.hub.CloseRoom(r, rfc6455.CloseNormal, "over")
	for _, c := range []*client{bob, facilitator} {
		if code := c.expectClose(); code != rfc6455.CloseNormal {
			t.Errorf("closed with %d, want CloseNormal", code)
		}
	}
	elsewhere.session.Send([]byte("still here"))
	elsewhere.expect("still here")
	h.hub.Close()
	if h.hub.SendPerson(r, "bob", []byte("late")) {
		t.Error("a closed hub accepted a signal")
	}
}

func TestTransientsArriveOnceAndAreNotReplayed(t *testing.T) {
	h := newTestServer(t, Options{})
	r := h.room("a")
	early := h.dial("room=a&person=p1")
	early.next()
	for _, f := range frames(1, 3) {
		r.Transient(f)
	}
	early.expect(text(1), text(2), text(3))
	late := h.dial("room=a&person=p2&since=0")
	late.next()
	late.session.Send([]byte("end"))
	late.expect("end")
}
