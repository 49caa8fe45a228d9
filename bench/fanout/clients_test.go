//go:build linux

package fanout

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelier/bench/broadcast"
)

// endless is a file that repeats one letter forever.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

func TestClientsAreReadFromCSV(t *testing.T) {
	for name, text := range map[string]string{
		"plain":           "user,token\nann,t1\nbob,\"t,2\"\n",
		"Windows":         "\ufeffuser,token\r\nann,t1\r\nbob,\"t,2\"\r\n",
		"more than asked": "user,token\nann,t1\n\nbob,\"t,2\"\nbroken",
		"no end of line":  "\"user\",token\nann,t1\nbob,\"t,2\"",
	} {
		c, err := parseClients(strings.NewReader(text), 2)
		if err != nil || !slices.Equal(c.Columns, []string{"user", "token"}) || len(c.Rows) != 2 || !slices.Equal(c.Rows[1], []string{"bob", "t,2"}) {
			t.Errorf("%s: read %+v, %v", name, c, err)
		}
	}
	// Lines after the needed clients are not read, even if they never end.
	if _, err := parseClients(io.MultiReader(strings.NewReader("a\n1\n2\n"), endless('x')), 2); err != nil {
		t.Error(err)
	}
}

// The error for a bad file contains the position but no values.
func TestErrorsOfBadClientFilesContainNoValues(t *testing.T) {
	const secret = "s3cr3t"
	for want, from := range map[string]io.Reader{
		"the file is empty":                       strings.NewReader("\ufeff"),
		"the run has 3 clients":                   strings.NewReader("a\n1\n2\n"),
		"the file has lines for 2":                strings.NewReader("a\n1\n2\n"),
		"line 3: want 2 cells, have 1":            strings.NewReader("a,b\n1,2\n" + secret + "\n"),
		"line 2: want 2 cells, have 3":            strings.NewReader("a,b\n1,2," + secret + "\n"),
		"line 4: b is empty":                      strings.NewReader("a,b\n1,\"2\n" + secret + "\"\n1,\n"),
		`column 2 has the name "a b"`:             strings.NewReader("a,a b\n"),
		`column 1 has the name ""`:                strings.NewReader(",a\n"),
		`column 1 has the name "\x00"`:            strings.NewReader("\x00,a\n"),
		`"seq", which is reserved, as are stamp`:  strings.NewReader("a,seq\n"),
		`duplicate column "a"`:                    strings.NewReader("a,b,a\n"),
		"line 2: a has a NUL byte":                strings.NewReader("a\n" + secret + "\x00\n"),
		"a has a NUL byte or is not UTF-8":        strings.NewReader("a\n" + secret + "\xff\n"),
		"a has 65536 bytes":                       strings.NewReader("a\n" + strings.Repeat("x", maxValue+1) + "\n"),
		`bare " in non-quoted-field`:              strings.NewReader("a\n" + secret + "\"\n"),
		`extraneous or missing " in quoted`:       strings.NewReader("a\n\"" + secret + "\n"),
		"header line: longer than 1 MiB":          endless(','),
		"there are 101 columns, want at most 100": strings.NewReader(strings.Repeat("x,", 100) + "x\n"),
		"client 1: longer than 1 MiB":             io.MultiReader(strings.NewReader("a\n\""), endless('\n')),
	} {
		_, err := parseClients(from, 3)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("want an error with %s, got %.200v", want, err)
		}
	}
	big := strings.Repeat(strings.Repeat("x", maxValue)+"\n", maxClients/maxValue)
	if _, err := parseClients(strings.NewReader("a\n"+big), 1<<20); err == nil || !strings.Contains(err.Error(), "take more than 64 MiB") {
		t.Errorf("too large a file: %v", err)
	}
	if _, err := ReadClients(filepath.Join(t.TempDir(), "none"), 1); err == nil || !strings.Contains(err.Error(), "--clients") {
		t.Errorf("a missing file: %v", err)
	}
}

// With adds a column that is computed from the others. The original list stays unchanged.
func TestAColumnCanBeAdded(t *testing.T) {
	c := &Clients{Columns: []string{"a", "b"}, Rows: [][]string{{"1", "2"}, {"3", "4"}}, Lines: []int{2, 3}}
	more := c.With("c", func(of map[string]string) string { return of["b"] + of["a"] + "\xff" })
	if !slices.Equal(more.Columns, []string{"a", "b", "c"}) || !slices.Equal(more.row(1), []broadcast.Raw{"3", "4", "43\xff"}) || len(c.Rows[1]) != 2 || len(c.Columns) != 2 {
		t.Errorf("%+v was made from %+v", more, c)
	}
}

// Values are escaped in addresses. In headers, a value with a line break is refused.
func TestValuesOfClientsAreEscapedInAddresses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clients.csv")
	if err := os.WriteFile(path, []byte("room,token\na/b?c,x&y=%\nd e,\"1\n2\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	clients, err := ReadClients(path, 2)
	if err != nil {
		t.Fatal(err)
	}
	p := &Peer{
		URL: "http://127.0.0.1:1/in/{{room}}?t={{token}}", Publish: "http://127.0.0.1:1/{{room}}", Elsewhere: true, Clients: clients,
		Dialect: broadcast.Dialect{Hello: "{{token}}"},
	}
	d, err := Generic(p)(t.Context(), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.Subscribers[0].Path, "/in/a%2Fb%3Fc?t=x%26y%3D%25"; got != want || d.Subscribers[0].Publish != "" {
		t.Errorf("the path is %q, want %q", got, want)
	}
	if got, want := d.Publishers[0].Path+" "+d.Publishers[0].Publish, "/in/d%20e?t=1%0A2 http://127.0.0.1:1/d%20e"; got != want {
		t.Errorf("the addresses are %q, want %q", got, want)
	}
	if want := []string{"1\n2", "a/b?c", "d e", "x&y=%"}; !slices.Equal(d.Secrets, want) || !slices.Equal(d.Dialect.Columns, clients.Columns) {
		t.Errorf("the secrets are %q, the columns %q", d.Secrets, d.Dialect.Columns)
	}
	for want, change := range map[string]func(*Peer){
		"--url: unknown column {{tokn}}":       func(p *Peer) { p.URL += "{{tokn}}" },
		"--publish: unknown column {{seq}}":    func(p *Peer) { p.Publish += "{{seq}}" },
		"server URL":                           func(p *Peer) { p.URL = "http://{{room}}/" },
		"line 3: token has a line break":       func(p *Peer) { p.Dialect.Headers = []string{"A: {{token}}"} },
		"--hello: unknown column {{nobody}}; ": func(p *Peer) { p.Dialect.Hello = "{{nobody}}" },
	} {
		bad := *p
		change(&bad)
		if err := bad.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %s, got %v", want, err)
		}
	}
}
