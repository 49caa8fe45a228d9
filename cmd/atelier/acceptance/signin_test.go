package acceptance

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"atelier/cmd/atelier/config"
	"atelier/transport/auth"
	"atelier/transport/auth/oidc/oidctest"
)

// office is a server whose people sign in through an identity provider.
type office struct {
	*class
	provider *oidctest.Provider
}

const publicURL = "http://workshop.test"

func newOffice(t *testing.T, change func(*config.Config)) *office {
	t.Helper()
	p := oidctest.New(t)
	cfg := testConfig(t)
	cfg.Server.PublicURL = publicURL
	cfg.Login.Issuer, cfg.Login.ClientID, cfg.Login.ClientSecret = p.URL, oidctest.ClientID, oidctest.ClientSecret
	cfg.Login.Allowed, cfg.Login.Label = []string{"*@example.org"}, "Sign in with Example"
	if change != nil {
		change(&cfg)
	}
	return &office{newClassOn(t, startServer(t, cfg).Addr(), record{"is_public": false}), p}
}

// browser returns a browser that stays on one node, as the browsers of people who sign in do.
func (o *office) browser() *browser {
	b := open(o.t, o.addr)
	b.stays = true
	return b
}

// leads returns the address to which a response redirects.
func leads(a answer) string {
	a.t.Helper()
	a.want(302)
	return a.header.Get("Location")
}

// callback returns the address to which the provider redirects a browser that begins to sign in.
func (o *office) callback(b *browser, to string) string {
	o.t.Helper()
	back := o.provider.Approve(leads(b.get("/login/oidc?to=" + url.QueryEscape(to))))
	path, there := strings.CutPrefix(back, publicURL+"/api")
	if !there {
		o.t.Fatalf("the provider redirects to %s", back)
	}
	return path
}

// signIn signs a person in and returns the address of the redirect.
func (o *office) signIn(b *browser) string {
	o.t.Helper()
	return leads(b.get(o.callback(b, "/admin/x")))
}

// comes signs a person in and returns the person's browser and id.
func (o *office) comes() (*browser, string) {
	o.t.Helper()
	b := o.browser()
	if to := o.signIn(b); to != "/admin/x" {
		o.t.Fatalf("signing in redirects to %s", to)
	}
	return b, b.get("/session").want(200).object().text("sub")
}

// refuses verifies that a person cannot sign in, and the reason.
func (o *office) refuses(why string) {
	o.t.Helper()
	b := o.browser()
	u, err := url.Parse(o.signIn(b))
	if err != nil || u.Path != "/login" || u.Query().Get("why") != why || u.Query().Get("next") != "/admin/x" {
		o.t.Errorf("signing in redirects to %s, want %q", u, why)
	}
	b.get("/session").refused(401)
}

// is sets the person that the provider reports.
func (o *office) is(sub, email string) {
	o.provider.Person = oidctest.Claims{"sub": sub, "email": email, "email_verified": true, "name": "Ann"}
}

func TestSigningInWithTheProviderCreatesAPerson(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	if app := o.admin.get("/app").want(200).object(); record(app["oidc"].(map[string]any)).text("label") != "Sign in with Example" || app["password_login"] != true {
		t.Errorf("the app settings are %v", app)
	}
	// An attendee in the same browser stays an attendee, with another session id.
	b := o.browser()
	lin := o.join(b, record{"name": "Lin", "join_code": o.meta().text("join_code")})
	before := b.cookie(auth.SessionCookie)
	o.is("1", "Ann@Example.org")
	if to := o.signIn(b); to != "/admin/x" {
		t.Fatalf("the sign-in redirects to %s", to)
	}
	if b.cookie(auth.SessionCookie) == before {
		t.Error("the session kept its id")
	}
	if s := b.get("/session").want(200).object(); s.text("rank") != "facilitator" {
		t.Errorf("the session is %v", s)
	}
	if s := b.get("/session?as=attendee&codelab_id=" + o.id).want(200).object(); s.text("sub") != lin.id {
		t.Errorf("as an attendee the session is %v", s)
	}
	b.post("/codelabs", record{"title": "Another"}).want(200)

	people := o.admin.get("/admin/people").want(200).list()
	if p := people[0]; len(people) != 1 || p.text("login") != "ann@example.org" || p.text("name") != "Ann" || p.text("sign_in") != "oidc" || p.text("state") != "active" {
		t.Errorf("the people are %v", people)
	}
	if text := string(o.admin.get("/admin/people").body); strings.Contains(text, o.provider.URL) {
		t.Error("the list contains the issuer")
	}
	// The provider manages the person's password, so the server refuses to change it.
	b.post("/account/password", record{"old": "x", "new": goodPassword}).refused(409)
	b.post("/logout", nil).want(204)
	b.get("/session").refused(401)
}

func TestPeopleAreIdentifiedByTheirSubjectNotTheirAddress(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	o.is("1", "ann@example.org")
	_, ann := o.comes()
	o.is("1", "ann.new@example.org")
	if _, again := o.comes(); again != ann {
		t.Error("a changed address created another person")
	}
	o.is("2", "ann@example.org")
	o.refuses("other_login")
	o.is("2", "ann.new@example.org")
	if _, other := o.comes(); other == ann {
		t.Error("another subject got the account")
	}
}

func TestInvalidSignInsAreRefused(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	o.is("1", "ann@elsewhere.test")
	o.refuses("not_allowed")
	o.is("1", "ann@example.org")
	o.provider.Person["email_verified"] = "true"
	o.refuses("unverified")
	o.is("1", "ann@example.org")
	o.provider.Lie = func(c oidctest.Claims) { c["aud"] = "somebody else" }
	o.refuses("invalid")
	o.provider.Lie = nil
	o.is("1", "a%b@example.org")
	o.refuses("no_login")

	// The login belongs to a person with a password.
	o.facilitator("fay@example.org")
	o.is("7", "fay@example.org")
	o.refuses("other_login")

	if o.admin.get("/admin/people").want(200).list(); len(o.admin.get("/admin/people").list()) != 1 {
		t.Error("a refused sign-in created a person")
	}
	o.eventually("the refusal is audited", func() bool {
		rows := string(o.admin.get("/admin/audit-logs?action=admin_login_failed").want(200).body)
		return strings.Contains(rows, "not_allowed") && !strings.Contains(rows, "ann@")
	})
	// A callback without a sign-in in progress leaves no audit record.
	o.browser().get("/login/oidc/callback?state=a&code=b").want(302)
	if rows := string(o.admin.get("/admin/audit-logs?action=admin_login_failed").want(200).body); strings.Contains(rows, "expired") {
		t.Error("a callback without a sign-in is audited")
	}
}

func TestOnlyTheOwnerLinksAPersonToTheProvider(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	fay := o.facilitator("fay@example.org")
	boss := o.facilitator("boss@example.org")
	boss.put("/admin/people/"+fay.id, record{"link": true}).refused(404)
	asa := o.assistant("asa@example.org")
	boss.put("/admin/people/"+asa.id, record{"link": true}).refused(403)
	// The sign-in that uses the permission to link is audited under the person's id.
	o.is("5", "una@example.org")
	_, una := o.comes()
	o.admin.put("/admin/people/"+una, record{"link": true}).want(200)
	o.comes()
	if rows := o.admin.get("/admin/audit-logs?limit=1&action=people_update").list(); len(rows) != 1 || rows[0].text("actor_id") != una {
		t.Errorf("the audit trail has %v", rows)
	}
	if p := o.admin.put("/admin/people/"+fay.id, record{"link": true}).want(200).object(); p["link"] != true {
		t.Errorf("the person is %v", p)
	}
	o.is("7", "fay@example.org")
	if _, id := o.comes(); id != fay.id {
		t.Error("the sign-in is for another person")
	}
	// The link invalidates the person's password, and the sessions that were opened with it.
	o.shutsOut(fay.browser, "/account", 401)
	open(t, o.addr).post("/login", record{"admin_id": "fay@example.org", "admin_pw": goodPassword}).refused(401)
	o.is("8", "fay@example.org")
	o.refuses("other_login")
}

func TestAnInvitedPersonIsLinked(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	id, token := invite(o.admin, record{"login": "asa@example.org", "name": "Asa", "role": "assistant", "codelabs": []string{o.id}})
	o.is("3", "asa@example.org")
	b, sub := o.comes()
	if s := b.get("/session").object(); sub != id || s.text("role") != "assistant" {
		t.Errorf("the session is %v", s)
	}
	open(t, o.addr).post("/invitations/look", record{"token": token}).refused(404)
	b.get(o.path + "/help").want(200)
}

func TestDisabledAndDeletedPeopleCannotSignIn(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	o.is("1", "ann@example.org")
	b, id := o.comes()
	o.admin.put("/admin/people/"+id, record{"disabled": true}).want(200)
	o.shutsOut(b, "/account", 401)
	o.refuses("disabled")
	o.is("1", "ann.new@example.org")
	o.refuses("disabled")
	o.admin.put("/admin/people/"+id, record{"disabled": false}).want(200)
	o.comes()
	o.admin.delete("/admin/people/" + id).want(204)
	o.refuses("deleted")
	o.is("1", "ann@example.org")
	o.refuses("deleted")
	// They stay refused until they are invited again.
	again, _ := invite(o.admin, record{"login": "ann@example.org", "name": "Ann", "role": "assistant"})
	if _, sub := o.comes(); sub != again {
		t.Error("the sign-in is for another person")
	}
}

func TestACallbackWorksOnceAndOnlyInItsBrowser(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	o.provider.AgainAndAgain = true
	b, other := o.browser(), o.browser()
	o.is("1", "ann@example.org")
	back := o.callback(b, "/admin/x")
	kept := ""
	for _, c := range b.http.Jar.Cookies(b.site().JoinPath("login/oidc/callback")) {
		if c.Name == auth.SignInCookie {
			kept = c.Value
		}
	}
	if to := leads(other.get(back)); !strings.HasPrefix(to, "/login?") || !strings.Contains(to, "why=expired") {
		t.Errorf("in another browser, the callback redirects to %s", to)
	}
	if to := leads(b.get(back)); to != "/admin/x" {
		t.Fatalf("the callback redirects to %s", to)
	}
	thief := o.browser()
	thief.setCookieAt("/api/login/oidc", auth.SignInCookie, kept)
	if to := leads(thief.get(back)); !strings.Contains(to, "why=expired") {
		t.Errorf("the second callback redirects to %s", to)
	}
	long := "/x?" + strings.Repeat("&", 250)
	if got := leads(b.get(o.callback(b, long))); got != long {
		t.Errorf("a long path redirects to %s", got)
	}
	for _, to := range []string{"//evil.test", `/\evil.test`, "https://evil.test/", "/\t/evil.test", ""} {
		if got := leads(b.get(o.callback(b, to))); got != "/admin" {
			t.Errorf("with to=%q, the callback redirects to %s, want /admin", to, got)
		}
	}
	if to := leads(b.get("/login/oidc/callback?error=%3Cscript%3E&state=x")); strings.Contains(to, "script") {
		t.Errorf("an error redirects to %s", to)
	}
}

// One visitor keeps sending codes that the provider never issued, on 24 connections. Others can
// still sign in.
func TestOneVisitorCannotBlockTheSignInsOfOthers(t *testing.T) {
	t.Parallel()
	o := newOffice(t, func(c *config.Config) { c.Server.TrustedProxies = []string{"127.0.0.1/32", "::1/128"} })
	slow := make(chan struct{}) // until it is closed, the provider does not answer a request with a made-up code
	o.provider.Serve("/token", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("code") == "made up" {
			<-slow
		}
		o.provider.Genuine(w, r)
	})
	var visitor sync.WaitGroup
	for range 24 {
		b := o.browser()
		b.from = "203.0.113.9"
		back, err := url.Parse(o.callback(b, "/admin/x"))
		if err != nil {
			t.Fatal(err)
		}
		query := back.Query()
		query.Set("code", "made up")
		visitor.Go(func() {
			for range 5 {
				b.get(back.Path + "?" + query.Encode())
			}
		})
	}
	for i := range 12 {
		b := o.browser()
		b.from = fmt.Sprint("198.51.100.", i)
		if to := o.signIn(b); to != "/admin/x" {
			t.Errorf("the sign-in of another person redirects to %s", to)
		}
	}
	close(slow)
	visitor.Wait()
	// After too many made-up codes, even a valid sign-in from that address is refused.
	o.provider.Serve("/token", nil)
	b := o.browser()
	b.from = "203.0.113.9"
	for range 25 {
		if to := o.signIn(b); strings.Contains(to, "why=busy") {
			return
		}
		back := o.callback(b, "/admin/x")
		b.get(strings.Replace(back, "code=", "code=made-up-", 1))
	}
	t.Error("made-up codes from one address are not limited")
}

func TestTwoCallbacksOfOneNewPersonCreateOnePerson(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	o.is("1", "ann@example.org")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { o.signIn(o.browser()) })
	}
	all.Wait()
	if n := len(o.admin.get("/admin/people").want(200).list()); n != 1 {
		t.Errorf("there are %d people, want 1", n)
	}
}

func TestTheServerWorksWhileTheProviderIsUnreachable(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	o.provider.Away.Store(true)
	if to := leads(o.browser().get("/login/oidc?to=/admin/x")); to != "/login?next=%2Fadmin%2Fx&why=away" {
		t.Errorf("the sign-in redirects to %s", to)
	}
	o.admin.get("/codelabs").want(200)
}

func TestOnlyTheOwnerHasAPassword(t *testing.T) {
	t.Parallel()
	o := newOffice(t, func(c *config.Config) { c.Login.Password = false })
	_, token := invite(o.admin, record{"login": "asa@example.org", "name": "Asa", "role": "facilitator"})
	open(t, o.addr).post("/invitations/accept", record{"token": token, "password": goodPassword}).refused(403)
	o.helper().get(o.path + "/help").want(200)
	o.is("3", "asa@example.org")
	b, _ := o.comes()
	b.get("/account").want(200)
	if app := o.admin.get("/app").object(); app["password_login"] != false {
		t.Errorf("the app settings are %v", app)
	}
}

func TestAnEarlierPasswordIsRejected(t *testing.T) {
	t.Parallel()
	onOneServer(t)
	cfg := testConfig(t)
	srv := startUntilStopped(t, cfg)
	c := newClassOn(t, srv.Addr(), record{})
	c.facilitator("fay@example.org")
	if err := srv.Stop(); err != nil {
		t.Fatal(err)
	}
	p := oidctest.New(t)
	cfg.Server.PublicURL, cfg.Login.Issuer, cfg.Login.ClientID, cfg.Login.Password = publicURL, p.URL, oidctest.ClientID, false
	addr := startServer(t, cfg).Addr()
	open(t, addr).post("/login", record{"admin_id": "fay@example.org", "admin_pw": goodPassword}).refused(401)
	open(t, addr).post("/login", record{"admin_id": "fay@example.org", "admin_pw": "another"}).refused(401)
	open(t, addr).post("/login", record{"admin_id": adminID, "admin_pw": adminPW}).want(200)
}

func TestWithoutAProviderThereIsNoProviderSignIn(t *testing.T) {
	t.Parallel()
	c := newClass(t)
	c.admin.get("/login/oidc").refused(404)
	c.admin.get("/login/oidc/callback?state=a&code=b").refused(404)
	if app := c.admin.get("/app").object(); app["oidc"] != nil {
		t.Errorf("the app settings are %v", app)
	}
}

func TestNoSecretOfTheProviderIsReturnedOrLogged(t *testing.T) {
	t.Parallel()
	o := newOffice(t, nil)
	o.is("1", "ann@example.org")
	o.comes()
	b := o.browser()
	back, err := url.Parse(o.callback(b, "/admin/x"))
	if err != nil {
		t.Fatal(err)
	}
	q := back.Query()
	q.Set("code", "canary-of-a-code")
	if to := leads(b.get(back.Path + "?" + q.Encode())); !strings.Contains(to, "why=invalid") {
		t.Errorf("a wrong code redirects to %s", to)
	}
	places := map[string]string{"the log": suiteLog.String()}
	for _, path := range []string{"/app", "/admin/people", "/admin/audit-logs", "/admin/settings"} {
		places[path] = string(o.admin.get(path).body)
	}
	for where, text := range places {
		for _, secret := range []string{oidctest.ClientSecret, url.QueryEscape(oidctest.ClientSecret), "canary-of-a-code"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s contains %q", where, secret)
			}
		}
	}
}
