package live

import (
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fasthttp/websocket"
	"github.com/valyala/fasthttp"
	"go.uber.org/goleak"

	"atelier/actors/room"
	"atelier/transport/rfc6455"
)

func TestMain(m *testing.M) {
	if runChild() {
		return
	}
	goleak.VerifyTestMain(m,
		// The first server starts this goroutine, fasthttp's clock for the Date header.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		// The worker pool of a stopped server ends after its next sleep of 10 s.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
}

// testTimeout is how long a test waits for an expected event.
const testTimeout = time.Minute

// testServer is a hub behind a fasthttp server, as in Atelier.
type testServer struct {
	t    testing.TB
	hub  *Hub
	addr string

	mu sync.Mutex
	// Guarded by mu.
	rooms map[string]*room.Room
	// sessions receives each session after it is attached.
	sessions chan *Session
	owner    *owner
}

// owner is a Handler that answers messages of the form "echo ..." and reports all others.
type owner struct {
	messages chan string
	closed   chan Reason
}

func (o *owner) Message(s *Session, payload []byte) {
	if text, ok := strings.CutPrefix(string(payload), "echo "); ok {
		s.Send([]byte(text))
		return
	}
	o.messages <- string(payload)
}

func (o *owner) Limited(s *Session, payload []byte) { s.Send([]byte(`{"type":"error"}`)) }

func (o *owner) Closed(_ *Session, reason Reason) { o.closed <- reason }

// note is a message in these tests, similar to Atelier's welcome and resync.
type note struct {
	Type   string `json:"type"`
	Seq    uint64 `json:"seq"`
	Head   uint64 `json:"head,omitempty"`
	Reason string `json:"reason,omitempty"`
	Text   string `json:"text,omitempty"`
}

func (n note) bytes() []byte {
	p, err := json.Marshal(n)
	if err != nil {
		panic(err)
	}
	return p
}

func newTestServer(t testing.TB, o Options, wrap ...func(net.Listener) net.Listener) *testServer {
	t.Helper()
	hub, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	hub.Start(0)
	h := &testServer{
		t:        t,
		hub:      hub,
		rooms:    make(map[string]*room.Room),
		sessions: make(chan *Session, 30_000),
		owner:    &owner{messages: make(chan string, 100_000), closed: make(chan Reason, 30_000)},
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.addr = ln.Addr().String()
	for _, w := range wrap {
		ln = w(ln)
	}
	server := &fasthttp.Server{Handler: h.serve, KeepHijackedConns: true, CloseOnShutdown: true}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	t.Cleanup(func() {
		hub.Close()
		_ = server.Shutdown()
		<-served
	})
	return h
}

func (h *testServer) room(name string) *room.Room {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.rooms[name]
	if r == nil {
		r = room.New("e1", room.Limits{})
		h.rooms[name] = r
	}
	return r
}

// serve upgrades GET /ws?room=&person=&facilitator=&since=&from=&epoch= and passes the connection to
// the hub. GET /sse has the same parameters, and streams events.
func (h *testServer) serve(ctx *fasthttp.RequestCtx) {
	args := ctx.QueryArgs()
	o := AttachOptions{
		Room:         h.room(string(args.Peek("room"))),
		Person:       string(args.Peek("person")),
		Facilitator:  args.Has("facilitator"),
		EpochChanged: args.Has("epoch") && string(args.Peek("epoch")) != "e1",
		Handler:      h.owner,
		Welcome: func(seq, head uint64) []byte {
			return note{Type: "welcome", Seq: seq, Head: head}.bytes()
		},
		Resync: func(seq uint64, reason string) []byte {
			return note{Type: "resync", Seq: seq, Reason: reason}.bytes()
		},
	}
	if since, err := args.GetUint("since"); err == nil {
		n := uint64(since)
		o.Since = &n
	}
	if from, err := args.GetUint("from"); err == nil {
		o.From = uint64(from)
	}
	if string(ctx.Path()) == "/sse" {
		o.Protocol = SSE
		o.Preamble = []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\r\n")
		ctx.HijackSetNoResponse(true)
		ctx.Hijack(func(c net.Conn) { h.attach(c, o) })
		return
	}
	upgrader := websocket.FastHTTPUpgrader{}
	_ = upgrader.Upgrade(ctx, func(c *websocket.Conn) { h.attach(c.NetConn(), o) })
}

func (h *testServer) attach(c net.Conn, o AttachOptions) {
	raw, buffered, err := TakeOver(c)
	if err != nil {
		c.Close()
		return
	}
	if s, err := h.hub.Attach(raw, buffered, o); err == nil {
		h.sessions <- s
	}
}

// client is a WebSocket client of the test server.
type client struct {
	t    testing.TB
	conn *websocket.Conn
	// session is the server's side of the connection.
	session *Session
}

func (h *testServer) dial(query string) *client {
	h.t.Helper()
	return h.dialWith(websocket.DefaultDialer, "ws://"+h.addr+"/ws?"+query)
}

func (h *testServer) dialWith(d *websocket.Dialer, url string) *client {
	h.t.Helper()
	conn, _, err := d.Dial(url, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { conn.Close() })
	return &client{t: h.t, conn: conn, session: wait(h.t, h.sessions, "session")}
}

// next returns the next message.
func (c *client) next() string {
	c.t.Helper()
	_ = c.conn.SetReadDeadline(time.Now().Add(testTimeout))
	_, p, err := c.conn.ReadMessage()
	if err != nil {
		c.t.Fatalf("read: %v", err)
	}
	return string(p)
}

// expect reads messages and compares them.
func (c *client) expect(want ...string) {
	c.t.Helper()
	for _, w := range want {
		if got := c.next(); got != w {
			c.t.Fatalf("got %.200s, want %.200s", got, w)
		}
	}
}

func (c *client) expectNote(want note) {
	c.t.Helper()
	c.expect(string(want.bytes()))
}

// expectClose reads until the close frame, and returns its code.
func (c *client) expectClose() int {
	c.t.Helper()
	_ = c.conn.SetReadDeadline(time.Now().Add(testTimeout))
	for {
		_, _, err := c.conn.ReadMessage()
		if err == nil {
			continue
		}
		if e, ok := err.(*websocket.CloseError); ok {
			return e.Code
		}
		c.t.Fatalf("no close frame: %v", err)
	}
}

func (c *client) send(text string) {
	c.t.Helper()
	if err := c.conn.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

func wait[T any](t testing.TB, from <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(testTimeout):
		t.Fatalf("no %s", what)
		panic("unreachable")
	}
}

// eventually polls a condition that no channel reports.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(testTimeout)
	for !ok() {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("not in time: %s", what)
		}
	}
}

// frames returns stored frames for everyone, with their seq as payload.
func frames(from, to uint64) []room.Frame {
	var fs []room.Frame
	for seq := from; seq <= to; seq++ {
		fs = append(fs, room.Frame{Seq: seq, Payload: fmt.Appendf(nil, `{"seq":%d}`, seq)})
	}
	return fs
}

func text(seq uint64) string { return fmt.Sprintf(`{"seq":%d}`, seq) }

// masked returns a client's frame. first is the byte with FIN, RSV and opcode.
func masked(first byte, payload []byte) []byte {
	p := rfc6455.AppendHeader(nil, 0, len(payload))
	p[0] = first
	p[1] |= 0x80
	key := [4]byte{0x12, 0x34, 0x56, 0x78}
	p = append(p, key[:]...)
	body := slices.Clone(payload)
	rfc6455.Unmask(body, key)
	return append(p, body...)
}

func clientText(s string) []byte { return masked(0x80|byte(rfc6455.Text), []byte(s)) }
