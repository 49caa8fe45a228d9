package rest

import (
	"crypto/tls"
	"net"
	"testing"
	"time"
)

func TestAClosedConnectionIsDetected(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	secure := tls.Server(server, &tls.Config{})
	if closed(server) || closed(secure) {
		t.Error("a silent client is reported as gone")
	}
	if _, err := client.Write([]byte("xy")); err != nil {
		t.Fatal(err)
	}
	var b [1]byte
	if n, err := server.Read(b[:]); n != 1 || err != nil {
		t.Fatalf("read %d bytes, %v, want 1", n, err)
	}
	if closed(server) || closed(secure) {
		t.Error("a client that sends ahead is reported as gone")
	}
	if err := client.Close(); err != nil { // an unread byte precedes the end of the connection
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); !closed(server) && time.Now().Before(end); time.Sleep(time.Millisecond) {
		// The end of the connection arrives a little later.
	}
	if !closed(server) || !closed(secure) {
		t.Error("a client that closed is reported as present")
	}
	if n, err := server.Read(b[:]); n != 1 || err != nil || b[0] != 'y' {
		t.Errorf("an unread byte of the client is lost: %d, %v", n, err)
	}
}
