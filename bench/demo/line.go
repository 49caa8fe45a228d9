package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/fasthttp/websocket"
)

// event has the parts of a message that a person notices.
type event struct {
	Type       string `json:"type"`
	Ref        string `json:"ref"`
	Error      string `json:"error"`
	SenderID   string `json:"sender_id"`
	TargetID   string `json:"target_id"`
	AttendeeID string `json:"attendee_id"`

	Poll     *pollOf     `json:"poll"`
	Question *questionOf `json:"question"`
}

// line is a WebSocket. Writing belongs to its person; reading to a goroutine of
// its own, which closes events when the connection has ended.
type line struct {
	conn   *websocket.Conn
	events chan event
}

// sendWithin bounds a write: if it cannot write, the connection is gone.
const sendWithin = 10 * time.Second

// dial opens a connection. It ends with ctx.
func dial(ctx context.Context, url, cookie string) (*line, error) {
	dialer := websocket.Dialer{HandshakeTimeout: sendWithin}
	conn, answer, err := dialer.DialContext(ctx, url, http.Header{"Cookie": {cookie}})
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	_ = answer.Body.Close()
	l := &line{conn: conn, events: make(chan event, 64)}
	go l.read(ctx)
	return l, nil
}

func (l *line) read(ctx context.Context) {
	defer close(l.events)
	defer context.AfterFunc(ctx, func() { _ = l.conn.Close() })()
	for {
		_, payload, err := l.conn.ReadMessage()
		if err != nil {
			return
		}
		var e event
		if json.Unmarshal(payload, &e) != nil {
			continue
		}
		select {
		case l.events <- e:
		case <-ctx.Done():
			return
		}
	}
}

// send writes a message. One that cannot be written ends the connection, which
// the reader reports.
func (l *line) send(message map[string]any) {
	_ = l.conn.SetWriteDeadline(time.Now().Add(sendWithin))
	if l.conn.WriteJSON(message) != nil {
		l.drop()
	}
}

// drop ends the connection without a word, as a network does.
func (l *line) drop() { _ = l.conn.Close() }
