//go:build linux

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fasthttp/websocket"
)

// gate is a hub that admits each client once, by the client's token in the address, in a header
// and in the first message. It sends an unknown client's message back.
type gate struct {
	mu   sync.Mutex
	in   map[string]*websocket.Conn // by the token
	sent map[string]bool            // the clients that sent something
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer ws.Close()
	token := r.URL.Query().Get("t")
	for {
		_, p, err := ws.ReadMessage()
		if err != nil {
			return
		}
		g.mu.Lock()
		switch from, text, ok := strings.Cut(string(p), "|"); {
		case ok && g.in[from] == ws:
			g.sent[from] = true
			for _, c := range g.in {
				_ = c.WriteMessage(websocket.TextMessage, []byte(text))
			}
		case string(p) == "I am "+token && r.Header.Get("Authorization") == "Bearer "+token && g.in[token] == nil:
			g.in[token] = ws
			_ = ws.WriteMessage(websocket.TextMessage, []byte("welcome"))
		default:
			_ = ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, "%s at %s: bad token %s", p, r.URL, token))
		}
		g.mu.Unlock()
	}
}

// Every client uses the values of its own line.
func TestEveryClientSendsItsOwnValues(t *testing.T) {
	g := &gate{in: map[string]*websocket.Conn{}, sent: map[string]bool{}}
	srv := httptest.NewServer(g)
	defer srv.Close()
	defer srv.CloseClientConnections()
	dir := t.TempDir()
	file, report := filepath.Join(dir, "clients.csv"), filepath.Join(dir, "report.json")
	fanout := func(rows string, more ...string) (code int, output string) {
		if err := os.WriteFile(file, []byte("who,token\n"+rows), 0o600); err != nil {
			t.Fatal(err)
		}
		output = stderrOf(t, func() {
			code = run(append([]string{
				"fanout", "--generic", "--url", strings.Replace(srv.URL, "http", "ws", 1) + "/{{who}}?t={{token}}", "--clients", file,
				"--header", "Authorization: Bearer {{token}}", "--hello", "I am {{token}}", "--ready", "^welcome$",
				"--send", "{{token}}|{{stamp}} {{seq}} {{pad}}", "--match", `^(?P<stamp>\d+) (?P<seq>\d+) `,
				"--subscribers", "2", "--publishers", "2", "--rate", "100", "--warmup", "0s", "--duration", "1s", "--connect", "0s", "--settle", "0s", "--drain", "30s",
				"--allow-lag", "--max-busy", "0", "--json", report,
			}, more...))
		})
		return code, output
	}
	if code, output := fanout("ann,t-one&=\nbob,t two\ncat,\"t\"\"3\"\"\"\ndan,t-4\nrest,unused\n"); code != 0 {
		t.Fatalf("the run ended with %d: %s", code, output)
	}
	g.mu.Lock()
	if len(g.in) != 4 || !g.sent[`t"3"`] || !g.sent["t-4"] || len(g.sent) != 2 {
		t.Errorf("%d clients connected, and %v sent something", len(g.in), g.sent)
	}
	g.mu.Unlock()
	written, err := os.ReadFile(report)
	if err != nil || strings.Contains(string(written), "t-one") || strings.Contains(string(written), "t-4") {
		t.Errorf("the report contains a secret value, or is missing: %v", err)
	}
	// The gate returns the message that it received.
	code, output := fanout("ann,secret1\nbob,secret2\ncat,secret3\ndan,secret4\n", "--hello", "I am not {{token}} of mine", "--drain", "1s")
	if code != exitBroken || strings.Contains(output, "secret") || !strings.Contains(output, "*** at /***?t=***: bad token ***") {
		t.Errorf("the run ended with %d: %s", code, output)
	}
	code, output = fanout("ann,secret1\nbob,secret2\ncat,secret3\n")
	if code != exitUsage || strings.Contains(output, "secret") || !strings.Contains(output, "the run has 4 clients, but the file has lines for 3") {
		t.Errorf("the run ended with %d: %s", code, output)
	}
}
