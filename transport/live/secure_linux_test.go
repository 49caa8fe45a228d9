package live

import (
	"crypto/tls"
	"net"
	"testing"

	"github.com/fasthttp/websocket"
)

// A peer that triggers TLS responses but reads nothing cannot fill the server's memory.
func TestUnreadTLSResponsesAreBounded(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	peer, err := dialNarrow("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	c, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	under := &beneath{TCPConn: c.(*net.TCPConn)}
	o := Options{}.withDefaults()
	w, err := newSecure(&Hub{opts: o}, tls.Server(under, &tls.Config{}), under)
	if err != nil {
		t.Fatal(err)
	}
	defer w.abort()
	for range 1000 {
		if n, err := under.Write(make([]byte, 10_000)); n != 10_000 || err != nil {
			t.Fatalf("the write returned %d, %v, which makes TLS stop", n, err)
		}
		if len(under.pending) > maxPending {
			t.Fatalf("%d bytes are pending, want at most maxPending", len(under.pending))
		}
	}
	if _, err := w.write([]byte("x")); err == nil {
		t.Error("the connection still accepts writes")
	}
}

// The rest of a record that a socket did not accept is sent when there is room again, even
// without further messages.
func TestTheRestOfARecordIsSent(t *testing.T) {
	h := newTestServer(t, Options{Loops: 1, SendBuffer: 4 << 10}, withTLS(t, secured))
	c := h.dialWith(&websocket.Dialer{
		NetDial: dialNarrow, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}, "wss://"+h.addr+"/ws?room=a&person=p1")
	c.next()
	s, r := c.session, h.room("a")
	last := uint64(0)
	for waits := false; !waits; {
		last++
		r.Publish(bulk(last, last, 9000)...)
		seen := make(chan bool, 1)
		s.loop.post(func() { seen <- len(s.wire.(*secure).under.pending) > 0 })
		// The loop handles published frames before tasks, so this frame has been written.
		waits = <-seen
	}
	for seq := uint64(1); seq <= last; seq++ {
		if n := c.note(); n.Seq != seq {
			t.Fatalf("got frame %d, want %d", n.Seq, seq)
		}
	}
}
