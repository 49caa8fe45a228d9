package api

import (
	"net"
	"net/http"
	"testing"
)

// Conn reads responses that have a Content-Length or no body. For all others, including chunked
// ones, it returns an error.
func TestOnlyValidResponsesAreRead(t *testing.T) {
	for text, want := range map[string]int{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: y\r\n\r\nhi":      200,
		"HTTP/1.1 204 No Content\r\n\r\n":                             204,
		"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n":                304,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n":       0,
		"HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n":              410,
		"HTTP/1.1 200 OK\r\nContent-Length:2\r\n\r\nhi":               200,
		"HTTP/1.1 abc\r\n\r\n":                                        0,
		"\r\n":                                                        0,
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n":               0,
		"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n": 0,
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi":              0,
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			_, _ = c.Read(make([]byte, 4096))
			_, _ = c.Write([]byte(text))
		}()
		c := Conn{Address: l.Addr().String(), Host: "workshop.example"}
		status, _, err := c.Do("POST", "/x", "", []byte("{}"))
		c.Close()
		<-done
		_ = l.Close()
		if status != want || (err == nil) != (want != 0) {
			t.Errorf("%q is read as status %d, %v", text, status, err)
		}
	}
}

// A server can limit the requests of a connection.
func TestAConnectionThatTheServerClosesIsReplaced(t *testing.T) {
	srv := start(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		_, _ = w.Write([]byte("hi"))
	})
	c := Conn{Address: srv.Address(), Host: srv.Host()}
	defer c.Close()
	for range 3 {
		if status, body, err := c.Do("GET", "/", "", nil); status != 200 || string(body) != "hi" || err != nil {
			t.Fatalf("the response is %d %q, %v", status, body, err)
		}
	}
}
