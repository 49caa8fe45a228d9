package servers

import (
	"context"
	"net/http"

	"github.com/coder/websocket"
)

type coderSocket struct{ conn *websocket.Conn }

func acceptCoder(w http.ResponseWriter, r *http.Request) (socket, error) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(largestMessage)
	return &coderSocket{conn}, nil
}

func (s *coderSocket) read() ([]byte, error) {
	_, p, err := s.conn.Read(context.Background())
	return p, err
}

func (s *coderSocket) write(p []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), writeWithin)
	defer cancel()
	return s.conn.Write(ctx, websocket.MessageText, p)
}

func (s *coderSocket) ping() error {
	ctx, cancel := context.WithTimeout(context.Background(), writeWithin)
	defer cancel()
	return s.conn.Ping(ctx)
}

func (s *coderSocket) close() { _ = s.conn.CloseNow() }
