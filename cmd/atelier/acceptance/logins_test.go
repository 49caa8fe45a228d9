package acceptance

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// When owners end one of their sessions, its connections end too.
func TestOwnersCanEndOneOfTheirSessions(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	second := open(t, c.addr)
	second.post("/login", record{"admin_id": adminID, "admin_pw": adminPW, "display_name": "Olga"}, header("User-Agent", "the second of the owner")).want(200)
	live := second.connect(c.id, "")
	live.acked(record{"type": "chat", "message": "here"}, "1")
	sessions, _ := c.admin.get("/account").want(200).object()["sessions"].([]any)
	for _, s := range sessions {
		if one := record(s.(map[string]any)); one.text("user_agent") == "the second of the owner" {
			c.admin.delete("/account/sessions/" + one.text("id")).want(204)
		}
	}
	if code := live.closed(); code != 1008 {
		t.Errorf("the connection is closed with %d, want 1008", code)
	}
	c.shutsOut(second, "/account", 401)
	c.admin.get("/account").want(200)
}

// Each time a helper opens the link, the server records another browser. Failed passwords in all
// these browsers are counted together.
func TestWrongPasswordsOfOnePersonAreCountedTogether(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.LoginFailures = 4
	s := startServer(t, cfg)
	c := newClassOn(t, s.Addr(), record{})
	until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	_, token := invite(c.admin, record{"name": "Hal", "role": "assistant", "codelabs": []string{c.id}, "expires_at": until})
	tried := 0
	for i := range 4 {
		b := open(t, s.Addr())
		b.post("/invitations/accept", record{"token": token, "here": true}).want(200)
		for j := range 4 {
			if b.post("/login", record{"admin_id": adminID, "admin_pw": fmt.Sprint("guess ", i, j)}).status == 401 {
				tried++
			}
		}
	}
	if tried != cfg.Limits.LoginFailures {
		t.Errorf("%d passwords were tried, want %d", tried, cfg.Limits.LoginFailures)
	}
	// These failures do not lock out other people either.
	c.admin.post("/login", record{"admin_id": adminID, "admin_pw": adminPW}).want(200)
}

// Failed logins of a helper without the cookie of a known browser are also counted by login.
func TestWrongPasswordsOfOneLoginWithoutACookieAreCountedTogether(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.LoginFailures = 4
	s := startServer(t, cfg)
	c := newClassOn(t, s.Addr(), record{})
	until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	_, token := invite(c.admin, record{"name": "Hal", "role": "assistant", "codelabs": []string{c.id}, "expires_at": until})
	tried := 0
	for i := range 4 {
		b := open(t, s.Addr())
		b.post("/invitations/accept", record{"token": token, "here": true}).want(200)
		session, csrf := b.cookie("svc_session"), b.cookie("svc_csrf")
		for j := range 4 {
			bare := open(t, s.Addr())
			if bare.post("/login", record{"admin_id": adminID, "admin_pw": fmt.Sprint("guess ", i, j)},
				header("Cookie", "svc_session="+session+"; svc_csrf="+csrf), header("X-CSRF-Token", csrf)).status == 401 {
				tried++
			}
		}
	}
	if tried != cfg.Limits.LoginFailures {
		t.Errorf("%d passwords were tried, want %d", tried, cfg.Limits.LoginFailures)
	}
}

// A person's current name is reserved, not the name at the time of the sign-in.
func TestARenamedPersonsNameIsReserved(t *testing.T) {
	t.Parallel()
	onOneServer(t)
	c := newClass(t)
	asa := c.assistant("asa-renamed")
	c.admin.put("/admin/people/"+asa.id, record{"name": "Berta"}).want(200)
	open(t, c.addr).post(c.path+"/register", record{"name": "bertа"}).refused(409) // a Cyrillic a
	open(t, c.addr).post(c.path+"/register", record{"name": "Asa"}).want(200)
	other := newClassOn(t, c.addr, record{})
	open(t, c.addr).post(other.path+"/register", record{"name": "Berta"}).want(200)
	asa.post("/logout", nil).want(204)
	open(t, c.addr).post(c.path+"/register", record{"name": "Berta"}).want(200)
}

// Failed attempts by others do not lock out a browser in which a person has signed in. If the owner
// later signs in there, the browser counts as the owner's.
func TestOthersCannotLockOutAKnownBrowser(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Limits.LoginFailures = 4
	s := startServer(t, cfg)
	c := newClassOn(t, s.Addr(), record{})
	fay := c.facilitator("fay-known")
	stranger := open(t, s.Addr())
	for _, login := range []string{"fay-known", adminID} {
		for range 5 {
			stranger.post("/login", record{"admin_id": login, "admin_pw": "wrong wrong wrong"})
		}
		stranger.post("/login", record{"admin_id": login, "admin_pw": goodPassword}).refused(429)
	}
	fay.post("/logout", nil).want(204)
	fay.post("/login", record{"admin_id": adminID, "admin_pw": adminPW}).refused(429)
	fay.post("/login", record{"admin_id": "Fay-Known", "admin_pw": goodPassword}).want(200)
	// Fay uses the owner's browser, and then the owner uses it again.
	other := open(t, s.Addr())
	other.http.Jar = c.admin.http.Jar
	other.post("/login", record{"admin_id": "fay-known", "admin_pw": goodPassword}).want(200)
	other.post("/logout", nil).want(204)
	other.post("/login", record{"admin_id": adminID, "admin_pw": adminPW}).want(200)
}

func TestAssistantsCannotUseTheAI(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	asa, hal := c.assistant("asa-without-ai"), c.helper()
	for _, b := range []*browser{asa.browser, hal.browser} {
		b.post("/ai/stream", record{"prompt": "why?", "codelab_id": c.id}).refused(403)
		b.post("/ai/stream", record{"prompt": "why?"}).refused(403)
		b.post("/ai/conversations", record{"codelab_id": c.id, "question": "q", "answer": "a"}).refused(403)
		b.post("/ai/conversations", record{"question": "q", "answer": "a"}).refused(403)
		b.get(c.path + "/ai/conversations").refused(403)
		b.get("/admin/ai/usage").refused(403)
	}
}

// A person claims a request while another request disables this person. In either order, the
// disabled person has no claim afterwards.
func TestAClaimByAPersonDisabledMeanwhileIsReleased(t *testing.T) {
	t.Parallel()
	onOneServer(t) // another node can read the change up to a second later, and releases the claim only then
	c := newClass(t)
	const rounds = 30
	asked := make([]string, rounds)
	helpers := make([]*leader, rounds)
	for i := range rounds {
		asked[i] = c.asks(c.join(open(t, c.addr), record{"name": fmt.Sprint("Lin ", i)}))
		helpers[i] = c.helper()
	}
	for i, hal := range helpers {
		var both sync.WaitGroup
		both.Go(func() { hal.post(c.path+"/help/"+asked[i]+"/claim", nil) })
		both.Go(func() { c.admin.put("/admin/people/"+hal.id, record{"disabled": true}).want(200) })
		both.Wait()
		for _, h := range c.admin.get(c.path + "/help").list() {
			if h.text("id") == asked[i] && h.text("status") != "pending" {
				t.Errorf("round %d: the request is %v", i, h)
			}
		}
	}
}
