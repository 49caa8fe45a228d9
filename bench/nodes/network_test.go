//go:build linux

package nodes

import (
	"io"
	"net"
	"slices"
	"testing"
	"time"
)

func TestCutsAreParsed(t *testing.T) {
	for text, want := range map[string][]int{"1-2": {1, 2}, "2-db": {2, 0}, "1-others": {1, 2, 3}, "3-all": {3, 0, 1, 2}} {
		from, ends, err := ParseCut(text, 3)
		if got := append([]int{from}, ends...); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s is parsed as %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "1", "1-", "1-1", "0-1", "4-1", "1-4", "db-1", "1-2-3", "a-b", "1-0"} {
		if from, ends, err := ParseCut(text, 3); err == nil {
			t.Errorf("%q is parsed as %d, %v, want an error", text, from, ends)
		}
	}
}

// Nodes connect to each other in both directions, so a cut between two nodes drops bytes in both
// proxies. A cut from the database affects one proxy, because the database opens no connections.
func TestACutDropsBytesBetweenItsEnds(t *testing.T) {
	up := func(from, to int) swallow { return swallow{link{from, to}, true} }
	down := func(from, to int) swallow { return swallow{link{from, to}, false} }
	for _, c := range []struct {
		a, b int
		way  string
		want []swallow
	}{
		{1, 2, Both, []swallow{up(1, 2), down(2, 1), down(1, 2), up(2, 1)}},
		{1, 2, To, []swallow{up(1, 2), down(2, 1)}},
		{1, 2, From, []swallow{down(1, 2), up(2, 1)}},
		{2, database, Both, []swallow{up(2, 0), down(2, 0)}},
		{2, database, To, []swallow{up(2, 0)}},
		{2, database, From, []swallow{down(2, 0)}},
	} {
		if got := swallows(c.a, c.b, c.way); !slices.Equal(got, c.want) {
			t.Errorf("cutting %d-%d %s drops bytes in %v, want %v", c.a, c.b, c.way, got, c.want)
		}
	}
}

// echo starts a server that returns everything it receives.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
	return l.Addr().String()
}

// echoes reports whether a byte sent through a connection comes back in time.
func echoes(t *testing.T, conn net.Conn, within time.Duration) bool {
	t.Helper()
	if err := conn.SetDeadline(time.Now().Add(within)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("x")); err != nil {
		return false
	}
	_, err := io.ReadFull(conn, make([]byte, 1))
	return err == nil
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func TestCutLinksAreSilentUntilHealed(t *testing.T) {
	n, err := newNetwork([]string{echo(t), echo(t)}, echo(t))
	if err != nil {
		t.Fatal(err)
	}
	defer n.close()
	// The timeout is long where data is expected, and short where silence is expected.
	const comes, silent = time.Minute, 50 * time.Millisecond
	for text, cut := range map[string][]link{"1-2": {{1, 2}, {2, 1}}, "2-db": {{2, 0}}, "1-all": {{1, 2}, {2, 1}, {1, 0}}} {
		before := map[link]net.Conn{}
		for l := range n.proxies {
			before[l] = dial(t, n.address(l.from, l.to))
			if !echoes(t, before[l], comes) {
				t.Fatalf("%v is silent before the cut", l)
			}
		}
		heal, err := n.Cut(text, Both)
		if err != nil {
			t.Fatal(err)
		}
		for l := range n.proxies {
			isCut := slices.Contains(cut, l)
			within := comes
			if isCut {
				within = silent
			}
			if echoes(t, before[l], within) == isCut || echoes(t, dial(t, n.address(l.from, l.to)), within) == isCut {
				t.Errorf("cut %s: link %v is in the wrong state", text, l)
			}
		}
		if err := heal(); err != nil {
			t.Fatal(err)
		}
		for l := range n.proxies {
			if !echoes(t, dial(t, n.address(l.from, l.to)), comes) {
				t.Errorf("%v is silent after %s was healed", l, text)
			}
		}
	}
	if _, err := n.Cut("1-3", Both); err == nil {
		t.Error("cutting off an unknown node succeeded")
	}
}

func TestInvalidDatabaseAddressesAreRefused(t *testing.T) {
	for address, ok := range map[string]bool{
		"postgres://u:p@h:1/d": true, "postgresql://u@h/d?sslmode=disable": true, "": false, "mysql://h/d": false, "postgres:///d": false, "h:5432": false,
	} {
		if err := CheckDatabase(address); (err == nil) != ok {
			t.Errorf("checking %q: got %v, want success %v", address, err, ok)
		}
	}
	u, err := parseDatabase("postgres://u:p@h/other?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	d := &Database{admin: u, name: "mine"}
	if got := d.through("127.0.0.1:7"); got != "postgres://u:p@127.0.0.1:7/mine?sslmode=disable" || d.Address() != "h:5432" {
		t.Errorf("the address through the proxy is %s, the address of the server %s", got, d.Address())
	}
}
