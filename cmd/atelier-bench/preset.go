//go:build linux

package main

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"atelier/bench/broadcast"
	"atelier/bench/fanout"
)

// preset contains the defaults of the flags for servers of a protocol other than Atelier's.
type preset struct {
	name, about string
	// stream means an event stream instead of WebSockets.
	stream bool
	// path is the default path of --url, with the query.
	path string
	// channel is the default of --channel: a channel, subject, topic or event name. It is "" if the
	// protocol has none.
	channel string
	// dialect returns the dialect for a channel, with messages of the given size. If the protocol
	// has no message of exactly that size, the messages are one byte shorter.
	dialect func(channel string, size int) broadcast.Dialect
	// signIn returns a client's first message, with the client's values of the columns in signIns.
	// It is nil if the preset does not sign clients in.
	signIn func(values map[string]string) string
}

// signIns contains the columns that presets use to sign clients in automatically.
var signIns = []string{"client_id", "username", "password"}

// listed is the value of --preset that lists all presets.
const listed = "list"

// payload is the text that publishers send. Each preset embeds this text in a message of its
// protocol. payloadPattern finds the text in a received message.
const (
	payload        = "{{stamp}} {{seq}} {{pad}}"
	payloadPattern = "(?P<stamp>[0-9]+) (?P<seq>[0-9]+) "
)

// leastPayload is the minimum size of a payload that is sufficient for every run, in bytes. It
// contains a stamp of 16 digits and a number of 13 digits, each with a space.
const leastPayload = 16 + 1 + 13 + 1

var presets = []*preset{
	{
		name: "centrifugo", about: "Centrifugo, its JSON protocol; clients must be allowed to subscribe and to publish",
		path: "/connection/websocket", channel: "bench",
		dialect: func(channel string, size int) broadcast.Dialect {
			return broadcast.Dialect{
				Hello: raw(`{"id":1,"connect":{}}`+"\n"+`{"id":2,"subscribe":{"channel":"%s"}}`, channel), Ready: `"id":2,"subscribe"`,
				// Each message has its own number, which is neither 1 nor 2.
				Send: raw(`{"id":1{{seq}},"publish":{"channel":"%s","data":"`+payload+`"}}`, channel), Size: size,
				Match: `"data":"` + payloadPattern, Ack: `"id":1(?P<seq>[0-9]+),"publish"`, Refusal: `"id":1(?P<seq>[0-9]+),"error"`,
				Answers: []broadcast.Answer{{In: "{}", Out: "{}"}},
			}
		},
	},
	{
		name: "mqtt", about: "MQTT 3.1.1 over WebSocket, QoS 0; signs in by columns client_id, username and password of --clients",
		path: "/mqtt", channel: "bench",
		dialect: func(channel string, size int) broadcast.Dialect {
			topic := mqttText(channel)
			publish := func(n int) string { return mqttPacket(0x30, topic, n) }
			n := fit(size, func(n int) int { return len(publish(n)) + n })
			return broadcast.Dialect{
				Binary: true, Headers: []string{"Sec-WebSocket-Protocol: mqtt"},
				Hello: broadcast.Raw(mqttConnect(nil) + mqttPacket(0x82, "\x00\x01"+topic+"\x00", 0)),
				Ready: `\x03\x00\x01[\x00-\x02]`, // the end of the SUBACK
				Send:  broadcast.Raw(publish(n) + payload), Size: len(publish(n)) + n, Match: regexp.QuoteMeta(channel) + payloadPattern,
			}
		},
		signIn: mqttConnect,
	},
	{
		name: "nats", about: "core NATS over WebSocket, without a name or a password",
		channel: "bench",
		dialect: func(channel string, size int) broadcast.Dialect {
			publish := func(n int) string { return fmt.Sprintf("PUB %s %d\r\n", channel, n) }
			n := fit(size, func(n int) int { return len(publish(n)) + n + len("\r\n") })
			return broadcast.Dialect{
				Hello: raw("CONNECT {\"verbose\":false,\"pedantic\":false}\r\nSUB %s 1\r\nPING\r\n", channel), Ready: `PONG\r\n`,
				Send: broadcast.Raw(publish(n) + payload + "\r\n"), Size: len(publish(n)) + n + len("\r\n"), Match: `\r\n` + payloadPattern,
				Answers: []broadcast.Answer{{In: "PING\r\n", Out: "PONG\r\n"}},
			}
		},
	},
	{
		name: "socket.io", about: "Socket.IO (Engine.IO 4) over WebSocket; the server must emit each event to all, under its name",
		path: "/socket.io/?EIO=4&transport=websocket", channel: "message",
		dialect: func(channel string, size int) broadcast.Dialect {
			return broadcast.Dialect{
				Hello: "40", Ready: `^40\{`,
				Send: raw(`42["%s","`+payload+`"]`, channel), Size: size, Match: `^42\["` + regexp.QuoteMeta(channel) + `","` + payloadPattern,
				Answers: []broadcast.Answer{{In: "2", Out: "3"}},
			}
		},
	},
	{
		name: "sse", about: "an event stream (SSE); publishers POST each message to --publish as text, and the server sends it as the data of an event",
		stream: true,
		dialect: func(_ string, size int) broadcast.Dialect {
			return broadcast.Dialect{Send: payload, Size: size, Match: payloadPattern}
		},
	},
}

func raw(format, channel string) broadcast.Raw {
	return broadcast.Raw(strings.ReplaceAll(format, "%s", channel))
}

// fit returns the maximum length of a text, at least leastPayload, for a message of at most size
// bytes. total returns the length of the message with a given text.
func fit(size int, total func(text int) int) int {
	n := max(size, leastPayload)
	for n > leastPayload && total(n) > size {
		n--
	}
	return n
}

// mqttText returns a text, preceded by its length (MQTT 3.1.1, 1.5.3).
func mqttText(text string) string {
	return string(binary.BigEndian.AppendUint16(nil, uint16(len(text)))) + text
}

// mqttPacket returns the beginning of a packet (MQTT 3.1.1, 2.2): its first byte, the length of the
// rest, and body. more is the number of bytes that the caller appends; the length includes them.
func mqttPacket(first byte, body string, more int) string {
	head := []byte{first}
	return string(binary.AppendUvarint(head, uint64(len(body)+more))) + body
}

// mqttConnect returns the packet that requests a new session without keep-alive (MQTT 3.1.1, 3.1).
// It contains the client's id, user name and password, if any.
func mqttConnect(values map[string]string) string {
	const newSession, withPassword, withUser = 0x02, 0x40, 0x80
	flags, more := byte(newSession), mqttText(values["client_id"])
	if user, ok := values["username"]; ok {
		flags, more = flags|withUser, more+mqttText(user)
	}
	if password, ok := values["password"]; ok {
		flags, more = flags|withPassword, more+mqttText(password)
	}
	return mqttPacket(0x10, mqttText("MQTT")+"\x04"+string([]byte{flags})+"\x00\x00"+more, 0)
}

// signed adds a first message with the client's credentials to each client. It changes d.Hello so
// that clients send this message instead of the one without credentials. If the preset does not
// sign clients in, or no column is in signIns, it changes nothing.
func (p *preset) signed(people *fanout.Clients, d *broadcast.Dialect) (*fanout.Clients, error) {
	if p.signIn == nil || people == nil {
		return people, nil
	}
	has := func(column string) bool { return slices.Contains(people.Columns, column) }
	switch {
	case !slices.ContainsFunc(signIns, has):
		return people, nil
	case has("password") && !has("username"):
		return nil, fmt.Errorf("--preset %s: a column password also needs a column username", p.name)
	}
	d.Hello = "{{" + broadcast.SignIn + "}}" + broadcast.Raw(strings.TrimPrefix(string(d.Hello), p.signIn(nil)))
	return people.With(broadcast.SignIn, p.signIn), nil
}

// presetNamed returns the preset with a name.
func presetNamed(name string) (*preset, error) {
	var names []string
	for _, p := range presets {
		if p.name == name {
			return p, nil
		}
		names = append(names, p.name)
	}
	return nil, fmt.Errorf("--preset %q: want one of %s, or list to show the settings of each", name, strings.Join(names, ", "))
}

// channels matches the channel names that have no special meaning in any of the protocols.
var channels = regexp.MustCompile(`^[A-Za-z0-9_:/.-]{1,100}$`)

// complete fills in the defaults of a dialect, for messages of size bytes.
func (p *preset) complete(d *broadcast.Dialect, channel string, size int) error {
	if channel != "" && (p.channel == "" || !channels.MatchString(channel)) {
		return fmt.Errorf("--channel %q: want letters, digits and any of _ : / . -, at most 100, and a --preset with channels", channel)
	}
	own := p.dialect(cmp.Or(channel, p.channel), size)
	d.Hello, d.Ready, d.Match = cmp.Or(d.Hello, own.Hello), cmp.Or(d.Ready, own.Ready), cmp.Or(d.Match, own.Match)
	d.Ack, d.Refusal, d.Binary = cmp.Or(d.Ack, own.Ack), cmp.Or(d.Refusal, own.Refusal), d.Binary || own.Binary
	for _, line := range own.Headers {
		name, _, _ := strings.Cut(line, ":")
		given := func(line string) bool {
			other, _, _ := strings.Cut(line, ":")
			return strings.EqualFold(other, name)
		}
		if !slices.ContainsFunc(d.Headers, given) {
			d.Headers = append(d.Headers, line)
		}
	}
	if len(d.Answers) == 0 {
		d.Answers = own.Answers
	}
	if d.Send != "" {
		return nil
	}
	d.Send, d.Size = own.Send, own.Size
	if least := p.dialect(cmp.Or(channel, p.channel), 0).Size; size < least {
		return fmt.Errorf("--size %d: --preset %s needs %d bytes or more", size, p.name, least)
	}
	return nil
}

// address returns the address in --url. If the address has no path, query or fragment, the path of
// the preset is appended. address returns an error if the preset does not use the scheme.
func (p *preset) address(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return text, nil // the error is reported elsewhere
	}
	switch u.Scheme {
	case "ws", "wss":
		if p.stream {
			return "", fmt.Errorf("--preset %s uses an event stream: want an http or https --url", p.name)
		}
	case "http", "https":
		if !p.stream {
			return "", fmt.Errorf("--preset %s uses WebSockets: want a ws or wss --url", p.name)
		}
	}
	if u.Path == "" && u.RawQuery == "" && u.Fragment == "" {
		text += p.path
	}
	return text, nil
}

// listPresets writes the settings of each preset, as flags to copy.
func listPresets(w io.Writer) error {
	var b strings.Builder
	for _, p := range presets {
		fmt.Fprintf(&b, "%s: %s\n", p.name, p.about)
		d := p.dialect(p.channel, usualSize)
		flag := func(name, value string) {
			if value != "" {
				fmt.Fprintf(&b, "  --%-8s '%s'\n", name, value)
			}
		}
		if p.path != "" {
			flag("url", "ws://HOST:PORT"+p.path)
		}
		for _, line := range d.Headers {
			flag("header", line)
		}
		if d.Binary {
			b.WriteString("  --binary\n")
		}
		flag("hello", escaped(d.Hello))
		flag("ready", d.Ready)
		for _, a := range d.Answers {
			flag("answer", escaped(a.In)+"="+escaped(a.Out))
		}
		flag("send", escaped(d.Send))
		flag("size", fmt.Sprint(d.Size))
		flag("match", d.Match)
		flag("ack", d.Ack)
		flag("refusal", d.Refusal)
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, strings.TrimSuffix(b.String(), "\n"))
	return err
}

// escapes matches the escape sequences in the text of a flag: \r, \n, \t and, with --binary, \x00
// to \xff.
var escapes = regexp.MustCompile(`\\(x[0-9a-fA-F]{2}|r|n|t)`)

// unescaped decodes \r, \n and \t, because some protocols consist of lines. In a binary text it
// also decodes \x00 to \xff.
func unescaped(text string, binary bool) string {
	return escapes.ReplaceAllStringFunc(text, func(e string) string {
		switch e {
		case `\r`:
			return "\r"
		case `\n`:
			return "\n"
		case `\t`:
			return "\t"
		}
		if !binary {
			return e
		}
		b, _ := strconv.ParseUint(e[2:], 16, 8) // the pattern matches two digits
		return string([]byte{byte(b)})
	})
}

// escaped returns a text as the value of a flag that unescaped decodes. A byte other than \r, \n
// and printable ASCII becomes \xNN, which needs --binary. A backslash stays as it is.
func escaped(text broadcast.Raw) string {
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\n':
			b.WriteString(`\n`)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
