package compare

import (
	"fmt"
	"path/filepath"
	"strings"
)

// contestant is a server of the comparison with its protocol.
type contestant struct {
	name string
	// args is the command that starts the server; --listen is added. It is nil for Atelier, which
	// the generator starts.
	args []string
	// path is the path of its WebSockets, without the first slash.
	path string
	// requests means that the server answers HTTP requests and has no WebSockets.
	requests bool
	dialect
}

// dialect contains the values of the flags of --generic.
type dialect struct {
	hello, ready, send, match, ack string
	answers                        []string
}

// text is the text of every message, in a field of the server's protocol.
const text = "{{stamp}} {{seq}} {{pad}}"

// found is the pattern for text. The pad consists of the letter x.
const found = `(?P<stamp>[0-9]+) (?P<seq>[0-9]+) x`

// atelierSends is the message of publishers to Atelier; bench/fanout has the original.
const atelierSends = `{"type":"chat","ref":"{{seq}}","message":"` + text + `"}`

// around is the size of Atelier's envelope of a text, with author and time, in bytes. It was
// computed as live_bytes_total divided by live_deliveries_total, less the text and a frame's head.
const around = 190

// contestants returns all servers, in the order of a round. self is this program, node the folder
// of the servers for Node.js, and size the length of text in bytes.
func contestants(self, node string, size int) []contestant {
	// These servers receive only the text, and send only the text.
	plain := dialect{send: text, match: "^" + found}
	return []contestant{
		{name: "floor", args: []string{self, "floor"}, dialect: plain},
		{name: "floor-long", args: []string{self, "floor"}, dialect: dialect{send: text + strings.Repeat("x", around), match: "^" + found}},
		{name: "floor-singly", args: []string{self, "floor", "--singly"}, dialect: plain},
		{name: "atelier", dialect: dialect{send: atelierSends}},
		{name: "centrifuge", args: []string{self, "centrifuge"}, dialect: dialect{
			hello: `{"id":1,"connect":{}}\n{"id":2,"subscribe":{"channel":"bench"}}`,
			ready: `"id":2,"subscribe"`,
			// Each message has its own number, which is neither 1 nor 2.
			send:    `{"id":1{{seq}},"publish":{"channel":"bench","data":"` + text + `"}}`,
			match:   `"data":"` + found,
			ack:     `"id":1(?P<seq>[0-9]+),"publish"`,
			answers: []string{"{}={}"},
		}},
		{name: "nats", args: []string{self, "nats"}, dialect: dialect{
			hello: `CONNECT {"verbose":false,"pedantic":false}\r\nSUB bench 1\r\nPING\r\n`,
			ready: "PONG",
			// The pad makes the length known beforehand.
			send:    fmt.Sprintf(`PUB bench %d\r\n`, size) + text + `\r\n`,
			match:   found,
			answers: []string{"PING\r\n=PONG\r\n"},
		}},
		{name: "gorilla", args: []string{self, "gorilla"}, dialect: plain},
		{name: "coder", args: []string{self, "coder"}, dialect: plain},
		{name: "ws", args: []string{"node", filepath.Join(node, "ws.js")}, dialect: plain},
		{name: "socket.io", args: []string{"node", filepath.Join(node, "socketio.js")}, path: "socket.io/?EIO=4&transport=websocket", dialect: dialect{
			hello:   "40",
			ready:   `^40\{`,
			send:    `42{{seq}}["m","` + text + `"]`,
			match:   `^42\["m","` + found,
			ack:     `^43(?P<seq>[0-9]+)\[`,
			answers: []string{"2=3"},
		}},
		{name: "floor-http", args: []string{self, "floor-http", "--size", fmt.Sprint(answered)}, requests: true},
		{name: "floor-badger", args: []string{self, "floor-badger"}, requests: true},
	}
}

// size returns the --size for a text of this length. It includes the overhead of the protocol.
func (d *dialect) size(length int) int {
	// Outside the text, numbers have about six digits.
	rest := strings.Replace(d.send, text, "", 1)
	rest = strings.NewReplacer("{{seq}}", "123456", `\r`, "\r", `\n`, "\n").Replace(rest)
	return length + len(rest)
}

// flags returns the flags of the generator, for a server with an address and a process id.
// publishes means that messages are sent.
func (c *contestant) flags(address string, pid int, publishes bool) []string {
	if c.args == nil {
		return []string{"--spawn"}
	}
	scheme := "ws"
	if c.requests {
		scheme = "http"
	}
	out := []string{"--generic", "--url", scheme + "://" + address + "/" + c.path, "--pid", fmt.Sprint(pid)}
	add := func(flag, value string) {
		if value != "" {
			out = append(out, flag, value)
		}
	}
	add("--hello", c.hello)
	add("--ready", c.ready)
	for _, answer := range c.answers {
		add("--answer", answer)
	}
	if publishes && !c.requests {
		add("--send", c.send)
		add("--match", c.match)
		add("--ack", c.ack)
	}
	return out
}
