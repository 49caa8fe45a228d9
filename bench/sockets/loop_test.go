//go:build linux

package sockets

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fasthttp/websocket"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"atelier/bench/frames"
	"atelier/bench/pacing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// happening is one call of a handler.
type happening struct {
	what string
	text string
	end  End
}

// recorder sends each call to the test.
type recorder chan happening

func (h recorder) Open(*Conn)                { h <- happening{what: "open"} }
func (h recorder) Message(_ *Conn, p []byte) { h <- happening{what: "message", text: string(p)} }
func (h recorder) Closed(_ *Conn, end End)   { h <- happening{what: "closed", end: end} }
func (h recorder) next(t *testing.T, what string) happening {
	t.Helper()
	select {
	case got := <-h:
		if got.what != what {
			t.Fatalf("got %+v, want %s", got, what)
		}
		return got
	case <-time.After(time.Minute):
		t.Fatalf("the handler received no %s", what)
	}
	return happening{}
}

// start runs a loop and a server that passes each WebSocket to serve; with nil, the server refuses
// the upgrade.
func start(t *testing.T, serve func(*websocket.Conn)) (*Loop, recorder, *Target) {
	t.Helper()
	upgrader := websocket.Upgrader{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if serve == nil {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		ws, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer ws.Close()
		serve(ws)
	}))
	t.Cleanup(srv.Close)
	address, err := Resolve(srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	h := make(recorder, 1000)
	l, err := New(pacing.NewClock(), 1, h)
	if err != nil {
		t.Fatal(err)
	}
	go l.Run()
	t.Cleanup(l.Stop)
	return l, h, &Target{Address: address, Source: Source(address, 3), Upgrade: frames.Upgrade{Host: "bench", Path: "/ws"}}
}

// dial connects and waits for the upgrade.
func dial(t *testing.T, l *Loop, h recorder, target *Target) *Conn {
	t.Helper()
	var c *Conn
	var err error
	l.Do(func() { c, err = l.Dial(7, target) })
	if err != nil {
		t.Fatal(err)
	}
	h.next(t, "open")
	return c
}

func echo(ws *websocket.Conn) {
	for {
		kind, p, err := ws.ReadMessage()
		if err != nil || ws.WriteMessage(kind, p) != nil {
			return
		}
	}
}

func TestMessagesAreEchoed(t *testing.T) {
	l, h, target := start(t, echo)
	c := dial(t, l, h, target)
	// The longest message needs several writes and several reads.
	for _, n := range []int{0, 1, 125, 126, 65535, 65536, 900_000} {
		text := strings.Repeat("x", n)
		l.Do(func() { c.Send([]byte(text)) })
		if got := h.next(t, "message"); got.text != text {
			t.Fatalf("%d bytes came back as %d", n, len(got.text))
		}
	}
}

func TestPingsAreAnswered(t *testing.T) {
	l, h, target := start(t, func(ws *websocket.Conn) {
		ws.SetPongHandler(func(data string) error { return ws.WriteMessage(websocket.TextMessage, []byte("pong "+data)) })
		_ = ws.WriteMessage(websocket.PingMessage, []byte("hi"))
		echo(ws)
	})
	dial(t, l, h, target)
	if got := h.next(t, "message"); got.text != "pong hi" {
		t.Errorf("the message after the ping is %q, want \"pong hi\"", got.text)
	}
}

func TestEndsAreReported(t *testing.T) {
	for name, c := range map[string]struct {
		serve func(*websocket.Conn)
		check func(End) bool
	}{
		"close frame": {func(ws *websocket.Conn) {
			_ = ws.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(1013, "later"))
		}, func(e End) bool { return e.Code == 1013 && e.Err == nil }},
		"lost connection": {func(ws *websocket.Conn) {}, func(e End) bool { return e.Code == 0 && e.Err != nil }},
		"binary": {func(ws *websocket.Conn) {
			_ = ws.WriteMessage(websocket.BinaryMessage, []byte("x"))
			echo(ws)
		}, func(e End) bool { return e.Err != nil && strings.Contains(e.Err.Error(), "broke the protocol") }},
	} {
		t.Run(name, func(t *testing.T) {
			l, h, target := start(t, c.serve)
			conn := dial(t, l, h, target)
			if got := h.next(t, "closed"); !c.check(got.end) {
				t.Errorf("the end is %+v", got.end)
			}
			l.Do(func() {
				if conn.Send([]byte("late")) {
					t.Error("a closed connection accepts messages")
				}
			})
		})
	}
}

func TestARefusedUpgradeReportsItsStatus(t *testing.T) {
	l, h, target := start(t, nil)
	l.Do(func() { _, _ = l.Dial(1, target) })
	var refused *frames.RefusedError
	if got := h.next(t, "closed"); !errors.As(got.end.Err, &refused) || refused.Status != http.StatusForbidden {
		t.Errorf("the end is %+v", got.end)
	}
}

func TestRefusedConnectionIsAnError(t *testing.T) {
	l, h, target := start(t, nil)
	nobody := *target
	nobody.Address = &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: 1}
	var err error
	l.Do(func() { _, err = l.Dial(1, &nobody) })
	if err == nil {
		err = h.next(t, "closed").end.Err
	}
	if !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("the error is %v, want ECONNREFUSED", err)
	}
}

func TestPausedConnectionsDoNotRead(t *testing.T) {
	l, h, target := start(t, echo)
	paused, reading := dial(t, l, h, target), dial(t, l, h, target)
	l.Do(func() { paused.Pause(); paused.Send([]byte("first")) })
	for range 20 {
		l.Do(func() { reading.Send([]byte("other")) })
		if got := h.next(t, "message"); got.text != "other" {
			t.Fatalf("received %q during the pause, want \"other\"", got.text)
		}
	}
	l.Do(paused.Resume)
	if got := h.next(t, "message"); got.text != "first" {
		t.Errorf("received %q after the pause, want \"first\"", got.text)
	}
}

func TestAgendaRunsWhileNothingArrives(t *testing.T) {
	l, _, _ := start(t, echo)
	ran := make(chan time.Duration, 3)
	l.Do(func() {
		now := l.Now()
		l.Agenda.At(now+20*time.Millisecond, func(due time.Duration) { ran <- l.Now() - due })
		l.Agenda.Stream(now, pacing.Uniform(200, 10*time.Millisecond), func(due time.Duration) { ran <- l.Now() - due })
	})
	for range 3 {
		select {
		case late := <-ran:
			if late < 0 {
				t.Errorf("the agenda ran %v early", -late)
			}
		case <-time.After(time.Minute):
			t.Fatal("the agenda did not run")
		}
	}
}

func TestPostedFunctionsRunInOrderUntilStop(t *testing.T) {
	l, _, _ := start(t, echo)
	var got []int
	for i := range 100 {
		l.Post(func() { got = append(got, i) })
	}
	l.Do(func() {})
	if len(got) != 100 || !slices.IsSorted(got) {
		t.Errorf("the functions ran in the order %v", got)
	}
	l.Stop()
	l.Do(func() { t.Error("a function ran after Stop") })
}

// Messages are text, or binary if the target requires it.
func TestMessagesAreTextOrBinary(t *testing.T) {
	kinds := make(chan int, 1)
	l, h, target := start(t, func(ws *websocket.Conn) {
		kind, p, err := ws.ReadMessage()
		if err != nil || string(p) != "\x82\xff" {
			t.Errorf("the first message is %q, %v", p, err)
		}
		kinds <- kind
	})
	for binary, want := range map[bool]int{false: websocket.TextMessage, true: websocket.BinaryMessage} {
		l.Do(func() {
			target.SendBinary = binary
			if _, err := l.Dial(0, target); err != nil {
				t.Error(err)
			}
		})
		h.next(t, "open")
		l.Do(func() {
			for _, c := range l.conns {
				c.Send([]byte("\x82\xff"))
			}
		})
		if kind := <-kinds; kind != want {
			t.Errorf("a message of kind %d, want %d", kind, want)
		}
		h.next(t, "closed")
	}
}
