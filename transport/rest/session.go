package rest

import (
	"fmt"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/catalog/catalogpb"
	"atelier/transport/auth"
	"atelier/transport/wire"
)

// slowLogin is what each failed login of an address and account adds to the
// time that the next one takes, up to maxSlowLogin.
const (
	slowLogin    = 20 * time.Millisecond
	maxSlowLogin = 300 * time.Millisecond
)

func login(r *Request) error {
	var in struct {
		ID          *string `json:"admin_id"`
		Password    *string `json:"admin_pw"`
		DisplayName string  `json:"display_name"`
	}
	if err := r.decode(&in); err != nil {
		return err
	}
	if in.ID == nil || *in.ID == "" {
		return wire.Invalid("admin_id is required")
	}
	if in.Password == nil || *in.Password == "" {
		return wire.Invalid("admin_pw is required")
	}
	name, err := oneLine("display_name", in.DisplayName, 80)
	if err != nil {
		return err
	}
	a := r.api
	key := r.ip() + "\x00" + *in.ID
	if wait := a.Auth.Failures.Check(key); wait > 0 {
		return errTooMany(wait)
	}
	if !a.Auth.CheckPassword(*in.ID, *in.Password) {
		a.Auth.Failures.Allow(key)
		time.Sleep(min(maxSlowLogin, time.Duration(a.Auth.Failures.Level(key))*slowLogin))
		if err := r.audit("admin_login_failed", "anonymous", "", nil); err != nil {
			return err
		}
		return &statusError{status: fasthttp.StatusUnauthorized, text: "admin_id or admin_pw is wrong"}
	}
	issued, err := a.Auth.GrantAdmin(r.who, name)
	if err != nil {
		return err
	}
	if err := r.audit("admin_login_success", "admin", a.AdminID, nil); err != nil {
		return err
	}
	r.started(issued)
	return r.ok()
}

// audit records what belongs to no codelab.
func (r *Request) audit(action, kind, actor string, about map[string]string) error {
	ua := r.Request.Header.UserAgent()
	err := r.api.Audit.Record(&catalogpb.AuditRecord{
		Action: action, ActorType: kind, ActorId: actor, Ip: r.ip(), UserAgent: string(ua), Metadata: about,
		CreatedAt: r.api.Now().UnixMilli(),
	})
	if err != nil {
		return fmt.Errorf("audit %s: %w", action, err)
	}
	return nil
}

// started gives the browser its new session.
func (r *Request) started(i auth.Issued) {
	r.api.Live.SessionChanged(r.who.SessionID, i.SessionID)
	r.setCookie(auth.SessionCookie, i.Cookie, i.Expires, true)
	r.setCookie(auth.CSRFCookie, i.CSRF, i.Expires, false)
}

func (r *Request) setCookie(name, value string, expires time.Time, hidden bool) {
	c := fasthttp.AcquireCookie()
	defer fasthttp.ReleaseCookie(c)
	c.SetKey(name)
	c.SetValue(value)
	c.SetPath("/")
	c.SetExpire(expires)
	c.SetSameSite(fasthttp.CookieSameSiteLaxMode)
	c.SetHTTPOnly(hidden)
	c.SetSecure(r.api.SecureCookies)
	r.Response.Header.SetCookie(c)
}

func getSession(r *Request) error {
	lab := r.Query("codelab_id")
	g, ok := r.who.Strongest(r.api.AdminID, lab, r.registered)
	if !ok {
		return errLogin
	}
	if sid := r.who.SessionID; sid != "" && len(r.Request.Header.Cookie(auth.CSRFCookie)) == 0 {
		r.setCookie(auth.CSRFCookie, r.api.Auth.Signer.CSRF(sid), time.Unix(g.Expires, 0), false)
	}
	return r.json(struct {
		Sub       string  `json:"sub"`
		Role      string  `json:"role"`
		CodelabID *string `json:"codelab_id"`
		Exp       int64   `json:"exp"`
	}{g.Sub, g.Role, wire.OrNull(g.CodelabID), g.Expires})
}

func logout(r *Request) error {
	if sid := r.who.SessionID; sid != "" {
		if err := r.api.Auth.Sessions.End(sid); err != nil {
			return err
		}
		r.api.Live.SessionEnded(sid)
	}
	past := time.Unix(1, 0)
	r.setCookie(auth.SessionCookie, "", past, true)
	r.setCookie(auth.CSRFCookie, "", past, false)
	return r.noContent()
}
