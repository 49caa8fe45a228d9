package acceptance

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fasthttp/websocket"

	"atelier/cmd/atelier/config"
	"atelier/transport/auth"
)

func TestInvalidMessagesCloseTheConnectionWithTheirCode(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	for _, broken := range []struct {
		kind int
		text string
		code int
	}{
		{websocket.BinaryMessage, "{}", 1003}, {websocket.TextMessage, "\xff", 1007}, {websocket.TextMessage, strings.Repeat("x", 129<<10), 1009},
	} {
		s := c.attendee("Lin "+http.StatusText(broken.kind)+broken.text[:1]).connect(c.id, "")
		if err := s.conn.WriteMessage(broken.kind, []byte(broken.text)); err != nil {
			t.Fatal(err)
		}
		if code := s.closed(); code != broken.code {
			t.Errorf("closed with %d, want %d", code, broken.code)
		}
	}
}

func TestFragmentsPingsAndTheClosingHandshakeWork(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	s := c.attendee("Lin").connect(c.id, "")
	ponged := make(chan string, 1)
	s.conn.SetPongHandler(func(text string) error { ponged <- text; return nil })
	if err := s.conn.WriteControl(websocket.PingMessage, []byte("mark"), time.Now().Add(testTimeout)); err != nil {
		t.Fatal(err)
	}
	w, err := s.conn.NextWriter(websocket.TextMessage)
	if err != nil {
		t.Fatal(err)
	}
	// A message longer than the client's buffer is sent in several frames.
	_, err = w.Write([]byte(`{"type":"chat","message":"in parts","pad":"` + strings.Repeat("x", 20_000) + `"}`))
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	s.untilChat("in parts")
	if got := <-ponged; got != "mark" {
		t.Errorf("the pong carries %q, want mark", got)
	}
	if err := s.conn.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(1000, "bye")); err != nil {
		t.Fatal(err)
	}
	if code := s.closed(); code != 1000 {
		t.Errorf("closed with %d, want 1000", code)
	}
}

func TestTheOriginMustBeTheServersOrAllowed(t *testing.T) {
	t.Parallel()
	onOneServer(t)
	c := newClass(t)
	lin := c.attendee("Lin")
	for origin, want := range map[string]int{
		"": 101, "http://" + c.addr: 101, "https://app.example.org": 101,
		"https://evil.example.org": 403, "http://app.example.org": 403, "https://app.example.org.evil.org": 403, "null": 403, "http://" + c.addr + ".evil.org": 403,
	} {
		s, res := lin.dial("/ws/"+c.id, header("Origin", origin))
		if res.StatusCode != want {
			t.Errorf("origin %q: status %d, want %d", origin, res.StatusCode, want)
		}
		if s != nil {
			_ = s.conn.Close()
		}
		if _, status := lin.follow(c.id, "", header("Origin", origin)); (status == 200) != (want == 101) {
			t.Errorf("the event stream from origin %q returned %d", origin, status)
		}
	}
}

func TestARefusedConnectionIsAnsweredBeforeTheUpgrade(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	stranger, foreign := open(t, c.addr), newClass(t).attendee("Max")
	for _, try := range []struct {
		by   *browser
		path string
		want int
	}{
		{stranger, "/ws/" + c.id, 401}, {foreign.browser, "/ws/" + c.id, 403}, {c.admin, "/ws/" + unknownID, 404}, {foreign.browser, "/ws/" + unknownID, 403},
	} {
		if _, res := try.by.dial(try.path); res.StatusCode != try.want {
			t.Errorf("%s: status %d, want %d", try.path, res.StatusCode, try.want)
		}
	}
	c.admin.get("/ws/"+c.id).refused(400, "WebSocket")
	stranger.token = c.admin.cookie(auth.SessionCookie)
	if _, res := stranger.dial("/ws/" + c.id); res.StatusCode != 401 {
		t.Errorf("a cookie as a token returned %d", res.StatusCode)
	}
}

// The minimum interval between summaries has a separate test in transport/messages.
func TestSummariesAreSentOnlyAfterChanges(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	boss, s := c.admin.connect(c.id, ""), lin.connect(c.id, "")
	first := boss.until("a summary with Lin", func(m message) bool { return m.kind() == "progress_summary" && m.number("online") == 1 })
	if per := first["per_step"].([]any); len(per) != 3 || per[0] != 1.0 {
		t.Errorf("the summary per step is %v", per)
	}
	for i := range 30 {
		s.acked(record{"type": "step_progress", "step_number": 1 + i%3}, string(rune('A'+i)))
	}
	s.acked(record{"type": "step_progress", "step_number": 2}, "last")
	boss.until("Lin on step 2", func(m message) bool {
		return m.kind() == "progress_summary" && m["per_step"].([]any)[1] == 1.0
	})
	// Attendees also get a summary, later. If Lin's last summary already shows this step, the
	// server sends no other.
	shown := false
	for _, m := range s.received {
		if m.kind() == "progress_summary" {
			shown = m["per_step"].([]any)[1] == 1.0
		}
	}
	if !shown {
		s.until("a summary", func(m message) bool { return m.kind() == "progress_summary" && m["per_step"].([]any)[1] == 1.0 })
	}
	// If the server sent a summary without a change, the summary would arrive before the next
	// change.
	s.acked(record{"type": "step_progress", "step_number": 3}, "end")
	boss.until("Lin on step 3", func(m message) bool {
		return m.kind() == "progress_summary" && m["per_step"].([]any)[2] == 1.0
	})
	for who, received := range map[string][]message{"the facilitator": boss.received, "the attendee": s.received} {
		var last message
		for _, m := range received {
			if m.kind() != "progress_summary" {
				continue
			}
			if reflect.DeepEqual(m, last) {
				t.Errorf("%s received %v twice", who, m)
			}
			last = m
		}
	}
}

func TestAClientThatIgnoresPingsIsDisconnected(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Live.PingInterval, cfg.Live.IdleTimeout = config.Duration(200*time.Millisecond), config.Duration(2500*time.Millisecond)
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	dead := c.attendee("Lin").connect(c.id, "")
	pings := 0
	dead.conn.SetPingHandler(func(string) error { pings++; return nil })
	if code := dead.closed(); code != 1001 || pings == 0 {
		t.Errorf("closed with %d after %d pings, want 1001", code, pings)
	}
}
