package acceptance

import (
	"net/http"
	"strings"
	"testing"
)

// cookies returns the lines that set a cookie, by cookie name.
func cookies(a answer) map[string]string {
	out := map[string]string{}
	for _, line := range a.header.Values("Set-Cookie") {
		name, _, _ := strings.Cut(line, "=")
		out[name] = line
	}
	return out
}

// Browsers send a cookie from a frame of another site only if the cookie allows it. Such a cookie
// belongs to an attendee. Facilitators can neither sign in nor act as facilitators in a frame.
func TestASessionInAFrameIsAnAttendees(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Web.FrameAncestors = []string{"https://learn.example.org"}
	c := newClassOn(t, startServer(t, cfg).Addr(), record{})
	framed := header("X-Framed", "1")

	plain := open(t, c.addr).post(c.path+"/register", record{"name": "Top"})
	within := open(t, c.addr).post(c.path+"/register", record{"name": "Framed"}, framed)
	for _, name := range []string{"svc_session", "svc_csrf"} {
		if got := cookies(plain)[name]; !strings.Contains(got, "SameSite=Lax") || strings.Contains(got, "Partitioned") {
			t.Errorf("the cookie of a top-level page has the attributes %s", strings.Split(got, ";")[1:])
		}
		got := cookies(within)[name]
		for _, part := range []string{"; SameSite=None", "; secure", "; Partitioned", "; path=/"} {
			if !strings.Contains(strings.ToLower(got), strings.ToLower(part)) {
				t.Errorf("the cookie %s in a frame lacks %q: %s", name, part, strings.Split(got, ";")[1:])
			}
		}
	}

	// A facilitator has no session in a frame, whatever cookie the browser sends.
	c.admin.get("/session").want(200)
	for path, want := range map[string]int{"/session": 401, c.path + "/attendees": 401, "/admin/settings": 401, c.path + "?framed=1": 200} {
		c.admin.send("GET", path, nil, framed).want(want)
	}
	if got := c.admin.send("GET", c.path, nil, framed); strings.Contains(string(got.body), "join_code\":\"") {
		t.Errorf("a frame received the join code: %s", got.body)
	}
	c.admin.send("GET", "/session?framed=1", nil).want(401)
	for _, path := range []string{"/login", "/invitations/look", "/invitations/accept"} {
		body := record{"admin_id": adminID, "admin_pw": adminPW, "token": "x"}
		open(t, c.addr).send("POST", path, body, framed).want(403)
	}
	for _, path := range []string{"/login/oidc", "/login/oidc/callback"} {
		open(t, c.addr).send("GET", path, nil, framed).want(403)
		open(t, c.addr).send("GET", path, nil, header("Sec-Fetch-Dest", "iframe")).want(403)
	}

	// A facilitator joins in a frame as an attendee, with a separate session. The browser then
	// sends both sessions, and each page uses its own.
	joined := c.admin.send("POST", c.path+"/register", record{"name": "Also Here"}, framed)
	joined.want(200)
	both := func(first, second string) option {
		return func(r *http.Request) { r.Header.Set("Cookie", "svc_session="+first+"; svc_session="+second) }
	}
	value := func(line string) string {
		v, _, _ := strings.Cut(strings.TrimPrefix(line, "svc_session="), ";")
		return v
	}
	lead := facilitator(t, c.addr, "")
	own, frames := lead.cookie("svc_session"), value(cookies(joined)["svc_session"])
	for _, order := range []option{both(own, frames), both(frames, own)} {
		if got := open(t, c.addr).get("/session", order).object(); got.text("role") != "admin" {
			t.Errorf("a top-level page has the session %v", got)
		}
		if got := open(t, c.addr).get("/session", order, framed).object(); got.text("role") != "attendee" {
			t.Errorf("a page in a frame has the session %v", got)
		}
	}
	if got := open(t, c.addr).get("/session", both("rubbish", own)).object(); got.text("role") != "admin" {
		t.Errorf("after an invalid cookie, the session is %v", got)
	}

	// Without the configuration key, frames get no cookie.
	strict := newClass(t)
	got := open(t, strict.addr).post(strict.path+"/register", record{"name": "Framed"}, framed)
	if line := cookies(got)["svc_session"]; strings.Contains(line, "Partitioned") || !strings.Contains(line, "SameSite=Lax") {
		t.Errorf("without configured frames, the cookie is %s", strings.Split(line, ";")[1:])
	}
}

// below returns a browser of a server behind a path.
func below(t *testing.T, addr, prefix string) *browser {
	b := open(t, addr)
	b.base += prefix
	return b
}

// A proxy forwards requests below a path, with or without the path prefix.
func TestTheServerWorksBelowAPathPrefix(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Server.PublicURL = "https://workshops.example.org/lab/"
	addr := startServer(t, cfg).Addr()
	admin := below(t, addr, "/lab")
	login := admin.post("/login", record{"admin_id": adminID, "admin_pw": adminPW})
	login.want(200)
	set := cookies(login)
	for name, path := range map[string]string{"svc_session": "path=/lab", "svc_csrf": "path=/lab", "svc_device": "path=/lab/api"} {
		if !strings.Contains(set[name]+";", "; "+path+";") {
			t.Errorf("the cookie %s lacks %s", name, path)
		}
	}
	// The tests use http, where a browser would not send a secure cookie.
	shown := func(r *http.Request) {
		r.Header.Set("Cookie", strings.Split(set["svc_session"], ";")[0]+"; "+strings.Split(set["svc_csrf"], ";")[0])
		r.Header.Set("X-CSRF-Token", strings.TrimPrefix(strings.Split(set["svc_csrf"], ";")[0], "svc_csrf="))
	}
	lab := admin.post("/codelabs", record{"title": "Below", "is_public": true}, shown).object()
	for _, base := range []string{"", "/lab"} {
		b := below(t, addr, base)
		b.get("/codelabs/" + lab.text("id")).want(200)
		b.send("GET", "/lab/codelabs", nil).want(404)
		for path, status := range map[string]int{
			"/": 200, "": 200, "/codelabs/x": 200, "/nothing": 404, "/.well-known/commerce": 200, "/handler": 200, "/admin": 200, "/lab/": 404, "x/": 404,
			"/git/" + lab.text("id") + "/info/refs?service=git-upload-pack": 401,
		} {
			if base == "" && (path == "" || path == "/lab/" || path == "x/") {
				continue
			}
			req, err := http.NewRequest("GET", b.base+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := exchange(t, req); got.status != status {
				t.Errorf("%s%s: status %d, want %d", base, path, got.status, status)
			}
		}
	}
	ws, res := admin.dial("/ws/"+lab.text("id")+"?as=admin", shown, header("Origin", "https://workshops.example.org"))
	if ws == nil {
		t.Fatalf("no socket below the path, status %d", res.StatusCode)
	}
	ws, res = admin.dial("/ws/"+lab.text("id")+"?as=admin&framed=1", shown)
	if ws != nil || res.StatusCode != 403 && res.StatusCode != 401 {
		t.Error("a facilitator can open a socket in a frame")
	}
	// A request with "Expect: 100-continue" gets one response, and the path prefix is removed
	// once.
	admin.post("/codelabs", record{"title": "Asked first"}, shown, header("Expect", "100-continue")).want(200)
	out := admin.post("/logout", nil, shown)
	if out.want(204); out.header.Get("Clear-Site-Data") != "" {
		t.Error("the logout clears storage that belongs to the whole host")
	}
	document := below(t, addr, "/lab").get("/openapi.json")
	if !strings.Contains(string(document.body), `"url":"/lab/api"`) {
		t.Error("the document contains another path")
	}
}
