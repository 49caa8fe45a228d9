package acceptance

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"atelier/cmd/atelier/config"
	"atelier/transport/auth"
)

func TestOneBrowserCanBeFacilitatorAndAttendeeOfSeveralCodelabs(t *testing.T) {
	t.Parallel()
	one, two := newClass(t), newClass(t)
	b := open(t, one.addr)
	first := one.join(b, record{"name": "Lin"})
	b.login("Grace")
	second := two.join(b, record{"name": "Lin"})

	if s := b.get("/session").object(); s.text("role") != "admin" || s.text("sub") != adminID || s["codelab_id"] != nil {
		t.Errorf("the strongest grant is %v", s)
	}
	for id, p := range map[string]*person{one.id: first, two.id: second} {
		if s := b.get("/session?codelab_id=" + id).object(); s.text("sub") != p.id || s.text("role") != "attendee" || s.text("codelab_id") != id {
			t.Errorf("the session in the codelab is %v", s)
		}
	}
	b.get("/session?codelab_id="+unknownID).refused(401, "login")

	// If a browser has both roles, the admin acts unless the query selects the attendee.
	b.post(one.path+"/messages", record{"type": "chat", "message": "as admin"}).want(200)
	b.post(one.path+"/messages?as=attendee", record{"type": "chat", "message": "as attendee"}).want(200)
	chat := b.get(one.path + "/chat").list()
	if chat[0].text("sender_id") != "facilitator" || chat[0].text("sender_name") != "Grace" || chat[1].text("sender_id") != first.id {
		t.Errorf("the chat is %v", chat)
	}
	max := one.join(open(t, one.addr), record{"name": "Max", "email": "max@example.org"})
	max.post(one.path+"/help", record{"step_number": 1}).want(200)
	for as, sees := range map[string]bool{"": true, "?as=admin": true, "?as=attendee": false} {
		for _, a := range b.get(one.path + "/attendees" + as).list() {
			if a.text("id") == max.id && (a.text("email") != "") != sees {
				t.Errorf("with %q, the list of attendees contains %v", as, a)
			}
		}
		if n := len(b.get(one.path + "/help" + as).list()); (n == 1) != sees {
			t.Errorf("with %q, the list has %d requests for help", as, n)
		}
		if s := b.get("/session" + as).object(); (s.text("role") == "admin") != sees {
			t.Errorf("with %q, the session is %v", as, s)
		}
		if got := b.get("/codelabs" + as).want(200); strings.Contains(string(got.body), "join_code") != sees {
			t.Errorf("with %q, the list contains join codes: %v, want %v", as, !sees, sees)
		}
	}
	b.get(one.path + "/feedback?as=attendee").want(200) // only admins can read feedback, so the admin's grant is used
	b.post(one.path+"/complete", nil).want(200)
	if s := b.connect(one.id, "?as=attendee").welcome["you"].(map[string]any); s["id"] != first.id {
		t.Errorf("as=attendee connects as %v", s)
	}
	if s := b.connect(one.id, "").welcome["you"].(map[string]any); s["id"] != "facilitator" {
		t.Errorf("without the parameter as, the connection is for %v", s)
	}
	if _, res := first.dial("/ws/" + one.id + "?as=admin"); res.StatusCode != 101 {
		t.Errorf("as=admin with both grants returned %d", res.StatusCode)
	}
}

// with returns another browser with a copy of this browser's current cookies.
func (b *browser) with() *browser {
	b.t.Helper()
	other := openWith(b.t, b.base, nil)
	for _, name := range []string{auth.SessionCookie, auth.CSRFCookie} {
		other.setCookie(name, b.cookie(name))
	}
	return other
}

func TestLoggingInRenewsOnlyTheSessionOfThatBrowser(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	b := open(t, c.addr)
	c.join(b, record{"name": "Lin"})
	old := b.with() // an attacker who had planted this session would have the same cookies
	live := b.connect(c.id, "")
	b.login("")
	if b.cookie(auth.SessionCookie) == old.cookie(auth.SessionCookie) || b.cookie(auth.CSRFCookie) == old.cookie(auth.CSRFCookie) {
		t.Error("the session or its CSRF token is unchanged")
	}
	b.get("/admin/tokens").want(200)
	old.get("/admin/tokens").refused(403)
	if s := old.get("/session").object(); s.text("role") != "attendee" {
		t.Errorf("the earlier session is %v", s)
	}
	two := newClass(t)
	planted := old.with()
	two.join(planted, record{"name": "Lin"})
	planted.get("/admin/tokens").refused(403)
	b.get("/session?codelab_id=" + two.id).refused(401) // an older session does not get later grants
	// The CSRF token of one session id is invalid for another id of the same family.
	chat := record{"type": "chat", "message": "x"}
	b.post(c.path+"/messages", chat, header(auth.CSRFHeader, old.cookie(auth.CSRFCookie))).refused(403, "X-CSRF-Token")
	// A connection belongs to the family of session ids. It remains when the id changes, and ends
	// with the family.
	live.acked(record{"type": "chat", "message": "on"}, "r")
	old.post("/logout", nil).want(204)
	if code := live.closed(); code != 1008 {
		t.Errorf("closed with %d, want 1008", code)
	}
	b.get("/session").refused(401)
}

// In an earlier version, the session in each of the two responses lacked the registration of the
// other, so one registration was lost.
func TestTwoTabsThatRegisterAtOnceKeepBothGrants(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	b := open(t, c.addr)
	c.join(b, record{"name": "Lin"})
	classes := make([]*class, 8)
	for i := range classes {
		classes[i] = newClass(t)
	}
	tabs := make([]*browser, len(classes))
	for i := range tabs {
		tabs[i] = b.with()
	}
	together(len(tabs), func(i int) { classes[i].join(tabs[i], record{"name": "Lin"}) })
	for _, tab := range tabs {
		for _, each := range append(classes, c) {
			tab.get(each.path + "/chat").want(200)
		}
	}
	// b still has the previous cookie, so it has none of the new grants. Its next registration is
	// not merged with the registrations of the tabs.
	for _, each := range classes {
		b.get(each.path + "/chat").refused(403)
	}
	next := newClass(t)
	next.join(b, record{"name": "Lin"})
	tabs[0].get(next.path + "/chat").refused(403)
	b.get(classes[0].path + "/chat").refused(403)
}

// In an earlier version, a lost response also ended the browser's earlier session.
func TestALostRegistrationResponseLocksNobodyOut(t *testing.T) {
	t.Parallel()
	one, two := newClass(t), newClass(t)
	b := open(t, one.addr)
	one.join(b, record{"name": "Lin"})
	lost := two.join(b.with(), record{"name": "Lin"}) // the cookies of the response get lost
	b.get(one.path + "/chat").want(200)
	two.join(b.with(), record{"name": "Max"})
	// A repeated registration with the same name gets the same attendee. Another node receives the
	// name slightly later. With another name, the registration creates a new attendee.
	again := ""
	two.eventually("the node that gets the request has the session", func() bool {
		a := b.send("POST", two.path+"/register", record{"name": " LIN"})
		if a.status == 200 {
			again = a.object().text("id")
		}
		return again != ""
	})
	if again != lost.id {
		t.Errorf("the repeated registration is for %s, want %s", again, lost.id)
	}
	b.post(two.path+"/messages", record{"type": "chat", "message": "here"}).want(200)
	b.get(one.path + "/chat").want(200)
	// The response has arrived and its session was used, so the name is now taken.
	b.with().post(two.path+"/register", record{"name": "Lin"}).refused(409)
	open(t, two.addr).post(two.path+"/register", record{"name": "Lin"}).refused(409)
}

func TestLeavingACodelabKeepsTheOtherGrants(t *testing.T) {
	t.Parallel()
	one, two := newClass(t), newClass(t)
	b := open(t, one.addr)
	one.join(b, record{"name": "Lin"})
	two.join(b, record{"name": "Lin"})
	b.login("")
	here, there := b.connect(one.id, "?as=attendee"), b.connect(two.id, "?as=attendee")
	a := b.post("/logout", record{"codelab_id": one.id})
	a.want(204)
	if a.header.Get("Clear-Site-Data") != "" || b.cookie(auth.SessionCookie) == "" {
		t.Error("leaving the codelab cleared the storage or the session")
	}
	if code := here.closed(); code != 1008 {
		t.Errorf("closed with %d, want 1008", code)
	}
	there.acked(record{"type": "chat", "message": "on"}, "r")
	one.shutsOut(b, one.path+"/chat?as=attendee", 403)
	b.get(two.path + "/chat?as=attendee").want(200)
	b.get("/admin/tokens").want(200)
	b.post("/logout", record{"codelab_id": one.id}).want(204)
	b.post("/logout", record{"codelab_id": "no codelab"}).want(204)
	b.post("/logout", record{"codelab_id": 7}).refused(400, "codelab_id")
}

// A foreign page must not make a browser delete the data that it stores for this server.
func TestOnlyALogoutThatEndedASessionClearsTheBrowsersStorage(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	lin.stays = true // the Origin header contains the address of one node
	lin.post("/logout", nil, header("Origin", "https://elsewhere.example.org")).refused(403)
	lin.get("/session").want(200)
	if a := lin.post("/logout", nil, header("Origin", lin.base)); a.header.Get("Clear-Site-Data") != `"storage"` || a.status != 204 {
		t.Errorf("the logout returned %d with Clear-Site-Data %q", a.status, a.header.Get("Clear-Site-Data"))
	}
	for _, who := range []*browser{lin.browser, open(t, c.addr)} {
		a := who.post("/logout", nil)
		if a.want(204); a.header.Get("Clear-Site-Data") != "" || a.header.Get("Set-Cookie") != "" {
			t.Errorf("the headers without a session are %v", a.header)
		}
	}
}

func TestLogoutEndsTheSessionAndItsConnections(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	cookie, csrf := lin.cookie(auth.SessionCookie), lin.cookie(auth.CSRFCookie)
	live := lin.connect(c.id, "")
	lin.post("/logout", nil).want(204)
	if lin.cookie(auth.SessionCookie) != "" || lin.cookie(auth.CSRFCookie) != "" {
		t.Error("the cookies were kept")
	}
	if code := live.closed(); code != 1008 {
		t.Errorf("closed with %d, want 1008", code)
	}
	lin.setCookie(auth.SessionCookie, cookie)
	lin.setCookie(auth.CSRFCookie, csrf)
	lin.get("/session").refused(401)
	lin.get(c.path + "/help").refused(401)
	lin.post("/logout", nil).want(204)
	open(t, c.addr).post("/logout", nil).want(204)
}

func TestACookieThatDoesNotVerifyCountsAsAbsent(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	good := lin.cookie(auth.SessionCookie)
	other := c.attendee("Max").cookie(auth.SessionCookie)
	for _, bad := range []string{
		"x", good + "x", good[:len(good)-4] + "AAAA", "a.b.c", "eyJhbGciOiJub25lIn0.eyJqdGkiOiJ4IiwiZXhwIjo5OTk5OTk5OTk5fQ.",
		good[:strings.LastIndex(good, ".")] + other[strings.LastIndex(other, "."):], string(make([]byte, 0)) + fmt.Sprintf("%02000d", 1),
	} {
		b := open(t, c.addr)
		b.setCookie(auth.SessionCookie, bad)
		b.get("/session").refused(401)
		b.get(c.path + "/chat").refused(401)
		b.get("/codelabs").want(200)
		// Without a valid session the server issues no CSRF token.
		b.post("/login", record{"admin_id": adminID, "admin_pw": adminPW}).want(200)
	}
}

func TestASessionEndsWithItsLifetime(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Session.AttendeeLifetime = config.Duration(1500 * time.Millisecond)
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	var lin *person
	var cookie, csrf string
	n := 0
	// On a busy machine, a session can end before its first use. The test then takes another.
	c.eventually("a session that has not ended", func() bool {
		n++
		lin = c.attendee(fmt.Sprint("Lin ", n))
		cookie, csrf = lin.cookie(auth.SessionCookie), lin.cookie(auth.CSRFCookie)
		return lin.get("/session").status == 200 && cookie != "" && csrf != ""
	})
	deadline := time.Now().Add(testTimeout)
	for {
		lin.setCookie(auth.SessionCookie, cookie) // the jar has removed the expired cookie, so the test sets it again
		lin.setCookie(auth.CSRFCookie, csrf)
		if lin.get("/session").status == 401 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the session does not expire")
		}
	}
	lin.get(c.path + "/chat").refused(401)
	c.admin.get("/session").want(200)
}

func TestAnAttendeesSessionNeverPassesAsAnAdmins(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	cookie := lin.cookie(auth.SessionCookie)
	lin.get("/admin/tokens?as=admin").refused(403)
	lin.get(c.path + "/feedback?as=admin").refused(403)
	lin.get("/admin/tokens", header("Authorization", "Bearer "+cookie)).refused(401)
	lin.get("/admin/tokens", header("Authorization", "bearer "+lin.cookie(auth.CSRFCookie))).refused(401)
	lin.get("/admin/tokens?svc_session=" + c.admin.cookie(auth.SessionCookie)).refused(403)
	if _, res := lin.dial("/ws/" + c.id + "?as=admin"); res.StatusCode != http.StatusForbidden {
		t.Errorf("as=admin returned %d", res.StatusCode)
	}
}

func TestTheCSRFTokenMustBelongToTheSession(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin, max := c.attendee("Lin"), c.attendee("Max")
	chat := record{"type": "chat", "message": "x"}
	lin.post(c.path+"/messages", chat, withoutCSRF).refused(403, "X-CSRF-Token")
	lin.post(c.path+"/messages", chat, header(auth.CSRFHeader, max.cookie(auth.CSRFCookie))).refused(403, "X-CSRF-Token")
	// The header alone is not enough, because it must match the cookie.
	session, csrf := auth.SessionCookie+"="+lin.cookie(auth.SessionCookie), auth.CSRFCookie+"="
	for _, cookies := range []string{session, session + "; " + csrf, session + "; " + csrf + max.cookie(auth.CSRFCookie)} {
		open(t, c.addr).post(c.path+"/messages", chat, header(auth.CSRFHeader, lin.cookie(auth.CSRFCookie)), header("Cookie", cookies)).refused(403, "X-CSRF-Token")
	}
	// A matching pair of foreign values does not belong to this session.
	lin.post(c.path+"/messages", chat, header(auth.CSRFHeader, "forged"), header("Cookie", auth.SessionCookie+"="+lin.cookie(auth.SessionCookie)+"; "+auth.CSRFCookie+"=forged")).refused(403)
	lin.post("/logout", nil, withoutCSRF).refused(403)
	lin.post("/login", record{"admin_id": adminID, "admin_pw": adminPW}, withoutCSRF).refused(403)
	lin.post(c.path+"/messages", chat).want(200)
}

func TestTheSessionRestoresALostCSRFToken(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	lin := c.attendee("Lin")
	token := lin.cookie(auth.CSRFCookie)
	only := open(t, c.addr)
	only.setCookie(auth.SessionCookie, lin.cookie(auth.SessionCookie))
	only.get("/session").want(200)
	if only.cookie(auth.CSRFCookie) != token {
		t.Error("the token was not restored")
	}
	if n := len(only.get("/session").header.Values("Set-Cookie")); n != 0 {
		t.Errorf("%d cookies are set although none is missing", n)
	}
	only.setCookie(auth.CSRFCookie, c.attendee("Max").cookie(auth.CSRFCookie)) // the cookie is from another session
	only.get("/session").want(200)
	if only.cookie(auth.CSRFCookie) != token {
		t.Error("a token of another session was kept")
	}
}

func TestCookiesHaveTheirSecurityAttributes(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Server.PublicURL = "https://workshop.example.org"
	addr := startServer(t, cfg).Addr()
	for where, secure := range map[string]bool{common.get(t).Addr(): false, addr: true} {
		got := open(t, where).post("/login", record{"admin_id": adminID, "admin_pw": adminPW}).want(200)
		res := http.Response{Header: got.header}
		hidden := map[string]bool{}
		for _, c := range res.Cookies() {
			hidden[c.Name] = c.HttpOnly
			path, site, life := "/", http.SameSiteLaxMode, 8*time.Hour
			if c.Name == auth.DeviceCookie {
				path, site, life = "/api", http.SameSiteStrictMode, 180*24*time.Hour
			}
			if c.Path != path || c.SameSite != site || c.Secure != secure || c.Expires.Sub(time.Now().Add(life)).Abs() > time.Minute {
				t.Errorf("the cookie is %v", c)
			}
		}
		if want := map[string]bool{auth.SessionCookie: true, auth.CSRFCookie: false, auth.DeviceCookie: true}; fmt.Sprint(hidden) != fmt.Sprint(want) {
			t.Errorf("hidden from scripts: %v, want %v", hidden, want)
		}
	}
}

func TestAWrongLoginIsRefusedAndAudited(t *testing.T) {
	t.Parallel()
	addr := common.get(t).Addr()
	admin, b := facilitator(t, addr, ""), open(t, addr)
	b.from = "198.51.100.20"
	failures := func() (n int) {
		for _, r := range admin.get("/admin/audit-logs?limit=1000&action=admin_login_failed").list() {
			if r.text("ip") == b.from {
				n++
			}
		}
		return n
	}
	before := failures()
	for _, in := range [][2]string{{adminID, "wrong"}, {"root", adminPW}, {adminID + " ", adminPW}, {adminID, adminPW + " "}} {
		b.post("/login", record{"admin_id": in[0], "admin_pw": in[1]}).refused(401)
	}
	if n := failures() - before; n != 4 {
		t.Errorf("%d failures are audited, want 4", n)
	}
}

func TestANewPasswordEndsOnlyAdminSessions(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.LoginFailures = 3
	s := startUntilStopped(t, cfg)
	c := newClassOn(t, s.Addr(), record{})
	both := open(t, c.addr)
	both.login("Grace")
	lin := c.join(both, record{"name": "Lin"})
	robot := open(t, c.addr)
	robot.token = c.admin.post("/admin/tokens", record{"name": "t"}).object().text("token")
	restart := func() {
		t.Helper()
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
		s = startUntilStopped(t, cfg)
		for _, b := range []*browser{c.admin, both, robot} {
			b.base = "http://" + s.Addr()
		}
	}
	restart()
	c.admin.get("/admin/tokens").want(200)
	both.get("/admin/tokens").want(200)
	cfg.Admin.Password = "another password"
	restart()
	defer func() { _ = s.Stop() }()
	c.admin.get("/session").refused(401)
	both.get("/admin/tokens").refused(403)
	lin.get(c.path + "/help").want(200)
	robot.get("/admin/participants").want(200)
	// The device cookies are invalid, too, so the limit counts these browsers by their address.
	for range 3 {
		c.admin.post("/login", record{"admin_id": adminID, "admin_pw": adminPW}).refused(401)
	}
	limited(t, open(t, s.Addr()).post("/login", record{"admin_id": adminID, "admin_pw": adminPW}), 120)
	b := open(t, s.Addr())
	b.setCookie(auth.DeviceCookie, c.admin.cookie(auth.DeviceCookie))
	limited(t, b.post("/login", record{"admin_id": adminID, "admin_pw": "another password"}), 120)
}
