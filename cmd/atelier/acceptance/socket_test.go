package acceptance

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fasthttp/websocket"
)

// testTimeout limits every wait. A test that passes waits much less.
const testTimeout = time.Minute

// message is one realtime message.
type message record

func (m *message) decode(text []byte) error {
	if err := json.Unmarshal(text, m); err != nil {
		return fmt.Errorf("not a message: %w: %.200q", err, text)
	}
	return nil
}

func (m message) kind() string           { return record(m).text("type") }
func (m message) text(key string) string { return record(m).text(key) }
func (m message) seq() int               { return record(m).number("seq") }

// socket is a WebSocket that verifies every message against asyncapi.json.
type socket struct {
	t    testing.TB
	conn *websocket.Conn
	// received contains all received messages in order.
	received []message
	welcome  message
}

// dial opens a WebSocket. If the server refuses it, dial returns the response.
func (b *browser) dial(path string, opts ...option) (*socket, *http.Response) {
	b.t.Helper()
	req, err := http.NewRequest(http.MethodGet, anyNode(b.base)+"/api"+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	b.authenticate(req)
	for _, c := range b.http.Jar.Cookies(b.site()) {
		req.AddCookie(c)
	}
	for _, o := range opts {
		o(req)
	}
	d := websocket.Dialer{HandshakeTimeout: testTimeout}
	if tr, ok := b.http.Transport.(*http.Transport); ok && tr.TLSClientConfig != nil {
		d.TLSClientConfig = &tls.Config{RootCAs: tr.TLSClientConfig.RootCAs}
	}
	conn, res, err := d.Dial("ws"+strings.TrimPrefix(req.URL.String(), "http"), req.Header)
	if res == nil {
		b.t.Fatalf("dial %s: %v", path, err)
	}
	body, _ := io.ReadAll(res.Body)
	if bare, _, _ := strings.Cut(path, "?"); err == nil || len(body) > 0 {
		if err := verifyAnswer(http.MethodGet, bare, res.StatusCode, res.Header, body); err != nil {
			b.t.Errorf("undocumented: %v", err)
		}
	}
	if err != nil {
		return nil, res
	}
	s := &socket{t: b.t, conn: conn}
	b.t.Cleanup(func() { _ = conn.Close() })
	return s, res
}

// connect opens a WebSocket to a codelab and reads its welcome.
func (b *browser) connect(codelab, query string) *socket {
	b.t.Helper()
	s, res := b.dial("/ws/" + codelab + query)
	if s == nil {
		b.t.Fatalf("connect: status %d", res.StatusCode)
	}
	s.welcome = s.next("welcome")
	return s
}

// read returns the next message.
func (s *socket) read() (message, error) {
	_ = s.conn.SetReadDeadline(time.Now().Add(testTimeout))
	kind, text, err := s.conn.ReadMessage()
	if err != nil {
		return nil, err
	}
	if kind != websocket.TextMessage {
		s.t.Errorf("received a message that is not text: %q", text)
	}
	if err := verifyMessage(text); err != nil {
		s.t.Errorf("undocumented: %v", err)
	}
	var m message
	if err := m.decode(text); err != nil {
		s.t.Fatal(err)
	}
	s.received = append(s.received, m)
	return m, nil
}

// until reads until a message matches.
func (s *socket) until(what string, fits func(message) bool) message {
	s.t.Helper()
	for {
		m, err := s.read()
		if err != nil {
			s.t.Fatalf("waiting for %s: %v; received %v", what, err, s.kinds())
		}
		if fits(m) {
			return m
		}
	}
}

// next reads until a message of this type.
func (s *socket) next(kind string) message {
	s.t.Helper()
	return s.until(kind, func(m message) bool { return m.kind() == kind })
}

// untilChat reads up to a chat message with this text, which a client must have sent. A test can
// then check the messages before it.
func (s *socket) untilChat(text string) message {
	s.t.Helper()
	return s.until("chat "+text, func(m message) bool { return m.kind() == "chat" && m.text("message") == text })
}

func (s *socket) send(m record) {
	s.t.Helper()
	if err := s.conn.WriteJSON(m); err != nil {
		s.t.Fatal(err)
	}
}

// ask sends a message with a reference and returns the ack or error.
func (s *socket) ask(m record, ref string) message {
	s.t.Helper()
	m["ref"] = ref
	s.send(m)
	return s.until("answer to "+ref, func(m message) bool {
		return (m.kind() == "ack" || m.kind() == "error") && m.text("ref") == ref
	})
}

// acked sends a command like ask. The command must succeed.
func (s *socket) acked(m record, ref string) message {
	s.t.Helper()
	a := s.ask(m, ref)
	if a.kind() != "ack" {
		s.t.Fatalf("%v was refused: %s", m, a.text("error"))
	}
	return a
}

// closed reads to the end and returns the close code.
func (s *socket) closed() int {
	s.t.Helper()
	for {
		if _, err := s.read(); err != nil {
			var c *websocket.CloseError
			if !errors.As(err, &c) {
				s.t.Fatalf("the connection ended without a close code: %v", err)
			}
			return c.Code
		}
	}
}

// kinds returns the types of the received messages.
func (s *socket) kinds() []string {
	out := []string{}
	for _, m := range s.received {
		out = append(out, m.kind())
	}
	return out
}

// count returns how many messages of a type were received.
func (s *socket) count(kind string) int {
	n := 0
	for _, m := range s.received {
		if m.kind() == kind {
			n++
		}
	}
	return n
}

// stored returns the received messages that have a position in the stream.
func (s *socket) stored() []message {
	var out []message
	for _, m := range s.received {
		if m["ts"] != nil {
			out = append(out, m)
		}
	}
	return out
}
