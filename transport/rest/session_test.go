package rest

import (
	"fmt"
	"log/slog"
	"maps"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/audit"
	"atelier/actors/clock"
	"atelier/actors/codelab"
	"atelier/actors/durable"
	"atelier/actors/login"
	"atelier/actors/people"
	"atelier/persistence/memory"
	"atelier/transport/auth"
	"atelier/transport/httpapi"
)

// nowhere is a codelab.Directory without codelabs.
type nowhere struct{ codelab.Directory }

func (nowhere) ReleaseClaims(func(person, codelab string) bool) error { return nil }

// entrance is an API for logging in and out, with its own clock.
type entrance struct {
	*API
	t     *testing.T
	clock time.Time
	desk  *durable.Handle[people.Command, *people.Event, people.View]
}

func newEntrance(t *testing.T, change func(*Config)) *entrance {
	t.Helper()
	e := &entrance{t: t, clock: time.Now()}
	now := func() time.Time { return e.clock }
	journal := memory.New()
	trail := audit.New(journal, clock.System, time.Hour)
	host, err := durable.NewHost(durable.NewSystem(), journal, people.Kind(trail, "admin"), durable.Options{IdleAfter: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = host.Close(t.Context())
		_ = journal.Close()
	})
	if e.desk, err = host.Get(people.ID); err != nil {
		t.Fatal(err)
	}
	sessions, err := login.Load(journal, nil, now)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{
		AdminID: "admin", Codelabs: nowhere{}, Audit: trail, People: host, Passwords: auth.NewPasswordComputer(), Now: now, Logger: slog.New(slog.DiscardHandler),
		Auth: auth.New(auth.Config{
			AdminID: "admin", AdminPassword: "password", AdminLifetime: 8 * time.Hour, AttendeeLifetime: 12 * time.Hour,
			Signer: auth.NewSigner("secret", nil, now), Sessions: sessions, Now: now,
			People:   func() (*people.View, error) { return e.desk.View(), nil },
			Failures: auth.NewFailures(httpapi.Rate{Burst: 2, Per: time.Minute}, now),
		}),
	}
	if change != nil {
		change(&cfg)
	}
	e.API = &API{Config: cfg}
	return e
}

// person returns a facilitator with a login and a password.
func (e *entrance) person(login, password string) *people.Person {
	e.t.Helper()
	hash, err := e.Passwords.Hash(password, true)
	if err != nil {
		e.t.Fatal(err)
	}
	token := []byte("invitation of " + login)
	e.ask(people.Invite{Login: login, Name: "Ann", Role: people.Facilitator, Token: token})
	return e.ask(people.Accept{Token: token, Password: hash})
}

func (e *entrance) ask(b people.Body) *people.Person {
	e.t.Helper()
	v, _, err := e.desk.Ask(people.Command{Caller: people.Caller{Type: "admin", ID: "admin", Owner: true}, Body: b})
	if err != nil {
		e.t.Fatal(err)
	}
	p, _ := v.(*people.Person)
	return p
}

// browser keeps cookies and has an address.
type browser struct {
	*entrance
	address string
	uri     string // of the next request
	cookies map[string]*fasthttp.Cookie
	answer  *fasthttp.Response
}

func (e *entrance) browser(address string) *browser {
	return &browser{e, address, "/", map[string]*fasthttp.Cookie{}, nil}
}

// ask runs an operation and returns the status of its response.
func (b *browser) ask(op func(*Request) error, body string, headers ...string) int {
	b.t.Helper()
	ctx := &fasthttp.RequestCtx{}
	ctx.Init2(&net.TCPConn{}, slog.NewLogLogger(slog.DiscardHandler, 0), false)
	ctx.SetRemoteAddr(&net.TCPAddr{IP: net.ParseIP(b.address)})
	ctx.Request.SetRequestURI(b.uri)
	ctx.Request.Header.SetContentType("application/json")
	ctx.Request.Header.SetUserAgent("a browser")
	for i := 0; i < len(headers); i += 2 {
		ctx.Request.Header.Set(headers[i], headers[i+1])
	}
	for name, c := range b.cookies {
		ctx.Request.Header.SetCookie(name, string(c.Value()))
	}
	ctx.Request.SetBodyStream(strings.NewReader(body), len(body))
	who, _, err := b.Auth.Identify(ctx.Request.Header.Cookie(auth.SessionCookie), "")
	if err != nil {
		b.t.Fatal(err)
	}
	err = op(&Request{Exchange: httpapi.Alone(ctx, httpapi.Endpoint{Body: maxJSON}), api: b.API, op: &Operation{}, who: who})
	b.answer = &ctx.Response
	if err != nil {
		return problemOf(err).Status
	}
	for _, line := range ctx.Response.Header.Cookies() {
		c := &fasthttp.Cookie{}
		if err := c.ParseBytes(line); err != nil {
			b.t.Fatal(err)
		}
		if b.cookies[string(c.Key())] = c; c.Expire().Before(b.clock) {
			delete(b.cookies, string(c.Key()))
		}
	}
	return ctx.Response.StatusCode()
}

func (b *browser) logIn(id, password string, headers ...string) int {
	b.t.Helper()
	return b.ask(logIn, fmt.Sprintf(`{"admin_id":%q,"admin_pw":%q}`, id, password), headers...)
}

// recorded returns the entries of the audit trail about logins, oldest first.
func (e *entrance) recorded() (out []string) {
	all, err := e.Audit.Find(audit.Query{Limit: 100})
	if err != nil {
		e.t.Fatal(err)
	}
	for _, r := range all {
		if strings.HasPrefix(r.Action, "admin_login") {
			out = append([]string{strings.TrimSpace(fmt.Sprint(r.Action, " ", r.ActorType, " ", r.ActorId, " ", r.Ip, " ", r.UserAgent))}, out...)
		}
	}
	return out
}

// The owner and other people log in only with their own passwords, and not while they are disabled.
// Every attempt with a password is in the audit trail.
func TestPasswordLogins(t *testing.T) {
	disabled := true
	for name, tc := range map[string]struct {
		id, password string
		change       func(e *entrance, ann *people.Person)
		status       int
	}{
		"the owner":                           {"admin", "password", nil, 200},
		"the owner with a wrong password":     {"admin", "Password", nil, 401},
		"a facilitator":                       {"ann", "the password of ann", nil, 200},
		"a login in capitals":                 {"ANN", "the password of ann", nil, 200},
		"a facilitator with a wrong password": {"ann", "password", nil, 401},
		"an unknown login":                    {"bob", "the password of ann", nil, 401},
		"no password":                         {"ann", "", nil, 400},
		"no login":                            {"", "password", nil, 400},
		"a disabled person":                   {"ann", "the password of ann", func(e *entrance, ann *people.Person) { e.ask(people.Update{ID: ann.Id, Disabled: &disabled}) }, 401},
		"a person invited again":              {"ann", "the password of ann", func(e *entrance, ann *people.Person) { e.ask(people.InviteAgain{ID: ann.Id, Token: []byte("next")}) }, 401},
		"a facilitator besides a provider":    {"ann", "the password of ann", func(e *entrance, _ *people.Person) { e.OwnerPassword = true }, 401},
		"the owner besides a provider":        {"admin", "password", func(e *entrance, _ *people.Person) { e.OwnerPassword = true }, 200},
	} {
		e := newEntrance(t, nil)
		ann := e.person("ann", "the password of ann")
		if tc.change != nil {
			tc.change(e, ann)
		}
		b := e.browser("192.0.2.1")
		if status := b.logIn(tc.id, tc.password); status != tc.status {
			t.Errorf("%s: the login returned %d", name, status)
		}
		want := map[int]string{400: "", 401: "[admin_login_failed anonymous  192.0.2.1 a browser]", 200: "[admin_login_success admin " + tc.id + " 192.0.2.1 a browser]"}[tc.status]
		if strings.EqualFold(tc.id, "ann") {
			want = strings.Replace(want, tc.id, ann.Id, 1)
		}
		if got := fmt.Sprint(e.recorded()); got != want && (want != "" || got != "[]") {
			t.Errorf("%s: the audit record is %s, want %s", name, got, want)
		}
		if in := b.cookies[auth.SessionCookie] != nil; in != (tc.status == 200) {
			t.Errorf("%s: logged in is %v", name, in)
		}
	}
}

// Scripts of a page cannot read the session cookie, browsers do not send it from other sites, and
// it ends with the login. With a prefix, browsers do not send the cookie to other servers of the
// same host.
func TestTheCookiesOfALogin(t *testing.T) {
	for _, tc := range []struct {
		name, url     string
		path, apiPath string
	}{
		{"at a root", "", "/", "/api"}, {"below a prefix", "https://host.test/lab", "/lab", "/lab/api"},
	} {
		e := newEntrance(t, func(c *Config) { c.SecureCookies, c.Origins.PublicURL = tc.url != "", tc.url })
		b := e.browser("192.0.2.1")
		if status := b.logIn("admin", "password"); status != 200 {
			t.Fatalf("the login returned %d, want 200", status)
		}
		for cookie, want := range map[string]string{
			auth.SessionCookie: fmt.Sprint(true, tc.path, 8*time.Hour, fasthttp.CookieSameSiteLaxMode),
			auth.CSRFCookie:    fmt.Sprint(false, tc.path, 8*time.Hour, fasthttp.CookieSameSiteLaxMode),
			auth.DeviceCookie:  fmt.Sprint(true, tc.apiPath, auth.DeviceLifetime, fasthttp.CookieSameSiteStrictMode),
		} {
			c := b.cookies[cookie]
			if c == nil {
				t.Errorf("%s: the cookie %s is missing", tc.name, cookie)
				continue
			}
			got := fmt.Sprint(c.HTTPOnly(), string(c.Path()), c.Expire().Sub(e.clock).Round(time.Minute), c.SameSite())
			if got != want || c.Secure() != (tc.url != "") {
				t.Errorf("%s: %s is %s, secure %v, want %s", tc.name, cookie, got, c.Secure(), want)
			}
		}
		if got := string(b.answer.Header.Peek(auth.CSRFHeader)); got != string(b.cookies[auth.CSRFCookie].Value()) {
			t.Errorf("%s: the CSRF header is %q, not the cookie's value", tc.name, got)
		}
	}
}

// Failed logins from a network delay later ones, even with the right password. A browser in which
// the owner has logged in is not delayed. A person's known browser is not delayed for that person's
// own login. It is delayed for other people's logins, because the person could try to guess their
// passwords.
func TestFailedLoginsDelayLaterOnes(t *testing.T) {
	e := newEntrance(t, nil)
	e.person("ann", "the password of ann")
	known, stranger := e.browser("192.0.2.1"), e.browser("192.0.2.1")
	if status := known.logIn("ann", "the password of ann"); status != 200 {
		t.Fatalf("the login returned %d, want 200", status)
	}
	delete(known.cookies, auth.SessionCookie)
	for _, id := range []string{"ann", "admin"} {
		for range 2 {
			if status := stranger.logIn(id, "a guess"); status != 401 {
				t.Errorf("a login with a wrong password returned %d, want 401", status)
			}
		}
		if status := stranger.logIn(id, map[string]string{"ann": "the password of ann", "admin": "password"}[id]); status != 429 {
			t.Errorf("a login with the right password after two wrong ones returned %d, want 429", status)
		}
	}
	if status := e.browser("198.51.100.1").logIn("admin", "password"); status != 200 {
		t.Errorf("a login from another network returned %d, want 200", status)
	}
	if status := known.logIn("admin", "password"); status != 429 {
		t.Errorf("another person's login in a known browser returned %d, want 429", status)
	}
	if status := known.logIn("ann", "the password of ann"); status != 200 {
		t.Errorf("a person's own login in a known browser returned %d, want 200", status)
	}
	e.clock = e.clock.Add(time.Minute)
	if status := stranger.logIn("admin", "password"); status != 200 {
		t.Errorf("a login a minute later returned %d, want 200", status)
	}
	device := string(stranger.cookies[auth.DeviceCookie].Value())
	delete(stranger.cookies, auth.SessionCookie)
	if status := stranger.logIn("ann", "the password of ann"); status != 200 || e.Auth.Signer.DeviceID(string(stranger.cookies[auth.DeviceCookie].Value())) != e.Auth.Signer.DeviceID(device) {
		t.Errorf("a login in the owner's browser returned %d or changed its device id", status)
	}
}

// A logout ends the session in the browser and for copies of its cookies. A logout triggered by
// another site has no effect.
func TestALogoutEndsTheSession(t *testing.T) {
	e := newEntrance(t, nil)
	b := e.browser("192.0.2.1")
	if status := b.ask(logOut, ""); status != 204 {
		t.Errorf("a logout without a session returned %d, want 204", status)
	}
	if status := b.logIn("admin", "password"); status != 200 {
		t.Fatalf("the login returned %d, want 200", status)
	}
	copied := e.browser("192.0.2.2")
	copied.cookies = maps.Clone(b.cookies)
	if status := b.ask(logOut, "", "Origin", "https://evil.test"); status != 403 {
		t.Errorf("a logout by another site returned %d, want 403", status)
	}
	if status := b.ask(getSession, ""); status != 200 {
		t.Errorf("after a logout by another site, GET of the session returned %d, want 200", status)
	}
	if status := b.ask(logOut, ""); status != 204 || b.cookies[auth.SessionCookie] != nil || b.cookies[auth.CSRFCookie] != nil || string(b.answer.Header.Peek("Clear-Site-Data")) != `"storage"` {
		t.Errorf("the logout returned %d and left the cookies %v", status, b.cookies)
	}
	if status := copied.ask(getSession, ""); status != 401 {
		t.Errorf("GET of the session with copied cookies returned %d, want 401", status)
	}
}

// An attendee can leave one codelab. A facilitator's login in the same browser stays.
func TestLeavingACodelabKeepsTheLogin(t *testing.T) {
	e := newEntrance(t, nil)
	issued, err := e.Auth.GrantAttendee(auth.Identity{}, "lab", "lin", "Lin", 0)
	if err != nil {
		t.Fatal(err)
	}
	b := e.browser("192.0.2.1")
	c := &fasthttp.Cookie{}
	c.SetValue(issued.Cookie)
	b.cookies[auth.SessionCookie] = c
	if status := b.logIn("admin", "password"); status != 200 {
		t.Fatalf("the login returned %d, want 200", status)
	}
	for _, lab := range []string{"other", "lab"} {
		if status := b.ask(logOut, fmt.Sprintf(`{"codelab_id":%q}`, lab)); status != 204 {
			t.Errorf("leaving %s returned %d, want 204", lab, status)
		}
		who, _, err := e.Auth.Identify(b.cookies[auth.SessionCookie].Value(), "")
		in := false
		who.Grants(func(g *login.AttendeeGrant) { in = in || g.AttendeeID == "lin" })
		if err != nil || !who.Admin() || in != (lab == "other") {
			t.Errorf("after leaving %s: rank %v, still in the codelab: %v (%v)", lab, who.Rank(), in, err)
		}
	}
}
