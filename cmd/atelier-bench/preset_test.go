//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fasthttp/websocket"
	nats "github.com/nats-io/nats-server/v2/server"

	"atelier/bench/broadcast"
	"atelier/bench/fanout"
)

// forum is a server that sends each message to all clients that have entered.
type forum struct {
	mu sync.Mutex
	in map[*peer]bool
	// wrong is the first violation of the protocol by a client. pongs counts the answered
	// heartbeats.
	wrong string
	pongs int
	serve func(*forum, *peer)
	// path and protocol are the path and the subprotocol that clients must request.
	path, protocol string
}

// peer is one client of a forum.
type peer struct {
	ws   *websocket.Conn
	kind int // message type, in both directions
	mu   sync.Mutex
}

func (p *peer) send(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.ws.WriteMessage(p.kind, []byte(text))
}

// next returns the client's next message, or "" at its end.
func (f *forum) next(p *peer) string {
	kind, b, err := p.ws.ReadMessage()
	if err != nil {
		return ""
	}
	if kind != p.kind {
		f.mind("a message of kind %d", kind)
	}
	return string(b)
}

func (f *forum) mind(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.wrong == "" {
		f.wrong = fmt.Sprintf(format, args...)
	}
}

func (f *forum) enter(p *peer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.in[p] = true
}

func (f *forum) pong() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pongs++
}

func (f *forum) broadcast(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for p := range f.in {
		p.send(text)
	}
}

func (f *forum) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.RequestURI != f.path || r.Header.Get("Sec-WebSocket-Protocol") != f.protocol {
		f.mind("a request for %s, protocol %q", r.RequestURI, r.Header.Get("Sec-WebSocket-Protocol"))
	}
	upgrader := websocket.Upgrader{}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer ws.Close()
	p := &peer{ws: ws, kind: websocket.TextMessage}
	if f.protocol == "mqtt" {
		p.kind = websocket.BinaryMessage
	}
	f.serve(f, p)
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.in, p)
}

// centrifugo implements the JSON protocol of Centrifugo. For each client, it joins a heartbeat to
// one publication in a hundred, and refuses the fiftieth publication.
func centrifugo(f *forum, p *peer) {
	n := 0
	for text := f.next(p); text != ""; text = f.next(p) {
		var replies []string
		for line := range strings.SplitSeq(text, "\n") {
			var c struct {
				ID        uint32
				Connect   *struct{}
				Subscribe *struct{ Channel string }
				Publish   *struct {
					Channel string
					Data    json.RawMessage
				}
			}
			if err := json.Unmarshal([]byte(line), &c); err != nil {
				f.mind("%q: %v", line, err)
			}
			switch {
			case line == "{}":
				f.pong()
			case c.Connect != nil:
				replies = append(replies, fmt.Sprintf(`{"id":%d,"connect":{"client":"c"}}`, c.ID))
			case c.Subscribe != nil && c.Subscribe.Channel == "bench":
				f.enter(p)
				replies = append(replies, fmt.Sprintf(`{"id":%d,"subscribe":{}}`, c.ID))
			case c.Publish != nil && c.Publish.Channel == "bench":
				push := fmt.Sprintf(`{"push":{"channel":"bench","pub":{"data":%s}}}`, c.Publish.Data)
				if n++; n%100 == 7 {
					push += "\n{}"
				}
				if n == 50 {
					replies = append(replies, fmt.Sprintf(`{"id":%d,"error":{"code":100,"message":"internal server error"}}`, c.ID))
					continue
				}
				f.broadcast(push)
				replies = append(replies, fmt.Sprintf(`{"id":%d,"publish":{}}`, c.ID))
			default:
				f.mind("%q", line)
			}
		}
		if replies != nil {
			p.send(strings.Join(replies, "\n"))
		}
	}
}

// socketIO implements Engine.IO 4 and Socket.IO 5 for the default namespace.
func socketIO(f *forum, p *peer) {
	p.send(`0{"sid":"s","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000}`)
	if first := f.next(p); first != "40" {
		f.mind("the first message is %q", first)
	}
	f.enter(p)
	p.send(`40{"sid":"t"}`)
	p.send("2")
	for text := f.next(p); text != ""; text = f.next(p) {
		var event []string
		packet, isEvent := strings.CutPrefix(text, "42")
		switch {
		case text == "3":
			f.pong()
		case isEvent && json.Unmarshal([]byte(packet), &event) == nil && len(event) == 2 && event[0] == "message":
			f.broadcast(text)
		default:
			f.mind("%q", text)
		}
	}
}

// mqtt implements MQTT 3.1.1 for clients without a name.
func mqtt(f *forum, p *peer) {
	for text := f.next(p); text != ""; text = f.next(p) {
		for in := bufio.NewReader(strings.NewReader(text)); ; {
			first, length, err := mqttHead(in)
			if err == io.EOF {
				break
			}
			body := make([]byte, length)
			if _, err2 := io.ReadFull(in, body); err != nil || err2 != nil {
				f.mind("%q is not a whole packet", text)
				return
			}
			switch {
			case first == 0x10 && string(body) == "\x00\x04MQTT\x04\x02\x00\x00\x00\x00":
				p.send("\x20\x02\x00\x00")
			case first == 0x82 && string(body) == "\x00\x01\x00\x05bench\x00":
				f.enter(p)
				p.send("\x90\x03\x00\x01\x00")
			case first == 0x30 && bytes.HasPrefix(body, []byte("\x00\x05bench")):
				f.broadcast(text)
			default:
				f.mind("%q", text)
			}
		}
	}
}

// mqttHead reads the fixed header of a packet.
func mqttHead(in *bufio.Reader) (first byte, length int, err error) {
	if first, err = in.ReadByte(); err != nil {
		return 0, 0, err
	}
	for shift := 0; shift < 28; shift += 7 {
		b, err := in.ReadByte()
		if err != nil {
			return 0, 0, io.ErrUnexpectedEOF
		}
		if length |= int(b&0x7f) << shift; b < 0x80 {
			return first, length, nil
		}
	}
	return 0, 0, io.ErrUnexpectedEOF
}

// natsLines implements the protocol of NATS. It joins a heartbeat to a message.
func natsLines(f *forum, p *peer) {
	p.send("INFO {\"server_id\":\"x\",\"max_payload\":1048576}\r\n")
	for text := f.next(p); text != ""; text = f.next(p) {
		for text != "" {
			line, rest, ok := strings.Cut(text, "\r\n")
			text = rest
			words := strings.Fields(line)
			switch {
			case !ok || len(words) == 0:
				f.mind("%q is not a line", line)
			case words[0] == "CONNECT" && json.Valid([]byte(words[1])):
			case line == "SUB bench 1":
				f.enter(p)
			case line == "PING":
				p.send("PONG\r\n")
			case line == "PONG":
				f.pong()
			case words[0] == "PUB" && len(words) == 3 && words[1] == "bench":
				n, err := strconv.Atoi(words[2])
				if err != nil || len(rest) < n+2 || rest[n:n+2] != "\r\n" {
					f.mind("%q does not have the length in its PUB line", text)
					return
				}
				f.broadcast("MSG bench 1 " + words[2] + "\r\n" + rest[:n+2] + "PING\r\n")
				text = rest[n+2:]
			default:
				f.mind("%q", line)
			}
		}
	}
}

// confer runs a fan-out with a preset, and returns its exit code and its report.
func confer(t *testing.T, args ...string) (int, map[string]any, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.json")
	code := run(append([]string{
		"fanout", "--subscribers", "3", "--publishers", "2", "--rate", "200", "--warmup", "100ms", "--duration", "1s", "--connect", "0s", "--settle", "0s",
		"--drain", "30s", "--allow-lag", "--max-busy", "0", "--json", path,
	}, args...))
	b, err := os.ReadFile(path)
	if err != nil {
		return code, nil, ""
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	return code, got, string(b)
}

// Each preset follows its protocol, with messages of each length.
func TestPresetsFollowTheirProtocols(t *testing.T) {
	for name, c := range map[string]struct {
		serve   func(*forum, *peer)
		path    string
		pongs   bool
		refused bool
		sizes   []int
	}{
		"centrifugo": {centrifugo, "/connection/websocket", true, true, []int{130}},
		"socket.io":  {socketIO, "/socket.io/?EIO=4&transport=websocket", true, false, []int{130}},
		"mqtt":       {mqtt, "/mqtt", false, false, []int{40, 130, 5000}},
		"nats":       {natsLines, "/", true, false, []int{47, 5000}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range c.sizes {
				inParallel(t, fmt.Sprint(size), func(t *testing.T) {
					f := &forum{serve: c.serve, path: c.path, in: map[*peer]bool{}}
					if name == "mqtt" {
						f.protocol = "mqtt"
					}
					srv := httptest.NewServer(f)
					defer srv.Close()
					defer srv.CloseClientConnections()
					code, r, text := confer(t, "--preset", name, "--url", strings.Replace(srv.URL, "http", "ws", 1), "--size", fmt.Sprint(size), "--threshold", "refused<=2")
					if code != 0 || r["lost"] != 0.0 || r["deliveries"].(float64) < 100 {
						t.Errorf("the run ended with %d: %.3000s", code, text)
					}
					f.mu.Lock()
					defer f.mu.Unlock()
					if f.wrong != "" || (f.pongs > 0) != c.pongs {
						t.Errorf("wrong message %s; %d heartbeats were answered", f.wrong, f.pongs)
					}
					if c.refused && r["operations"].(map[string]any)["publish"].(map[string]any)["refused"] == 0.0 {
						t.Error("the report does not count a refused message")
					}
				})
			}
		})
	}
}

// natsServer starts the original NATS server. The server accepts the given users, or anybody if
// none is given.
func natsServer(t *testing.T, users ...*nats.User) string {
	t.Helper()
	s, err := nats.NewServer(&nats.Options{
		Users: users, ServerName: "bench", Host: "127.0.0.1", Port: nats.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(),
		Websocket: nats.WebsocketOpts{Host: "127.0.0.1", Port: nats.RANDOM_PORT, NoTLS: true},
		MQTT:      nats.MQTTOpts{Host: "127.0.0.1", Port: nats.RANDOM_PORT},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server is not ready")
	}
	return s.WebsocketURL()
}

func TestNATSUnderstandsItsPresets(t *testing.T) {
	for _, args := range [][]string{
		{"--preset", "nats"}, {"--preset", "nats", "--channel", "a.5", "--binary"}, {"--preset", "mqtt"}, {"--preset", "mqtt", "--channel", "a/5", "--size", "130"},
	} {
		inParallel(t, strings.Join(args[1:], " "), func(t *testing.T) {
			// A subscription takes effect slightly later at the server.
			code, r, text := confer(t, slices.Concat(args, []string{"--url", natsServer(t), "--settle", "500ms"})...)
			if code != 0 || r["lost"] != 0.0 || r["deliveries"].(float64) < 100 {
				t.Errorf("the run ended with %d: %.3000s", code, text)
			}
		})
	}
}

// Clients sign in, each with its own values. The length byte of a long name is not valid text.
func TestClientsSignInWithPresets(t *testing.T) {
	ann, bob := strings.Repeat("ann", 70), "bob"
	url := natsServer(t, &nats.User{Username: ann, Password: "pw-of-ann"}, &nats.User{Username: bob, Password: "pw-of-bob"})
	file := filepath.Join(t.TempDir(), "clients.csv")
	people := func(before string) {
		row := bob + "," + before + "pw-of-bob,c"
		text := "username,password,client_id\n" + ann + "," + before + "pw-of-ann,c1\n" + row + "2\n" + row + "3\n" + row + "4\n" + row + "5\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	people("")
	hello := `CONNECT {"verbose":false,"pedantic":false,"user":"{{username}}","pass":"{{password}}"}\r\nSUB bench 1\r\nPING\r\n`
	for _, args := range [][]string{{"--preset", "mqtt"}, {"--preset", "nats", "--hello", hello}} {
		code, r, text := confer(t, append(args, "--url", url, "--clients", file, "--settle", "500ms")...)
		if code != 0 || r["lost"] != 0.0 || r["deliveries"].(float64) < 100 {
			t.Errorf("%q ended with %d: %.3000s", args, code, text)
		}
	}
	people("not-")
	got := stderrOf(t, func() {
		confer(t, "--preset", "nats", "--hello", hello, "--url", url, "--clients", file, "--drain", "1s")
	})
	if !strings.Contains(got, "-ERR 'Authorization Violation'") || strings.Contains(got, "pw-of") {
		t.Errorf("the output is %s", got)
	}
	// Missing values are left out.
	for want, values := range map[string]map[string]string{
		"\x10\x0c\x00\x04MQTT\x04\x02\x00\x00\x00\x00":                   nil,
		"\x10\x0d\x00\x04MQTT\x04\x02\x00\x00\x00\x01c":                  {"client_id": "c", "other": "x"},
		"\x10\x0f\x00\x04MQTT\x04\x82\x00\x00\x00\x00\x00\x01u":          {"username": "u"},
		"\x10\x12\x00\x04MQTT\x04\xc2\x00\x00\x00\x00\x00\x01u\x00\x01p": {"username": "u", "password": "p"},
	} {
		if got := mqttConnect(values); got != want {
			t.Errorf("for %v, the packet is %q, want %q", values, got, want)
		}
	}
	if err := os.WriteFile(file, []byte("password\np\np\np\np\np\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := stderrOf(t, func() { confer(t, "--preset", "mqtt", "--url", url, "--clients", file) }); !strings.Contains(got, "a column password also needs a column username") {
		t.Errorf("the output is %s", got)
	}
}

// Messages are posted, and arrive as events.
func TestTheEventStreamPresetReceivesPostedMessages(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	streams := map[chan string]bool{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			b, _ := io.ReadAll(r.Body)
			mu.Lock()
			defer mu.Unlock()
			for s := range streams {
				s <- string(b)
			}
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		flush := http.NewResponseController(w).Flush
		mine := make(chan string, 1000)
		mu.Lock()
		streams[mine] = true
		mu.Unlock()
		defer func() { mu.Lock(); defer mu.Unlock(); delete(streams, mine) }()
		for _ = flush(); ; _ = flush() {
			select {
			case <-r.Context().Done():
				return
			case text := <-mine:
				fmt.Fprintf(w, ": a comment\nid: 1\nevent: message\ndata: %s\n\n", text)
			}
		}
	}))
	defer srv.Close()
	defer srv.CloseClientConnections()
	if code, r, text := confer(t, "--preset", "sse", "--url", srv.URL+"/events", "--publish", srv.URL+"/post"); code != 0 || r["deliveries"].(float64) < 100 {
		t.Errorf("the run ended with %d: %.3000s", code, text)
	}
}

// The response from a server that refuses is shown as bytes.
func TestBinaryRefusalIsShownInBytes(t *testing.T) {
	f := &forum{in: map[*peer]bool{}, path: "/mqtt", protocol: "mqtt", serve: func(f *forum, p *peer) {
		f.next(p)
		p.send("\x20\x02\x00\x05") // not authorized
		f.next(p)
	}}
	srv := httptest.NewServer(f)
	defer srv.Close()
	defer srv.CloseClientConnections()
	code := -1
	got := stderrOf(t, func() {
		code, _, _ = confer(t, "--preset", "mqtt", "--url", strings.Replace(srv.URL, "http", "ws", 1), "--drain", "1s")
	})
	if code != exitBroken || !strings.Contains(got, `no received text matches --ready \x03\x00\x01[\x00-\x02]; the last was " \x02\x00\x05"`) {
		t.Errorf("the run ended with %d: %s", code, got)
	}
}

// A message has the requested length. If the protocol has no message of that length, it is a byte
// shorter.
func TestPresetsSendMessagesOfTheRequestedSize(t *testing.T) {
	for _, p := range presets {
		shorter := 0
		for size := 100; size < 400; size++ {
			d := p.dialect(p.channel, size)
			if d.Size == size-1 {
				shorter++
			} else if d.Size != size {
				t.Errorf("%s: %d bytes, want %d", p.name, d.Size, size)
			}
		}
		if shorter > 2 {
			t.Errorf("%s: %d messages are too short", p.name, shorter)
		}
	}
}

// A flag on the command line overrides the preset.
func TestFlagsOverrideThePreset(t *testing.T) {
	p, err := presetNamed("mqtt")
	if err != nil {
		t.Fatal(err)
	}
	b := broadcastFlags{serverFlags: serverFlags{URL: []string{"ws://h/own"}}}
	b.Publishing = fanout.Publishing{Publishers: 1, Size: 100}
	b.Preset, b.Hello, b.Header, b.Answer = "mqtt", `\x10\x0C`, []string{"sec-websocket-protocol: mqttv5", "X-A: b"}, []string{`\xd0=\n`}
	peer, err := b.peer()
	if err != nil {
		t.Fatal(err)
	}
	d, own := peer.Dialect, p.dialect("bench", 100)
	if peer.URL != "ws://h/own" || d.Hello != "\x10\x0c" || len(d.Headers) != 2 || d.Answers[0].In != "\xd0" || d.Answers[0].Out != "\n" || d.Send != own.Send || d.Ready != own.Ready || !d.Binary {
		t.Errorf("the dialect is %+v", d)
	}
	b = broadcastFlags{serverFlags: serverFlags{URL: []string{"ws://h"}}}
	b.Publishing = fanout.Publishing{Publishers: 1, Size: 10}
	b.Preset, b.Send, b.Match = "nats", "PUB x {{stamp}}{{seq}}{{pad}}", "m"
	if peer, err = b.peer(); err != nil || peer.Dialect.Send != "PUB x {{stamp}}{{seq}}{{pad}}" || peer.Dialect.Size != 10 || peer.Dialect.Match != "m" || peer.URL != "ws://h" {
		t.Errorf("the peer is %+v, %v", peer, err)
	}
}

// Each listed preset can be given as flags.
func TestPresetsAreListed(t *testing.T) {
	var out strings.Builder
	if err := listPresets(&out); err != nil {
		t.Fatal(err)
	}
	for _, p := range presets {
		d := p.dialect(p.channel, usualSize)
		for _, text := range []broadcast.Raw{d.Hello, d.Send} {
			if shown := escaped(text); !strings.Contains(out.String(), shown) || unescaped(shown, true) != string(text) {
				t.Errorf("%s: %q is shown as %q, or not at all", p.name, text, shown)
			}
		}
		if err := d.Check(); err != nil {
			t.Errorf("the preset %s is invalid: %v", p.name, err)
		}
	}
	for _, scenario := range []string{"fanout", "idle", "reconnect", "slow"} {
		if code := run([]string{scenario, "--preset", "list"}); code != 0 {
			t.Errorf("%s --preset list ended with %d, want 0", scenario, code)
		}
	}
}

func TestInvalidUsesOfPresetsAreRefused(t *testing.T) {
	for want, args := range map[string][]string{
		`--preset "x": want one of centrifugo, mqtt, nats, socket.io, sse, or list`: {"--preset", "x", "--url", "ws://127.0.0.1:1"},
		"--generic needs --url":     {"--preset", "nats"},
		"want an http or https":     {"--preset", "sse", "--url", "ws://127.0.0.1:1"},
		"want a ws or wss":          {"--preset", "mqtt", "--url", "http://127.0.0.1:1"},
		"needs 47 bytes or more":    {"--preset", "nats", "--url", "ws://127.0.0.1:1", "--size", "46"},
		"needs 40 bytes or more":    {"--preset", "mqtt", "--url", "ws://127.0.0.1:1", "--size", "39"},
		`--channel "a b"`:           {"--preset", "nats", "--url", "ws://127.0.0.1:1", "--channel", "a b"},
		`--channel "{{a}}"`:         {"--preset", "nats", "--url", "ws://127.0.0.1:1", "--channel", "{{a}}"},
		"a --preset with channels":  {"--preset", "sse", "--url", "http://127.0.0.1:1", "--channel", "a"},
		"--channel is for --preset": {"--generic", "--url", "ws://127.0.0.1:1", "--channel", "a", "--send", "{{stamp}}{{seq}}", "--match", "(?P<stamp>1)(?P<seq>1)"},
	} {
		code := -1
		if got := stderrOf(t, func() { code = run(append([]string{"fanout"}, args...)) }); code != exitUsage || !strings.Contains(got, want) {
			t.Errorf("%q ended with %d: %s", args, code, got)
		}
	}
}
