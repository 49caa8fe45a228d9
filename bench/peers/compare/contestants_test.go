package compare

import (
	"bytes"
	"context"
	"flag"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"atelier/bench/peers/servers"
)

const (
	nodeFolder = "../node"
	generator  = "../../../bin/atelier-bench"
	length     = 160
)

// within is the timeout of each wait in a test.
const within = time.Minute

// running starts a contestant and returns its address and process id. Go servers run in this
// process, Node servers in a separate one.
func running(t *testing.T, c *contestant) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	if c.args[0] == "node" {
		defer cancel()
		if _, err := exec.LookPath("node"); err != nil {
			t.Skip("Node is not installed")
		}
		if _, err := os.Stat(nodeFolder + "/node_modules"); err != nil {
			t.Skip("the packages are not installed: npm ci in bench/peers/node")
		}
		p, err := start(ctx, c.args)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.stop)
		return p.address, p.cmd.Process.Pid
	}
	peer := servers.All()[c.args[1]]
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	peer.Flags(flags)
	if err := flags.Parse(c.args[2:]); err != nil {
		t.Fatal(err)
	}
	address, ended := make(chan string, 1), make(chan error, 1)
	ctx, stop := context.WithCancel(context.Background())
	cancel()
	go func() { ended <- peer.Run(ctx, "127.0.0.1:0", func(a string) { address <- a }) }()
	t.Cleanup(func() {
		stop()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(within):
			t.Error("the contestant did not stop in time")
		}
	})
	select {
	case a := <-address:
		return a, os.Getpid()
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
	case <-time.After(within):
		t.Fatal("the contestant did not start in time")
	}
	return "", 0
}

// A message from one client reaches another client. The generator then runs with flags from the
// same dialect.
func TestAMessageReachesAnotherClient(t *testing.T) {
	for _, c := range contestants("peers", nodeFolder, length) {
		if c.args == nil || c.requests {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			address, pid := running(t, &c)
			said := through(t, &c, address)
			if got, want := len(said), c.size(length); got < want-6 || got > want {
				t.Errorf("sent %d bytes, want about %d", got, want)
			}
			if _, err := os.Stat(generator); err != nil {
				t.Log("the generator is not built, so this test runs without it")
				return
			}
			s := scenario{command: "fanout", subscribers: 3, rate: 50}
			report := filepath.Join(t.TempDir(), "report")
			args := append(s.flags(&c, times{0, time.Second}, length, 0), c.flags(address, pid, true)...)
			// Lateness of the generator is irrelevant here.
			out, err := exec.Command(generator, append(args, "--allow-lag", "--max-busy", "0", "--json", report)...).CombinedOutput()
			if err != nil {
				t.Fatalf("the generator failed: %v: %s", err, out)
			}
			r, err := readReport(report)
			if err != nil || r.DeliveriesPerSecond == 0 || r.Lost+r.Duplicated > 0 {
				t.Errorf("the generator's report is wrong: %v: %s", err, out)
			}
		})
	}
}

// through sends a message from one client to another and returns the sent text.
func through(t *testing.T, c *contestant, address string) string {
	listener, speaker := dial(t, c, address), dial(t, c, address)
	said := strings.NewReplacer("{{stamp}}", "1234567", "{{seq}}", "4711", "{{pad}}", "").Replace(text)
	pad := strings.Repeat("x", length-len(said))
	message := strings.NewReplacer("{{stamp}}", "1234567", "{{seq}}", "4711", "{{pad}}", pad).Replace(unescaped(c.send))
	if err := speaker.WriteMessage(websocket.TextMessage, []byte(message)); err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile(c.match)
	found := match.FindSubmatch(hear(t, listener, match))
	if stamp, seq := found[match.SubexpIndex("stamp")], found[match.SubexpIndex("seq")]; string(stamp) != "1234567" || string(seq) != "4711" {
		t.Errorf("received %s, want the stamp 1234567 and the seq 4711", found[0])
	}
	if c.ack != "" {
		ack := regexp.MustCompile(c.ack)
		if seq := ack.FindSubmatch(hear(t, speaker, ack))[ack.SubexpIndex("seq")]; string(seq) != "4711" {
			t.Errorf("acknowledged %s", seq)
		}
	}
	return message
}

func unescaped(s string) string { return strings.NewReplacer(`\r`, "\r", `\n`, "\n").Replace(s) }

// dial connects a client and waits until it is ready. If the server sends nothing by itself, the
// client is ready once it receives its own message.
func dial(t *testing.T, c *contestant, address string) *websocket.Conn {
	t.Helper()
	ws, _, err := websocket.DefaultDialer.Dial("ws://"+address+"/"+c.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.Close() })
	if err := ws.SetReadDeadline(time.Now().Add(within)); err != nil {
		t.Fatal(err)
	}
	word, ready := unescaped(c.hello), c.ready
	if ready == "" {
		word, ready = "ready?", "^ready.$"
	}
	if err := ws.WriteMessage(websocket.TextMessage, []byte(word)); err != nil {
		t.Fatal(err)
	}
	hear(t, ws, regexp.MustCompile(ready))
	return ws
}

// hear reads until a message matches.
func hear(t *testing.T, ws *websocket.Conn, match *regexp.Regexp) []byte {
	t.Helper()
	for {
		_, p, err := ws.ReadMessage()
		if err != nil {
			t.Fatalf("waiting for %s: %v", match, err)
		}
		if match.Match(p) {
			return p
		}
	}
}

func TestFloorsAnswerRequests(t *testing.T) {
	for _, c := range contestants("peers", nodeFolder, length) {
		if !c.requests {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			address, _ := running(t, &c)
			url := "http://" + address + "/"
			resp, err := http.Post(url, "text/plain", bytes.NewReader(make([]byte, length)))
			if err != nil || resp.StatusCode != http.StatusNoContent {
				t.Fatalf("a POST of %d bytes returned %v, %v, want 204", length, resp, err)
			}
			_ = resp.Body.Close()
			resp, err = http.Get(url)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if reads := c.name == "floor-http"; err != nil || reads && strconv.Itoa(len(body)) != c.args[3] || !reads && resp.StatusCode != http.StatusMethodNotAllowed {
				t.Errorf("a GET returned %v, %d bytes, %v", resp.Status, len(body), err)
			}
			http.DefaultClient.CloseIdleConnections()
		})
	}
}
