package live

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/fasthttp/websocket"

	"atelier/transport/rfc6455"
)

// wireKind is the transport of a test connection, and the server code that writes to it.
type wireKind int

const (
	bare    wireKind = iota // TCP without TLS
	secured                 // TLS, written by the event loop if possible
	piped                   // TLS, written by goroutines
)

// withTLS makes a listener use TLS.
func withTLS(t testing.TB, kind wireKind) func(net.Listener) net.Listener {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: key}}}
	return func(ln net.Listener) net.Listener {
		if kind == secured {
			ln = Beneath(ln)
		}
		return tls.NewListener(ln, config)
	}
}

func TestTLS(t *testing.T) {
	for _, c := range []struct {
		name    string
		kind    wireKind
		version uint16
	}{
		{"1.3", secured, tls.VersionTLS13},
		{"1.2", secured, tls.VersionTLS12},
		{"on goroutines", piped, tls.VersionTLS13},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newTestServer(t, Options{Tick: 10 * time.Millisecond, SlowTimeout: 500 * time.Millisecond}, withTLS(t, c.kind))
			d := &websocket.Dialer{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MaxVersion: c.version}}
			r := h.room("a")
			c := h.dialWith(d, "wss://"+h.addr+"/ws?room=a&person=p1")
			// The buffer is small and has a fixed size. If the system enlarged the buffer, the
			// buffers on the path could contain everything that is sent.
			d.NetDial = func(network, addr string) (net.Conn, error) {
				conn, err := net.Dial(network, addr)
				if err == nil {
					err = conn.(*net.TCPConn).SetReadBuffer(64 << 10)
				}
				return conn, err
			}
			stalled := h.dialWith(d, "wss://"+h.addr+"/ws?room=a&person=p2")
			c.next()
			stalled.next()
			// Ten megabytes are more than all buffers on the path together.
			for seq := uint64(1); seq <= 2000; seq++ {
				r.Publish(bulk(seq, seq, 5000)...)
				if n := c.note(); n.Seq != seq {
					t.Fatalf("got frame %d, want %d", n.Seq, seq)
				}
			}
			h.expectClosed(ReasonStalled)
			big := strings.Repeat("b", 100_000)
			c.send("echo " + big)
			c.expect(big)
			c.session.Close(rfc6455.CloseNormal, "")
			if code := c.expectClose(); code != rfc6455.CloseNormal {
				t.Errorf("closed with %d, want CloseNormal", code)
			}
			h.expectClosed(ReasonServer)
		})
	}
}

// A message is received even if its client disconnects immediately. The session then ends.
func TestMessageBeforeAnAbruptEndOfTLSIsReceived(t *testing.T) {
	h := newTestServer(t, Options{}, withTLS(t, secured))
	d := &websocket.Dialer{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	for range 20 {
		c := h.dialWith(d, "wss://"+h.addr+"/ws?room=a&person=p1")
		c.next()
		c.send("last words")
		c.conn.NetConn().(*tls.Conn).NetConn().Close()
		if got := wait(t, h.owner.messages, "message"); got != "last words" {
			t.Fatalf("the handler received %q, want the last words", got)
		}
		h.expectClosed(ReasonGone)
	}
}

// Everything written before a close arrives, even if the client reads late.
func TestTLSDeliversAllWritesBeforeAClose(t *testing.T) {
	h := newTestServer(t, Options{SendBuffer: 4 << 10, PrivateBytes: 16 << 20, CloseGrace: time.Hour}, withTLS(t, secured))
	d := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	conn, err := d.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("GET /sse?room=a&person=p1 HTTP/1.1\r\nHost: a\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	s := wait(t, h.sessions, "session")
	want := strings.Repeat("x", 6<<20)
	s.Send([]byte(want[:3<<20]))
	s.Send([]byte(want[3<<20:]))
	s.Close(rfc6455.CloseNormal, "")
	got := make([]byte, 0, 7<<20)
	_ = conn.SetReadDeadline(time.Now().Add(testTimeout))
	for {
		var chunk [64 << 10]byte
		n, err := conn.Read(chunk[:])
		got = append(got, chunk[:n]...)
		if err != nil {
			break // io.EOF only after the close_notify alert of TLS
		}
	}
	if n := strings.Count(string(got), "x"); n < len(want) {
		t.Errorf("%d of %d bytes arrived", n, len(want))
	}
}
