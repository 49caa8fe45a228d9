package servers

import (
	"net/http"
	"time"

	"github.com/gorilla/websocket"
)

// gorillaSocket has only one writing goroutine, as the library requires.
type gorillaSocket struct{ conn *websocket.Conn }

var upgrader = websocket.Upgrader{
	ReadBufferSize: 1024, WriteBufferSize: 1024,
	CheckOrigin: func(*http.Request) bool { return true },
}

func acceptGorilla(w http.ResponseWriter, r *http.Request) (socket, error) {
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(largestMessage)
	return &gorillaSocket{conn}, nil
}

func (s *gorillaSocket) read() ([]byte, error) {
	_, p, err := s.conn.ReadMessage()
	return p, err
}

func (s *gorillaSocket) write(p []byte) error {
	if err := s.conn.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	return s.conn.WriteMessage(websocket.TextMessage, p)
}

func (s *gorillaSocket) ping() error {
	return s.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWithin))
}

func (s *gorillaSocket) close() { _ = s.conn.Close() }
