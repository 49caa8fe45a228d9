//go:build linux

package broadcast

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A name in braces is replaced once, so a value that looks like a name in braces stays as it is.
func TestPlaceholdersAreFilledIn(t *testing.T) {
	values := map[string]string{"a": "1", "b-2": "{{a}}"}
	for text, want := range map[string]string{
		"": "", "plain": "plain", "{{a}}": "1", "x{{a}}y{{b-2}}": "x1y{{a}}", "{{c}}{{a}}": "{{c}}1",
		`{"x":{"y":"{{a}}"}}`: `{"x":{"y":"1"}}`, "{{ a }}": "{{ a }}", "{{}}": "{{}}", "{{{a}}}": "{1}",
	} {
		if got := ParseTemplate(text).Fill(values).String(); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
		if got := ParseTemplate(text).String(); got != text {
			t.Errorf("%q is formatted as %q", text, got)
		}
	}
	if got := ParseTemplate("{{a}}{{b}}-{{a}}").Places(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("the placeholders are %q", got)
	}
}

// Each client sends its own values. In an address they are escaped.
func TestEachClientSendsItsOwnValues(t *testing.T) {
	d := Dialect{
		Columns: []string{"user", "room"}, Headers: []string{"Authorization: Bearer {{user}}", "X-All: same"}, Hello: "enter {{room}} as {{user}}",
		Send: "{{room}}: {{stamp}} {{seq}} {{pad}}", Size: 30, Match: `(?P<stamp>\d+) (?P<seq>\d+)`, Resume: "&from={{position}}&room={{room}}", Position: `at (?P<position>\d+)`,
	}
	if err := d.Check(); err != nil {
		t.Fatal(err)
	}
	s := d.script().of(d.Columns, []Raw{"{{seq}}", "a&b c"})
	got := append(s.lines(), s.hello.String(), string(s.message(7, 8)), s.from(9, ""))
	want := []string{"Authorization: Bearer {{seq}}", "X-All: same", "enter a&b c as {{seq}}", "a&b c: 7 8 " + strings.Repeat("x", 19), "&from=9&room=a%26b%20c"}
	if !slices.Equal(got, want) {
		t.Errorf("the script is %q, want %q", got, want)
	}
	if all := d.script(); all.of(d.Columns, nil) != all {
		t.Error("a client without values got another script")
	}
}

func TestUnknownColumnsAreRefused(t *testing.T) {
	for want, change := range map[string]func(*Dialect){
		"--hello: unknown column {{usr}}; the columns of --clients are user": func(d *Dialect) { d.Hello = "{{usr}}" },
		"--hello: unknown column {{seq}}":                                    func(d *Dialect) { d.Hello = "{{seq}}" },
		"--header: unknown column {{usr}}":                                   func(d *Dialect) { d.Headers = []string{"A: {{usr}}"} },
		"after the colon":                                                    func(d *Dialect) { d.Headers = []string{"{{user}}: a"} },
		"--send: unknown column {{position}}":                                func(d *Dialect) { d.Send += "{{position}}" },
		"--resume: unknown column {{stamp}}":                                 func(d *Dialect) { d.Resume = "{{stamp}}" },
	} {
		d := chatty
		d.Columns = []string{"user"}
		change(&d)
		if err := d.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %s, got %v", want, err)
		}
		// Without columns, names in braces are text.
		d.Columns = nil
		if err := d.Check(); err != nil && !strings.Contains(want, "colon") {
			t.Errorf("without columns: %v", err)
		}
	}
}

// A secret that a server sends back is masked in any form.
func TestServersTextsAreShownWithoutSecrets(t *testing.T) {
	m := newMask([]string{"", "tok", "tok en&1", `quo"te`}, false)
	for text, want := range map[string]string{
		"bad tok en&1!":                              "bad ***!",
		"?t=tok%20en%261 or tok":                     "?t=*** or ***",
		`{"was":"quo\"te"}`:                          `{"was":"***"}`,
		"a\r\n\x00b":                                 "a   b",
		strings.Repeat("é", 300):                     strings.Repeat("é", maxShown),
		strings.Repeat("z", maxShown-1) + "tok en&1": strings.Repeat("z", maxShown-1) + "*",
	} {
		if got := m.shown(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// With binary messages, bytes that are not printable text are shown as escapes.
func TestBinaryTextsAreShownAsBytes(t *testing.T) {
	if got := newMask([]string{"tok"}, true).shown(" \x02\x00tok\xff"); got != ` \x02\x00***\xff` {
		t.Errorf("the text is shown as %q", got)
	}
}

// A dialect is sent to workers byte for byte.
func TestDialectsAreEncodedByteForByte(t *testing.T) {
	d := Dialect{Binary: true, Hello: "\x82\xff\x00", Send: "\xc5{{seq}}", Answers: []Answer{{"\xc0\x00", "\xd0\x00"}}}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var got Dialect
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, d) {
		t.Errorf("%s is decoded as %+v: %v", text, got, err)
	}
	if err := json.Unmarshal([]byte(`{"hello":"?"}`), &got); err == nil {
		t.Error("text that is not Base64 is accepted")
	}
}

// Servers can join several messages, including heartbeats, into one frame.
func TestHeartbeatsAreAnsweredInAnyLine(t *testing.T) {
	r, err := newReader(&Dialect{Answers: []Answer{{"PING\r\n", "PONG\r\n"}, {"{}", "{}!"}}}, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	for frame, want := range map[string]string{
		"PING\r\n": "PONG\r\n", "MSG 1\r\nx\r\nPING\r\n": "PONG\r\n", "PING\r\nMSG 1\r\n": "PONG\r\n", "xPING\r\n": "", "PINGx\r\n": "", "": "",
		"{}": "{}!", "{\"a\":{}}\n{}": "{}!", "{}\n{\"a\":1}": "{}!", "{\"a\":{}}": "", "\r\n": "",
	} {
		if got := r.find([]byte(frame)).parsed; got.answer != want || got.strange != (want == "") {
			t.Errorf("%q is answered with %q, want %q", frame, got.answer, want)
		}
	}
}

// Patterns for text match text between bytes that are not text.
func TestPatternsMatchTextBetweenBytes(t *testing.T) {
	r, err := newReader(&Dialect{Match: `bench(?P<stamp>\d+) (?P<seq>\d+) `, Ready: `(?s)^.\x03\x00\x01[\x00-\x02]$`, Ack: `(?s)\x00.(?P<seq>\d+)`}, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if h := r.find([]byte("0\xc5\x01\x00\x05bench12 34 \xff\xfe0\xc5\x01\x00\x05bench56 78 x")).parsed; len(h.messages) != 2 || h.messages[0].seq != 34 || h.messages[1].seq != 78 {
		t.Errorf("the messages are %+v", h.messages)
	}
	if !r.find([]byte("\x90\x03\x00\x01\x00")).parsed.ready || r.find([]byte("\x90\x03\x00\x01\x80")).parsed.ready {
		t.Error("a message is mistaken for the ready message, or not recognized")
	}
	if h := r.find([]byte("\x00\xee77")).parsed; !slices.Equal(h.acked, []uint64{77}) {
		t.Errorf("the acknowledgements are %+v", h.acked)
	}
}

// Until a client is ready, the newest unmatched text is kept. Afterwards, the first one is kept.
func TestTheNewestUnmatchedTextIsKeptUntilReady(t *testing.T) {
	e := &Engine{mask: newMask(nil, false)}
	c, other := &client{}, &client{publisher: true}
	for _, step := range []struct {
		ready      bool
		text, want string
	}{{false, "hello", "hello"}, {false, "denied", "denied"}, {true, "a", "a"}, {true, "b", "a"}, {false, "c", "a"}} {
		c.ready = step.ready
		if e.estranged(c, []byte(step.text)); e.out.Strange != step.want {
			t.Errorf("after %q, the kept text is %q, want %q", step.text, e.out.Strange, step.want)
		}
	}
	if e.estranged(other, []byte("x")); e.out.StrangeAnswer != "x" || e.out.Strange != "a" {
		t.Errorf("the kept texts are %q, %q", e.out.Strange, e.out.StrangeAnswer)
	}
}
