package server

import (
	"bufio"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestRequestsNeedATrustedTunnel(t *testing.T) {
	defer goleak.VerifyNone(t)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "hello "+r.Host)
	}))
	defer server.Close()
	address := server.Listener.Addr().String()
	authority := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenTunnel(address, Trust{}); err == nil || !strings.Contains(err.Error(), "--ca") {
		t.Errorf("a tunnel with an unknown authority: %v", err)
	}
	for name, trust := range map[string]Trust{"authority": {CAFile: authority}, "any": {Insecure: true}} {
		tunnel, err := OpenTunnel(address, trust)
		if err != nil {
			t.Fatalf("opening with %s: %v", name, err)
		}
		c, err := net.Dial("tcp", tunnel.Address())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: workshop.example\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("reading with %s: %v", name, err)
		}
		if b, err := io.ReadAll(res.Body); string(b) != "hello workshop.example" || err != nil {
			t.Errorf("with %s: read %q, %v", name, b, err)
		}
		// A connection that is still open ends with the tunnel.
		idle, err := net.Dial("tcp", tunnel.Address())
		if err != nil {
			t.Fatal(err)
		}
		tunnel.Close()
		if _, err := idle.Read(make([]byte, 1)); err == nil {
			t.Errorf("%s: the connection is still open", name)
		}
		_ = idle.Close()
		_ = c.Close()
	}
	for _, trust := range []Trust{{CAFile: "/nonexistent"}, {CAFile: "tunnel.go"}} {
		if _, err := OpenTunnel(address, trust); err == nil {
			t.Errorf("the tunnel opened with %+v", trust)
		}
	}
}
