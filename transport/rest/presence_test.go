package rest

import (
	"net"
	"testing"
)

func TestAClientThatHasLeftIsNoticed(t *testing.T) {
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
	if closed(server) {
		t.Error("a silent client counts as gone")
	}
	if _, err := client.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	var b [2]byte
	if closed(server) {
		t.Error("a client that sends ahead counts as gone")
	}
	if n, err := server.Read(b[:]); n != 1 || err != nil {
		t.Errorf("what it sent was taken: %d, %v", n, err)
	}
	client.Close()
	if _, err := server.Read(b[:]); err == nil { // wait until it is known here
		t.Fatal("the end did not arrive")
	}
	if !closed(server) {
		t.Error("a client that has left counts as there")
	}
}
