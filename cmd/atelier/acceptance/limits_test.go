package acceptance

import (
	"strconv"
	"strings"
	"testing"

	"atelier/cmd/atelier/config"
)

// limited fails unless an answer is 429 and says when to come back.
func limited(t *testing.T, a answer, most int) {
	t.Helper()
	a.refused(429, "too many")
	if n, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || n < 1 || n > most {
		t.Errorf("Retry-After is %q, want 1 to %d", a.header.Get("Retry-After"), most)
	}
}

func TestEachSessionHasItsOwnWritesAndReads(t *testing.T) {
	cfg := testConfig(t)
	cfg.Limits.WritesPerMinute, cfg.Limits.ReadsPerMinute = 12, 30
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	lin, max := c.attendee("Lin"), c.attendee("Max") // a class registers from one address
	for i := range 40 {
		c.attendee("Attendee " + strconv.Itoa(i))
	}
	say := func(p *person) answer {
		return p.post(c.path+"/messages", record{"type": "chat", "message": "x"})
	}
	for range 12 {
		say(lin).want(200)
	}
	limited(t, say(lin), 5)
	say(max).want(200)
	for range 30 {
		lin.get(c.path + "/chat").want(200)
	}
	limited(t, lin.get(c.path+"/chat"), 2)
	max.get(c.path + "/chat").want(200)
}

func TestOnlyFailedLoginsAreLimitedByAddressAndAccount(t *testing.T) {
	cfg := testConfig(t)
	cfg.Limits.LoginFailures = 5
	cfg.Server.TrustedProxies = []string{"127.0.0.1/32"}
	addr := startServer(t, cfg).Addr()
	login := func(from, id, pw string) answer {
		b := open(t, addr)
		b.from = from
		return b.post("/login", record{"admin_id": id, "admin_pw": pw})
	}
	for range 10 {
		login("192.0.2.1", adminID, adminPW).want(200)
	}
	for range 5 {
		login("192.0.2.1", adminID, "guess").refused(401)
	}
	limited(t, login("192.0.2.1", adminID, "guess"), 60)
	limited(t, login("192.0.2.1", adminID, adminPW), 60) // the right one does not get through either
	login("192.0.2.1", "other", "guess").refused(401)
	login("192.0.2.2", adminID, adminPW).want(200)
}

func TestRegistrationsHaveABucketOfTheCodelab(t *testing.T) {
	cfg := testConfig(t)
	cfg.Limits.RegistrationsPerSec, cfg.Limits.RegistrationBurst = 1, 3
	addr := startServer(t, cfg).Addr()
	c := newClassOn(t, addr, record{})
	for i := range 3 {
		c.attendee("A" + strconv.Itoa(i))
	}
	limited(t, open(t, addr).post(c.path+"/register", record{"name": "B"}), 2)
	newClassOn(t, addr, record{}).attendee("B")
}

func TestMessagesOverTheRateAreRefusedAndNotApplied(t *testing.T) {
	cfg := testConfig(t)
	cfg.Limits.MessagesPerSecond, cfg.Limits.MessageBurst = 1, 5
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	s := c.attendee("Lin").connect(c.id, "")
	for i := range 12 {
		s.say(record{"type": "chat", "message": "x", "ref": strconv.Itoa(i)})
	}
	acks := 0
	for range 12 {
		m := s.until("answer", func(m message) bool { return m.kind() == "ack" || m.kind() == "error" })
		switch {
		case m.kind() == "ack":
			acks++
		case !strings.Contains(m.text("error"), "too many") || m.text("ref") == "":
			t.Errorf("heard %v", m)
		}
	}
	if n := len(c.admin.get(c.path + "/chat").list()); n != acks || acks < 5 || acks > 8 {
		t.Errorf("%d messages are acknowledged, %d stored", acks, n)
	}
}

func TestALimitOfZeroIsNone(t *testing.T) {
	cfg := testConfig(t)
	cfg.Limits = config.Limits{LoginWindow: cfg.Limits.LoginWindow, PINWindow: cfg.Limits.PINWindow}
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	s := c.attendee("Lin").connect(c.id, "")
	for i := range 100 {
		s.say(record{"type": "chat", "message": "x", "ref": strconv.Itoa(i)})
	}
	s.until("the last ack", func(m message) bool { return m.kind() == "ack" && m.text("ref") == "99" })
	for range 30 {
		open(t, c.addr).post("/login", record{"admin_id": "x", "admin_pw": "x"}).refused(401)
	}
}
