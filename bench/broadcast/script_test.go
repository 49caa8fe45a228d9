package broadcast

import (
	"slices"
	"strings"
	"testing"
)

// What stands in braces is filled in where it has a value, once: a value that looks like
// a place is text.
func TestPlacesAreFilledIn(t *testing.T) {
	values := map[string]string{"a": "1", "b-2": "{{a}}"}
	for text, want := range map[string]string{
		"": "", "plain": "plain", "{{a}}": "1", "x{{a}}y{{b-2}}": "x1y{{a}}", "{{c}}{{a}}": "{{c}}1",
		`{"x":{"y":"{{a}}"}}`: `{"x":{"y":"1"}}`, "{{ a }}": "{{ a }}", "{{}}": "{{}}", "{{{a}}}": "{1}",
	} {
		if got := ParseTemplate(text).Fill(values).String(); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
		if got := ParseTemplate(text).String(); got != text {
			t.Errorf("%q is written as %q", text, got)
		}
	}
	if got := ParseTemplate("{{a}}{{b}}-{{a}}").Places(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("places %q", got)
	}
}

// Each client says its own values; in an address they are escaped.
func TestScriptsAreTheClientsOwn(t *testing.T) {
	d := Dialect{
		Columns: []string{"user", "room"}, Headers: []string{"Authorization: Bearer {{user}}", "X-All: same"}, Hello: "enter {{room}} as {{user}}",
		Send: "{{room}}: {{stamp}} {{seq}} {{pad}}", Size: 30, Match: `(?P<stamp>\d+) (?P<seq>\d+)`, Resume: "&from={{position}}&room={{room}}",
	}
	if err := d.Check(); err != nil {
		t.Fatal(err)
	}
	s := d.script().of(d.Columns, []string{"{{seq}}", "a&b c"})
	got := append(s.lines(), s.hello.String(), string(s.message(7, 8)), s.from(9, ""))
	want := []string{"Authorization: Bearer {{seq}}", "X-All: same", "enter a&b c as {{seq}}", "a&b c: 7 8 " + strings.Repeat("x", 19), "&from=9&room=a%26b%20c"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if all := d.script(); all.of(d.Columns, nil) != all {
		t.Error("a client without values has a script of its own")
	}
}

func TestUnknownColumnsAreRefused(t *testing.T) {
	for says, change := range map[string]func(*Dialect){
		"--hello has {{usr}}, which is no column of --clients: those are user": func(d *Dialect) { d.Hello = "{{usr}}" },
		"--hello has {{seq}}":     func(d *Dialect) { d.Hello = "{{seq}}" },
		"--header has {{usr}}":    func(d *Dialect) { d.Headers = []string{"A: {{usr}}"} },
		"behind the colon":        func(d *Dialect) { d.Headers = []string{"{{user}}: a"} },
		"--send has {{position}}": func(d *Dialect) { d.Send += "{{position}}" },
		"--resume has {{stamp}}":  func(d *Dialect) { d.Resume = "{{stamp}}" },
	} {
		d := chatty
		d.Columns = []string{"user"}
		change(&d)
		if err := d.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
		// Nobody has promised a value without columns.
		d.Columns = nil
		if err := d.Check(); err != nil && !strings.Contains(says, "colon") {
			t.Errorf("without columns: %v", err)
		}
	}
}

// What a server says back of what it was told in confidence is not shown, in whichever
// form it says it.
func TestWhatServersSayIsShownWithoutSecrets(t *testing.T) {
	m := newMask([]string{"", "tok", "tok en&1", `quo"te`})
	for said, want := range map[string]string{
		"bad tok en&1!":                               "bad ***!",
		"?t=tok%20en%261 or tok":                      "?t=*** or ***",
		`{"was":"quo\"te"}`:                           `{"was":"***"}`,
		"a\r\n\x00b":                                  "a   b",
		strings.Repeat("é", 300):                      strings.Repeat("é", mostShown),
		strings.Repeat("z", mostShown-1) + "tok en&1": strings.Repeat("z", mostShown-1) + "*",
	} {
		if got := m.shown(said); got != want {
			t.Errorf("%q is shown as %q, want %q", said, got, want)
		}
	}
}
