package rest

import (
	"fmt"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/audit"
	"atelier/actors/codelab"
	"atelier/actors/people"
	"atelier/transport/auth"
	"atelier/transport/httpapi"
	"atelier/transport/wire"
)

type loginBody struct {
	ID          *string `json:"admin_id" length:"1.."`
	Password    *string `json:"admin_pw" length:"1.."`
	DisplayName string  `json:"display_name,omitempty" length:"..80" doc:"The name that others see, to distinguish several facilitators. One line, trimmed."`
}

func logIn(r *Request) error {
	var in loginBody
	if err := r.decode(&in); err != nil {
		return err
	}
	if in.ID == nil || *in.ID == "" {
		return wire.Invalid("admin_id is required")
	}
	if in.Password == nil || *in.Password == "" {
		return wire.Invalid("admin_pw is required")
	}
	name, err := codelab.PersonName("display_name", in.DisplayName, 0, 80)
	if err != nil {
		return err
	}
	a := r.api
	device, err := r.deviceFor(*in.ID)
	if err != nil {
		return err
	}
	attempt := a.Auth.Failures.Attempt(&r.who, device, r.ip(), *in.ID)
	if wait := attempt.Charge(); wait > 0 {
		return httpapi.ErrTooMany(wait)
	}
	who, right, err := r.proves(*in.ID, *in.Password, device != "")
	if right || err != nil {
		attempt.Right()
	}
	if err != nil {
		return err
	}
	if !right {
		time.Sleep(attempt.Delay())
		if r.api.LoginFailed != nil {
			r.api.LoginFailed()
		}
		if err := r.audit("admin_login_failed", "anonymous", "", nil); err != nil {
			return err
		}
		return &httpapi.Error{Status: fasthttp.StatusUnauthorized, Text: "admin_id or admin_pw is wrong"}
	}
	return r.loggedIn(auth.Login{Person: who, Name: name})
}

// proves reports whether pw is the login's password. It returns the person, or nil for the owner.
// Checking an unknown login takes the same time as checking a known one, so that the time reveals
// nothing.
func (r *Request) proves(login, pw string, known bool) (*people.Person, bool, error) {
	a := r.api
	if login == a.AdminID {
		return nil, a.Auth.CheckPassword(login, pw), nil
	}
	if a.OwnerPassword { // refused without a check, so that nobody can find out whether an old password was right
		return nil, false, nil
	}
	h, err := a.People.Get(people.ID)
	if err != nil {
		return nil, false, err
	}
	p := h.View().ByLogin(login)
	hash := ""
	if p != nil && people.State(p, a.Now()) == people.Active {
		hash = p.Password
	}
	right, err := a.Passwords.Matches(pw, hash, known)
	return p, right, err
}

// known marks the browser after the login of a facilitator, an assistant or the owner. person is
// that person's id, or "" for the owner. The owner's mark stays even if others sign in later.
func (r *Request) known(person string) error {
	device := r.device()
	marked := device != "" && !strings.HasPrefix(device, personDevice)
	switch {
	case marked:
	case person != "":
		device = personDevice + person
	default:
		device = auth.Random(16)
	}
	value, expires, err := r.api.Auth.Signer.Device(device)
	if err != nil {
		return err
	}
	c := r.cookie(auth.DeviceCookie, value, expires)
	defer fasthttp.ReleaseCookie(c)
	c.SetPath(r.prefix().At("/api"))
	c.SetHTTPOnly(true)
	c.SetSameSite(fasthttp.CookieSameSiteStrictMode)
	r.Response.Header.SetCookie(c)
	return nil
}

// audit records an action outside codelabs.
func (r *Request) audit(action, kind, actor string, about map[string]string) error {
	ua := r.Request.Header.UserAgent()
	err := r.api.Audit.Record(&audit.Record{
		Action: action, ActorType: kind, ActorId: actor, Ip: r.ip(), UserAgent: string(ua), Metadata: about,
		CreatedAt: r.api.Now().UnixMilli(),
	})
	if err != nil {
		return fmt.Errorf("audit %s: %w", action, err)
	}
	return nil
}

// started sets the cookies of a new session.
func (r *Request) started(i auth.Issued) {
	r.setCookie(auth.SessionCookie, i.Cookie, i.Expires, true)
	r.setCookie(auth.CSRFCookie, i.CSRF, i.Expires, false)
	r.sendCSRF(i.CSRF)
}

// sendCSRF sends the value of the CSRF cookie in a header. Pages of other allowed origins need the
// header, because they cannot read our cookies. Browsers hide the header from all other origins.
func (r *Request) sendCSRF(value string) { r.Response.Header.Set(auth.CSRFHeader, value) }

func (r *Request) setCookie(name, value string, expires time.Time, hidden bool) {
	c := r.cookie(name, value, expires)
	defer fasthttp.ReleaseCookie(c)
	c.SetHTTPOnly(hidden)
	if r.api.Framing && r.Framed() {
		// The browser partitions the cookie by the embedding site (CHIPS).
		c.SetSameSite(fasthttp.CookieSameSiteNoneMode)
		c.SetPartitioned(true) // implies secure
	} else {
		c.SetSameSite(fasthttp.CookieSameSiteLaxMode)
	}
	c.SetPath(r.prefix().Root()) // must be last: SetPartitioned changes the path
	r.Response.Header.SetCookie(c)
}

func (r *Request) cookie(name, value string, expires time.Time) *fasthttp.Cookie {
	c := fasthttp.AcquireCookie()
	c.SetKey(name)
	c.SetValue(value)
	c.SetExpire(expires)
	c.SetSecure(r.api.SecureCookies)
	return c
}

// prefix returns the path at which browsers reach the server.
func (r *Request) prefix() httpapi.Prefix { return r.api.Origins.Prefix() }

// framedAnyhow reports whether the app or the browser indicates that a request comes from a frame.
func (r *Request) framedAnyhow() bool {
	dest := string(r.Request.Header.Peek("Sec-Fetch-Dest"))
	return r.Framed() || dest == "iframe" || dest == "frame" || dest == "embed" || dest == "object"
}

type sessionRecord struct {
	Sub       string   `json:"sub" doc:"The admin id, the id of a facilitator or assistant, or the attendee's id."`
	Role      string   `json:"role" enum:"admin|assistant|attendee"`
	Rank      string   `json:"rank,omitempty" enum:"owner|facilitator|assistant" doc:"Only for facilitators and assistants. An API token has the role of a facilitator."`
	Name      string   `json:"name,omitempty" doc:"The name that others see of a facilitator or assistant."`
	Codelabs  []string `json:"codelabs,omitempty" is:"Id" doc:"The codelabs of an assistant. Omitted for everybody else."`
	CodelabID *string  `json:"codelab_id" is:"Id" doc:"The attendee's codelab; null for an admin."`
	Exp       int64    `json:"exp" doc:"The end of the grant, in Unix seconds. 0 for an API token, which ends when it is revoked."`
}

func getSession(r *Request) error {
	lab := r.Query("codelab_id")
	if r.api.Current != nil { // another node may just have created or ended the session
		if err := r.current(true); err != nil {
			return err
		}
		if _, err := r.identify(); err != nil {
			return err
		}
	}
	g, ok, err := r.who.Strongest(r.api.AdminID, lab, r.Query("as") != "attendee", r.registered)
	if err != nil {
		return err
	}
	if !ok {
		return errLogin
	}
	// The CSRF cookie is set again if it is missing or belongs to another session.
	if token := r.who.CSRF(); token != "" {
		r.sendCSRF(token)
		if !r.showsCSRF([]byte(token)) {
			r.setCookie(auth.CSRFCookie, token, time.Unix(g.Expires, 0), false)
		}
	}
	if id := r.who.PersonID(); id != "" {
		r.seen(id)
	}
	name := ""
	if g.Role != "attendee" {
		name = r.who.AdminName()
	}
	return r.JSON(sessionRecord{g.Sub, g.Role, g.Rank.String(), name, g.Codelabs, wire.OrNull(g.CodelabID), g.Expires})
}

type logoutBody struct {
	CodelabID string `json:"codelab_id,omitempty" doc:"End only the grant for this codelab. Empty ends the whole session."`
}

// logOut ends the caller's session. With a codelab it ends only the attendee's grant in that
// codelab.
func logOut(r *Request) error {
	if !r.api.Origins.Own(r.RequestCtx) { // other origins must not clear the browser's data
		return errOrigin
	}
	var in logoutBody
	if err := r.decodeOptional(&in); err != nil {
		return err
	}
	if r.who.SessionID == "" {
		return r.NoContent()
	}
	if in.CodelabID != "" {
		if err := r.api.Auth.Leave(&r.who, in.CodelabID); err != nil {
			return err
		}
		return r.NoContent()
	}
	if err := r.api.Auth.End(&r.who); err != nil {
		return err
	}
	past := time.Unix(1, 0)
	r.setCookie(auth.SessionCookie, "", past, true)
	r.setCookie(auth.CSRFCookie, "", past, false)
	if r.prefix() == "" { // with a prefix, other applications share the origin's storage, which must stay
		r.Response.Header.Set("Clear-Site-Data", `"storage"`)
	}
	return r.NoContent()
}
