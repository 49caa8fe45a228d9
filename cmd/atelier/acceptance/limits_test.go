package acceptance

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"atelier/cmd/atelier/config"
	"atelier/transport/auth"
)

// longWindow is so long that no failed login expires during a test.
const longWindow = config.Duration(2 * time.Hour)

// limited fails unless the response is 429 with a Retry-After of at most the given seconds.
func limited(t *testing.T, a answer, most int) {
	t.Helper()
	a.refused(429, "too many")
	if n, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || n < 1 || n > most {
		t.Errorf("Retry-After is %q, want 1 to %d", a.header.Get("Retry-After"), most)
	}
}

func TestEachSessionHasItsOwnWriteAndReadLimits(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.WritesPerMinute, cfg.Limits.ReadsPerMinute = 12, 30
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	lin, max := c.attendee("Lin"), c.attendee("Max") // a class registers from one address
	for i := range 40 {
		c.attendee("Attendee " + strconv.Itoa(i))
	}
	post := func(p *person) answer {
		return p.post(c.path+"/messages", record{"type": "chat", "message": "x"})
	}
	untilIn(t, "writes", 200, 5, func(int) answer { return post(lin) })
	post(max).want(200)
	until(t, "reads", 400, func(int) answer { return lin.get(c.path + "/chat") })
	max.get(c.path + "/chat").want(200)
}

func TestOnlyFailedLoginsAreLimitedByAddressAndAccount(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.LoginFailures, cfg.Limits.LoginWindow = 5, longWindow
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
	limited(t, login("192.0.2.1", adminID, "guess"), 1440)
	limited(t, login("192.0.2.1", adminID, adminPW), 1440) // now even the right password is refused
	login("192.0.2.1", "other", "guess").refused(401)
	login("192.0.2.2", adminID, adminPW).want(200)
}

// In an earlier version, failed logins of other people at the same address locked out a
// facilitator, even one with an existing session.
func TestFailuresOfOthersDoNotLockOutAKnownBrowser(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.LoginFailures, cfg.Limits.LoginWindow = 4, longWindow
	addr := startServer(t, cfg).Addr()
	known, session := open(t, addr), open(t, addr)
	known.login("")
	device := known.cookie(auth.DeviceCookie)
	known.post("/logout", nil).want(204)
	if device == "" || known.cookie(auth.DeviceCookie) != device {
		t.Error("the logout removed the cookie of the known browser")
	}
	session.login("")
	session.setCookieAt("/api", auth.DeviceCookie, "") // like a session from before device cookies existed
	login := func(b *browser, pw string) answer {
		t.Helper()
		return b.post("/login", record{"admin_id": adminID, "admin_pw": pw})
	}
	for range 4 {
		login(open(t, addr), "guess").refused(401)
	}
	limited(t, login(open(t, addr), adminPW), 2400)
	login(known, adminPW).want(200)
	login(session, adminPW).want(200)
	// A known browser has its own limit of failures, from whatever address it sends its cookie.
	copied := open(t, addr)
	copied.setCookieAt("/api", auth.DeviceCookie, known.cookie(auth.DeviceCookie))
	for range 4 {
		login(copied, "guess").refused(401)
	}
	limited(t, login(copied, adminPW), 2400)
	limited(t, login(known, adminPW), 2400)
	login(session, adminPW).want(200)
	// An invalid device cookie has no effect.
	for _, bad := range []string{"x", session.cookie(auth.SessionCookie), device[:len(device)-4] + "AAAA"} {
		b := open(t, addr)
		b.setCookieAt("/api", auth.DeviceCookie, bad)
		limited(t, login(b, adminPW), 2400)
	}
}

func TestFailuresOfAKnownBrowserDoNotCountForItsAddress(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.LoginFailures, cfg.Limits.LoginWindow = 3, longWindow
	addr := startServer(t, cfg).Addr()
	known := facilitator(t, addr, "")
	known.post("/logout", nil).want(204)
	for range 3 {
		known.post("/login", record{"admin_id": adminID, "admin_pw": "guess"}).refused(401)
	}
	limited(t, known.post("/login", record{"admin_id": adminID, "admin_pw": adminPW}), 2400)
	facilitator(t, addr, "")
}

// until repeats a request until the response is 429, with a Retry-After of at most 2 seconds. It
// allows more requests than the limit, because buckets refill while a busy machine is slow.
func until(t *testing.T, what string, most int, try func(i int) answer) {
	t.Helper()
	untilIn(t, what, most, 2, try)
}

// untilIn does the same as until, but Retry-After can be up to wait seconds.
func untilIn(t *testing.T, what string, most, wait int, try func(i int) answer) {
	t.Helper()
	for i := range most {
		if a := try(i); a.status == 429 {
			limited(t, a, wait)
			return
		}
	}
	t.Errorf("%s: not limited within %d requests", what, most)
}

func TestAnIPv6NetworkSharesOneLimit(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.LoginFailures, cfg.Limits.LoginWindow = 3, longWindow
	cfg.Limits.RegistrationsFrom, cfg.Limits.RegistrationsAtOnce, cfg.Limits.ReadsPerMinute = 1, 3, 40
	cfg.Server.TrustedProxies = []string{"127.0.0.1/32"}
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	n := 0
	from := func(ip string) *browser {
		b := open(t, c.addr)
		b.from = ip
		return b
	}
	next := func() *browser { n++; return from(fmt.Sprintf("2001:db8:1:2:%x::%x%%eth%d", n, n, n)) }
	wrong := record{"admin_id": adminID, "admin_pw": "guess"}
	for range 3 {
		next().post("/login", wrong).refused(401)
	}
	limited(t, next().post("/login", wrong), 2400)
	from("2001:db8:1:3::1").post("/login", wrong).refused(401)
	until(t, "registrations", 30, func(i int) answer { return next().post(c.path+"/register", record{"name": fmt.Sprint("A", i)}) })
	from("2001:db8:1:3::1").post(c.path+"/register", record{"name": "B"}).want(200)
	until(t, "reads", 400, func(int) answer { return next().get("/codelabs") })
	from("2001:db8:1:3::1").get("/codelabs").want(200)
	// An IPv4 address in IPv6 form counts as IPv4.
	for i := range 3 {
		from([]string{"192.0.2.1", "::ffff:192.0.2.1"}[i%2]).post("/login", wrong).refused(401)
	}
	limited(t, from("::ffff:192.0.2.1").post("/login", wrong), 2400)
	from("::ffff:192.0.2.2").post("/login", wrong).refused(401)
}

func TestRegistrationsAreLimitedPerCodelabAndPerAddress(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*config.Limits){
		"codelab": func(l *config.Limits) { l.RegistrationsPerSec, l.RegistrationBurst = 1, 3 },
		"address": func(l *config.Limits) { l.RegistrationsFrom, l.RegistrationsAtOnce = 1, 3 },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig(t)
			cfg.Server.TrustedProxies = []string{"127.0.0.1/32"}
			set(&cfg.Limits)
			addr := startServer(t, cfg).Addr()
			c, other := newClassOn(t, addr, record{}), newClassOn(t, addr, record{})
			for _, who := range []string{"A", "B", "C"} {
				c.attendee(who)
			}
			n := 0
			registers := func(c *class, from string) func(int) answer {
				return func(int) answer {
					b := open(t, addr)
					b.from = from
					n++
					return b.post(c.path+"/register", record{"name": fmt.Sprint("D", n)})
				}
			}
			until(t, "the same address", 30, registers(c, ""))
			c.join(c.admin, record{"name": "Registered by a facilitator"})
			if name == "codelab" {
				registers(other, "")(0).want(200)
				until(t, "another address", 30, func(i int) answer { return registers(c, fmt.Sprint("192.0.2.", i))(i) })
			} else {
				registers(c, "192.0.2.1")(0).want(200)
				until(t, "another codelab", 30, registers(other, ""))
			}
		})
	}
}

// In an earlier version, two clients that sent invalid registrations could use up the limit for
// everybody.
func TestOnlyValidRegistrationsAreCounted(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.RegistrationsPerSec, cfg.Limits.RegistrationBurst = 1, 3
	cfg.Limits.RegistrationsFrom, cfg.Limits.RegistrationsAtOnce = 1, 3
	cfg.Limits.WritesPerMinute = 90
	cfg.Server.TrustedProxies = []string{"127.0.0.1/32"}
	addr := startServer(t, cfg).Addr()
	c, closed := newClassOn(t, addr, record{"is_public": false}), newClassOn(t, addr, record{})
	code := c.meta().text("join_code")
	closed.join(open(t, addr), record{"name": "Back", "code": "1"})
	closed.admin.post(closed.path+"/registration", record{"open": false}).want(200)
	try := func(from, path string, who record) answer {
		b := open(t, addr)
		b.from = from
		return b.post(path+"/register", who)
	}
	for i := range 8 {
		for _, bad := range []record{
			{"name": "", "join_code": code}, {"name": " \u200b", "join_code": code}, {"name": strings.Repeat("x", 81), "join_code": code}, {"join_code": code},
			{"name": "X", "email": "x", "join_code": code}, {"name": "X", "code": strings.Repeat("1", 65), "join_code": code}, {"name": 7},
		} {
			try("", c.path, bad).refused(400)
		}
		try("", c.path, record{"name": "X", "join_code": "WRONG!"}).refused(403)
		try("", "/codelabs/"+unknownID, record{"name": "X"}).refused(404)
		try("", closed.path, record{"name": fmt.Sprint("X", i)}).refused(403, "closed")
	}
	try("", c.path, record{"name": "Lin", "join_code": code}).want(200)
	until(t, "a taken name", 30, func(int) answer { return try("", c.path, record{"name": "Lin", "join_code": code}) })
	// While registration is closed, rejoins count.
	until(t, "coming back", 30, func(i int) answer {
		return try(fmt.Sprint("192.0.2.", i), closed.path, record{"name": "Back", "code": "1"})
	})
	// Failed attempts count like other writes, so codes cannot be guessed without limit.
	until(t, "guessing the code", 900, func(int) answer { return try("", c.path, record{"name": "X", "join_code": "WRONG!"}) })
}

func TestMessagesOverTheRateAreRefusedAndNotApplied(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.MessagesPerSecond, cfg.Limits.MessageBurst = 1, 5
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	s := c.attendee("Lin").connect(c.id, "")
	// The default burst is larger, so only the configured one refuses some of these messages. Even
	// on a busy machine, the bucket does not refill enough to accept them all.
	const sent = 35
	for i := range sent {
		s.send(record{"type": "chat", "message": "x", "ref": strconv.Itoa(i)})
	}
	acks := 0
	for range sent {
		m := s.until("answer", func(m message) bool { return m.kind() == "ack" || m.kind() == "error" })
		switch {
		case m.kind() == "ack":
			acks++
		case !strings.Contains(m.text("error"), "too many") || m.text("ref") == "":
			t.Errorf("received %v", m)
		}
	}
	if n := len(c.admin.get(c.path + "/chat").list()); n != acks || acks < 5 || acks == sent {
		t.Errorf("%d messages are acknowledged, %d stored", acks, n)
	}
}

func TestALimitOfZeroMeansNoLimit(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits = config.Limits{LoginWindow: cfg.Limits.LoginWindow, PINWindow: cfg.Limits.PINWindow}
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	s := c.attendee("Lin").connect(c.id, "")
	for i := range 100 {
		s.send(record{"type": "chat", "message": "x", "ref": strconv.Itoa(i)})
	}
	s.until("the last ack", func(m message) bool { return m.kind() == "ack" && m.text("ref") == "99" })
	for range 30 {
		open(t, c.addr).post("/login", record{"admin_id": "x", "admin_pw": "x"}).refused(401)
	}
}
