package acceptance

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const goodPassword = "correct horse battery"

// leader is an invited person with a separate browser.
type leader struct {
	*browser
	id string
}

// invite creates an invitation, and returns the token for accepting it.
func invite(admin *browser, who record) (id, token string) {
	admin.t.Helper()
	made := admin.post("/admin/people", who).want(200).object()
	link, _ := made["invitation"].(map[string]any)
	_, token, _ = strings.Cut(record(link).text("url"), "/invite#")
	if len(token) < 43 {
		admin.t.Fatalf("the invitation is %v", link)
	}
	return made.text("id"), token
}

// lead invites a person, who accepts.
func lead(admin *browser, addr string, who record) *leader {
	admin.t.Helper()
	id, token := invite(admin, who)
	b := open(admin.t, addr)
	accept := record{"token": token}
	if who["expires_at"] == nil {
		accept["password"] = goodPassword
	}
	b.post("/invitations/accept", accept).want(200)
	return &leader{b, id}
}

func (c *class) facilitator(login string) *leader {
	c.t.Helper()
	return lead(c.admin, c.addr, record{"login": login, "name": "Fay", "role": "facilitator"})
}

func (c *class) assistant(login string) *leader {
	c.t.Helper()
	return lead(c.admin, c.addr, record{"login": login, "name": "Asa", "role": "assistant", "codelabs": []string{c.id}})
}

// helper returns a temporary helper, whose access expires after an hour.
func (c *class) helper() *leader {
	c.t.Helper()
	until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	return lead(c.admin, c.addr, record{"name": "Hal", "role": "assistant", "codelabs": []string{c.id}, "expires_at": until})
}

// shutsOut verifies that a browser is refused. The node that made the change refuses immediately,
// and other nodes refuse within a second.
func (c *class) shutsOut(b *browser, path string, status int) {
	c.t.Helper()
	if common.nodes == nil {
		b.get(path).refused(status)
		return
	}
	c.eventually("the browser is refused at "+path, func() bool { return b.get(path).status == status })
}

func TestAnInvitationCreatesALogin(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	id, token := invite(c.admin, record{"login": "Ann+1@Example.org", "name": "Ann", "role": "assistant", "codelabs": []string{c.id}})
	b := open(t, c.addr)
	seen := b.post("/invitations/look", record{"token": token}).want(200).object()
	if seen.text("name") != "Ann" || seen.text("login") != "ann+1@example.org" || seen.text("role") != "assistant" {
		t.Errorf("the invitation is %v", seen)
	}
	for password, status := range map[string]int{"": 400, "short": 400, "ann+1@example.org": 400, "qwerty123456": 400} {
		b.post("/invitations/accept", record{"token": token, "password": password}).refused(status)
	}
	b.post("/login", record{"admin_id": "ann+1@example.org", "admin_pw": goodPassword}).refused(401)
	b.post("/invitations/accept", record{"token": token, "password": goodPassword}).want(200)
	if s := b.get("/session").want(200).object(); s.text("role") != "assistant" || s.text("rank") != "assistant" || s.text("sub") != id {
		t.Errorf("the session is %v", s)
	}
	// The token can be used only once.
	other := open(t, c.addr)
	other.post("/invitations/look", record{"token": token}).refused(404)
	other.post("/invitations/accept", record{"token": token, "password": goodPassword}).refused(404)
	other.post("/login", record{"admin_id": " ANN+1@example.ORG", "admin_pw": goodPassword}).want(200)
	c.admin.post("/admin/people", record{"login": "ann+1@EXAMPLE.org", "name": "Max", "role": "facilitator"}).refused(409)
	c.admin.post("/admin/people", record{"login": adminID, "name": "Max", "role": "facilitator"}).refused(409)

	// The list of people contains no hash and no token.
	people := c.admin.get("/admin/people")
	for _, secret := range []string{token, goodPassword, "argon2"} {
		if strings.Contains(string(people.body), secret) {
			t.Errorf("the list contains %q", secret)
		}
	}
	for _, p := range people.list() {
		if p.text("id") == id && p["invitation"] != nil {
			t.Errorf("the list contains the invitation: %v", p)
		}
	}
}

func TestInvalidInvitationsAreRefused(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	for name, who := range map[string]record{
		"no name":                     {"login": "someone", "role": "assistant"},
		"no role":                     {"login": "someone", "name": "A"},
		"the role of an owner":        {"login": "someone", "name": "A", "role": "owner"},
		"a short login":               {"login": "ab", "name": "A", "role": "assistant"},
		"a login with a space":        {"login": "a b c", "name": "A", "role": "assistant"},
		"a Kelvin sign":               {"login": "\u212aim", "name": "A", "role": "assistant"},
		"an expiry in 1970":           {"login": "someone", "name": "A", "role": "assistant", "codelabs": []string{c.id}, "expires_at": "1970-01-01T00:00:00Z"},
		"a line break":                {"login": "someone", "name": "A\nB", "role": "assistant"},
		"a facilitator with codelabs": {"login": "someone", "name": "A", "role": "facilitator", "codelabs": []string{c.id}},
		"an unknown codelab":          {"login": "someone", "name": "A", "role": "assistant", "codelabs": []string{"0197f3a2-7c1e-7aaa-8bbb-0123456789ab"}},
		"a helper for a year":         {"name": "A", "role": "assistant", "codelabs": []string{c.id}, "expires_at": "2099-01-01T00:00:00Z"},
		"an expired helper":           {"name": "A", "role": "assistant", "codelabs": []string{c.id}, "expires_at": "2020-01-01T00:00:00Z"},
		"a helper without a codelab":  {"name": "A", "role": "assistant", "expires_at": time.Now().Add(time.Hour).Format(time.RFC3339)},
		"an invalid time":             {"name": "A", "role": "assistant", "codelabs": []string{c.id}, "expires_at": "tomorrow"},
	} {
		t.Run(name, func(t *testing.T) { c.admin.post("/admin/people", who).refused(400) })
	}
}

// When a person loses rights, the person's sessions and connections end.
func TestLossOfRightsEndsSessionsAndConnections(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(c *class, path string){
		"disabled":           func(c *class, path string) { c.admin.put(path, record{"disabled": true}).want(200) },
		"deleted":            func(c *class, path string) { c.admin.delete(path).want(204) },
		"other codelabs":     func(c *class, path string) { c.admin.put(path, record{"codelabs": []string{}}).want(200) },
		"another invitation": func(c *class, path string) { c.admin.post(path+"/invitation", nil).want(200) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newClass(t)
			asa := c.assistant("asa-" + strings.ReplaceAll(name, " ", "-"))
			live := asa.connect(c.id, "")
			live.acked(record{"type": "chat", "message": "here"}, "1")
			lin := c.join(asa.browser, record{"name": "Lin as well"}) // the same browser is an attendee, too
			asa.get(c.path + "/overview").want(200)
			claimed := c.asks(c.attendee("Zoe"))
			asa.post(c.path+"/help/"+claimed+"/claim", nil).want(200)
			end(c, "/admin/people/"+asa.id)
			want := map[bool]string{true: "in_progress", false: "pending"}[name == "another invitation"]
			if h := c.admin.get(c.path + "/help").list()[0]; h.text("status") != want {
				t.Errorf("the claimed request is %v", h)
			}
			if code := live.closed(); code != 1008 {
				t.Errorf("the connection is closed with %d, want 1008", code)
			}
			c.shutsOut(asa.browser, c.path+"/overview", 403)
			if s := asa.get("/session").want(200).object(); s.text("role") != "attendee" || s.text("sub") != lin.id {
				t.Errorf("the session is %v", s)
			}
			if name != "other codelabs" {
				open(t, c.addr).post("/login", record{"admin_id": "asa-" + strings.ReplaceAll(name, " ", "-"), "admin_pw": goodPassword}).refused(401)
			}
		})
	}
}

func TestATemporaryHelpersLinkMovesToTheSecondPhone(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	id, token := invite(c.admin, record{"name": "Hal", "role": "assistant", "codelabs": []string{c.id}, "expires_at": until})
	first, second := open(t, c.addr), open(t, c.addr)
	first.post("/invitations/accept", record{"token": token}).want(200)
	first.get(c.path + "/help").want(200)
	live := first.connect(c.id, "")
	// One phone replaces the other. The second must confirm.
	second.post("/invitations/accept", record{"token": token}).refused(409, "another phone")
	first.get(c.path + "/help").want(200)
	second.post("/invitations/accept", record{"token": token, "here": true}).want(200)
	second.get(c.path + "/help").want(200)
	// Facilitators see the second phone in the list of people, and in the audit trail of the
	// codelab.
	fay := c.facilitator("fay-sees")
	people := fay.get("/admin/people").list()
	if !slices.ContainsFunc(people, func(p record) bool { return p.text("id") == id && p["moved_at"] != nil }) {
		t.Errorf("the list contains %v", people)
	}
	rows := fay.get("/admin/audit-logs?limit=1&action=people_accept&codelab_id=" + c.id).list()
	if len(rows) != 1 || rows[0].text("actor_id") != id || record(rows[0]["metadata"].(map[string]any)).text("elsewhere") != "true" {
		t.Errorf("the audit trail has %v", rows)
	}
	c.shutsOut(first, c.path+"/help", 401)
	if code := live.closed(); code != 1008 {
		t.Errorf("the first phone's connection is closed with %d, want 1008", code)
	}
	if s := second.get("/session").object(); s.number("exp") > int(time.Now().Add(time.Hour).Unix()) {
		t.Errorf("the session lasts until %v", s["exp"])
	}
	second.post("/account/password", record{"old": "x", "new": goodPassword}).refused(409)
	c.admin.delete("/admin/people/" + id).want(204)
	c.shutsOut(second, c.path+"/help", 401)
}

func TestAFacilitatorManagesOnlyAssistants(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	fay := c.facilitator("fay-leads")
	other := c.facilitator("other-facilitator")
	fay.post("/admin/people", record{"login": "more", "name": "More", "role": "facilitator"}).refused(403)
	asa := lead(fay.browser, c.addr, record{"login": "asa-of-fay", "name": "Asa", "role": "assistant", "codelabs": []string{c.id}})
	fay.put("/admin/people/"+asa.id, record{"role": "facilitator"}).refused(403)
	fay.put("/admin/people/"+other.id, record{"disabled": true}).refused(404)
	fay.delete("/admin/people/" + other.id).refused(404)
	fay.post("/admin/people/"+other.id+"/invitation", nil).refused(404)
	for _, p := range fay.get("/admin/people").list() {
		if p.text("role") != "assistant" {
			t.Errorf("a facilitator sees %v", p)
		}
	}
	if s := fay.get("/session").object(); s.text("role") != "admin" || s.text("rank") != "facilitator" || s.text("sub") != fay.id {
		t.Errorf("the session is %v", s)
	}
	fay.get("/admin/audit-logs").refused(400, "codelab_id is required")
	fay.get("/admin/audit-logs?codelab_id=" + c.id).want(200)
	// Their actions are audited under their id.
	fay.put(c.path, record{"author": "Fay"}).want(200)
	if row := c.newest("codelab_update"); row.text("actor_id") != fay.id {
		t.Errorf("the audit trail has %v", row)
	}
}

func TestNamesOfFacilitatorsAreReserved(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	asa := c.assistant("asa-by-name")
	live := asa.connect(c.id, "")
	live.acked(record{"type": "chat", "message": "hello"}, "1")
	if messages := c.admin.get(c.path + "/chat").list(); len(messages) != 1 || messages[0].text("sender_name") != "Asa" {
		t.Errorf("the chat is %v", messages)
	}
	// While Asa is connected, others cannot use her name. Other nodes read a login slightly later.
	if common.nodes == nil {
		open(t, c.addr).post(c.path+"/register", record{"name": "ASA"}).refused(409)
	}
	// In codelabs that she does not lead, her name is available. A facilitator's name is reserved
	// everywhere.
	other := newClassOn(t, c.addr, record{})
	other.join(open(t, c.addr), record{"name": "Asa"})
	c.facilitator("fay-by-name")
	for _, lab := range []*class{c, other} {
		if common.nodes != nil {
			break // other nodes read a login a moment later
		}
		open(t, c.addr).post(lab.path+"/register", record{"name": "fay"}).refused(409)
	}
	// She cannot read e-mail addresses.
	c.join(open(t, c.addr), record{"name": "Lin", "email": "lin@example.org"})
	if b := string(asa.get(c.path + "/attendees").want(200).body); strings.Contains(b, "example.org") || !strings.Contains(b, "Lin") {
		t.Errorf("the attendees are %s", b)
	}
	c.admin.put("/admin/people/"+asa.id, record{"codelabs": []string{other.id}}).want(200)
	c.eventually("the assistant's name is available again", func() bool {
		return open(t, c.addr).post(c.path+"/register", record{"name": "Asa"}).status == 200
	})
}

func TestPeopleManageTheirOwnAccount(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	fay := c.facilitator("fay-account")
	second := open(t, c.addr)
	second.post("/login", record{"admin_id": "fay-account", "admin_pw": goodPassword}, header("User-Agent", "a second browser")).want(200)
	account := fay.get("/account").want(200).object()
	sessions, _ := account["sessions"].([]any)
	if account.text("login") != "fay-account" || account.text("role") != "facilitator" || len(sessions) != 2 {
		t.Fatalf("the account is %v", account)
	}
	var theirs string
	for _, s := range sessions {
		if one := record(s.(map[string]any)); one["current"] != true {
			theirs = one.text("id")
			if one.text("user_agent") != "a second browser" || one.text("address") == "" {
				t.Errorf("the other session is %v", one)
			}
		}
	}
	live := second.connect(c.id, "")
	// Facilitators cannot end the sessions of others.
	c.facilitator("nosy-facilitator").delete("/account/sessions/" + theirs).refused(404)
	fay.delete("/account/sessions/" + theirs).want(204)
	fay.delete("/account/sessions/" + theirs).refused(404)
	if code := live.closed(); code != 1008 {
		t.Errorf("the connection is closed with %d, want 1008", code)
	}
	c.shutsOut(second, "/account", 401)

	second.post("/login", record{"admin_id": "fay-account", "admin_pw": goodPassword}).want(200)
	fay.post("/account/password", record{"old": "wrong wrong wrong", "new": "another long password"}).refused(403)
	fay.post("/account/password", record{"old": goodPassword, "new": "short"}).refused(400)
	fay.post("/account/password", record{"old": goodPassword, "new": "another long password"}).want(200)
	fay.get("/account").want(200)
	c.shutsOut(second, "/account", 401)
	open(t, c.addr).post("/login", record{"admin_id": "fay-account", "admin_pw": goodPassword}).refused(401)
	open(t, c.addr).post("/login", record{"admin_id": "fay-account", "admin_pw": "another long password"}).want(200)
	c.admin.post("/account/password", record{"old": adminPW, "new": goodPassword}).refused(409)
}

// Guessed tokens, planted sessions and the ids of other codelabs give no access.
func TestAttacksOnAccountsFail(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	b := open(t, c.addr)
	for _, token := range []string{"", "x", strings.Repeat("A", 43), strings.Repeat("A", 60_000)} {
		b.post("/invitations/look", record{"token": token}).refused(404)
		b.post("/invitations/accept", record{"token": token, "password": goodPassword}).refused(404)
	}
	// Session fixation: the attacker who planted a session gains nothing when the victim logs in.
	_, token := invite(c.admin, record{"login": "fixed", "name": "Fix", "role": "facilitator"})
	planted := open(t, c.addr)
	c.join(planted, record{"name": "Mallory"})
	victim := open(t, c.addr)
	victim.http.Jar = planted.http.Jar
	before := planted.cookie("svc_session")
	victim.post("/invitations/accept", record{"token": token, "password": goodPassword}).want(200)
	mallory := open(t, c.addr)
	mallory.get("/admin/people", header("Cookie", "svc_session="+before)).refused(403)
	// Requests with the id of another codelab are refused.
	c, other := newClassOn(t, c.addr, record{"is_public": false}), newClassOn(t, c.addr, record{"is_public": false})
	asa := c.assistant("asa-elsewhere")
	for _, path := range []string{"/overview", "/help", "/attendees", "/presence", "/quizzes/submissions"} {
		asa.get(other.path + path).refused(403)
	}
	asa.post(other.path+"/messages", record{"type": "broadcast", "message": "x"}).refused(403)
	if listed := texts(asa.get("/codelabs").list(), "id"); !strings.Contains(strings.Join(listed, " "), c.id) || strings.Contains(strings.Join(listed, " "), other.id) {
		t.Errorf("an assistant sees %v", listed)
	}
}

func TestScopesOfAPITokensAreEnforced(t *testing.T) {
	t.Parallel()
	onOneServer(t)
	c := newClass(t)
	scopes := map[string]string{} // by the id of the token
	token := func(scope string) *browser {
		robot := open(t, c.addr)
		made := c.admin.post("/admin/tokens", record{"name": scope, "scope": scope, "expires_in_days": 1}).want(200).object()
		robot.token, scopes[made.text("id")] = made.text("token"), scope
		return robot
	}
	c.admin.post("/admin/tokens", record{"name": "x", "scope": "some"}).refused(400)
	c.admin.post("/admin/tokens", record{"name": "x", "expires_in_days": 0}).refused(400)
	reads := token("read")
	reads.get(c.path + "/overview").want(200)
	reads.get("/admin/participants").refused(403, "insufficient_scope")
	all := token("all")
	for scope, robot := range map[string]*browser{"read": reads, "all": all} {
		rows := robot.get("/admin/audit-logs?limit=1000").want(200).list()
		if len(rows) == 0 {
			t.Errorf("a token with the scope %s gets no audit records", scope)
		}
		for _, row := range rows {
			if row["codelab_id"] == nil || scope == "read" && (row.text("ip") != "" || row.text("user_agent") != "") {
				t.Fatalf("a token with the scope %s gets the audit record %v", scope, row)
			}
		}
	}
	reads.put(c.path, record{"author": "x"}).refused(403, "insufficient_scope")
	reads.post(c.path+"/messages", record{"type": "chat", "message": "x"}).refused(403, "insufficient_scope")
	live := reads.connect(c.id, "")
	c.admin.post(c.path+"/messages", record{"type": "chat", "message": "heard"}).want(200)
	live.untilChat("heard")
	if e := live.ask(record{"type": "chat", "message": "said"}, "r"); e.text("error") != "insufficient_scope" {
		t.Errorf("the socket returned %v", e)
	}
	imports := token("import")
	imports.get("/codelabs").want(200)
	imports.get(c.path).want(200)
	imports.get(c.path+"/overview").refused(403, "insufficient_scope")
	imports.put(c.path, record{"author": "x"}).refused(403, "insufficient_scope")
	imports.post("/codeserver", record{"codelab_id": c.id, "structure_type": "branch"}).want(200)
	for _, path := range []string{"/admin/people", "/admin/tokens", "/admin/settings"} {
		all.get(path).refused(403)
	}
	all.get("/admin/participants").want(200)
	// Other tests create tokens on this server at the same time.
	for _, k := range c.admin.get("/admin/tokens").list() {
		if scope, mine := scopes[k.text("id")]; mine && k.text("scope") != scope {
			t.Errorf("the list has %v, want the scope %s", k, scope)
		}
		delete(scopes, k.text("id"))
	}
	if len(scopes) > 0 {
		t.Errorf("the list lacks the tokens %v", scopes)
	}
}

// The response time does not reveal whether a login exists, because the server computes one hash in
// both cases. A request that is refused for its address or form computes no hash.
func TestAnUnknownLoginCostsAsMuchComputation(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Server.InternalListen = "127.0.0.1:0"
	cfg.Limits.LoginFailures = 6
	s := startServer(t, cfg)
	c := newClassOn(t, s.Addr(), record{})
	c.facilitator("known-login")
	c.admin.post("/admin/people", record{"login": "invited-only", "name": "I", "role": "facilitator"}).want(200)
	computed := func() int {
		t.Helper()
		_, metrics := internal(s.InternalAddr(), "/metrics")
		_, after, _ := strings.Cut(metrics, "\natelier_password_hashes_total ")
		n, _, _ := strings.Cut(after, "\n")
		total, err := strconv.Atoi(n)
		if err != nil {
			t.Fatalf("the metric is %q", n)
		}
		return total
	}
	b := open(t, s.Addr())
	for _, login := range []string{"known-login", "unknown-login", "invited-only", "no login at all"} {
		before := computed()
		b.post("/login", record{"admin_id": login, "admin_pw": "wrong wrong wrong"}).refused(401)
		if n := computed() - before; n != 1 {
			t.Errorf("for %q, the server computed %d hashes, want 1", login, n)
		}
	}
	before := computed()
	b.post("/invitations/accept", record{"token": "guessed", "password": goodPassword}).refused(404)
	for range 10 {
		b.post("/login", record{"admin_id": "known-login", "admin_pw": "wrong wrong wrong"})
	}
	if n := computed() - before; n > cfg.Limits.LoginFailures {
		t.Errorf("beyond the allowed failures, the server computed %d hashes, want at most %d", n, cfg.Limits.LoginFailures)
	}
}
