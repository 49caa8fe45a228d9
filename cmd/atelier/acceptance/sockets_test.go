package acceptance

import (
	"strings"
	"testing"
)

func TestTheOldestConnectionBeyondTheLimitIsClosed(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.SocketsPerPerson = 2
	s := startServer(t, cfg)
	c := newClassOn(t, s.Addr(), record{})
	lin, max := c.attendee("Lin"), c.attendee("Max")
	others := max.connect(c.id, "")
	var all []*socket
	for range 3 {
		all = append(all, lin.connect(c.id, ""))
	}
	if code := all[0].closed(); code != 4008 {
		t.Errorf("the oldest was closed with %d, want 4008", code)
	}
	for i, s := range []*socket{all[1], all[2], others} {
		s.acked(record{"type": "chat", "message": "x"}, string(rune('a'+i)))
	}
	// A closed connection frees its place.
	_ = all[1].conn.Close()
	eventual(t, "the end of Lin's connection", func() bool {
		_, metrics := internal(s.InternalAddr(), "/metrics")
		return strings.Contains(metrics, "atelier_live_sessions 2\n")
	})
	third := lin.connect(c.id, "")
	third.acked(record{"type": "chat", "message": "x"}, "d")
	all[2].acked(record{"type": "chat", "message": "x"}, "e")
	// The limit applies to each codelab separately.
	other := newClassOn(t, c.admin.site().Host, record{})
	linThere := other.join(lin.browser, record{"name": "Lin"})
	linThere.connect(other.id, "").acked(record{"type": "chat", "message": "x"}, "f")
	all[2].acked(record{"type": "chat", "message": "x"}, "g")
}

func TestAFacilitatorsSessionCanHaveEightTimesAsManyConnections(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.SocketsPerPerson = 1
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	var all []*socket
	for range 9 {
		all = append(all, c.admin.connect(c.id, ""))
	}
	if code := all[0].closed(); code != 4008 {
		t.Errorf("the oldest was closed with %d, want 4008", code)
	}
	all[1].acked(record{"type": "chat", "message": "x"}, "a")
	again := open(t, c.admin.site().Host)
	again.login("")
	again.connect(c.id, "").acked(record{"type": "chat", "message": "x"}, "b")
	all[1].acked(record{"type": "chat", "message": "x"}, "c")
}

func TestALimitOfZeroAllowsAnyNumberOfConnections(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.SocketsPerPerson = 0
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	lin := c.attendee("Lin")
	var all []*socket
	for range 12 {
		all = append(all, lin.connect(c.id, ""))
	}
	all[0].acked(record{"type": "chat", "message": "x"}, "a")
}
