package api

import "github.com/valyala/fasthttp"

// Names fixed by the interface.
const (
	sessionCookie = "svc_session"
	csrfCookie    = "svc_csrf"
	csrfHeader    = "X-CSRF-Token"
)

// Session is a person's cookies. The zero value is nobody.
type Session struct {
	session, csrf string
}

// Cookie is the value of the Cookie header, "" for nobody.
func (s Session) Cookie() string {
	if s.session == "" {
		return ""
	}
	return sessionCookie + "=" + s.session + "; " + csrfCookie + "=" + s.csrf
}

// Headers are the lines of the session for a client that writes its requests
// itself, each with its CR LF.
func (s Session) Headers() string {
	if s.session == "" {
		return ""
	}
	return "Cookie: " + s.Cookie() + "\r\n" + csrfHeader + ": " + s.csrf + "\r\n"
}

// sign makes the request one of this session.
func (s Session) sign(req *fasthttp.Request) {
	if s.session == "" {
		return
	}
	req.Header.Set(fasthttp.HeaderCookie, s.Cookie())
	if !req.Header.IsGet() {
		req.Header.Set(csrfHeader, s.csrf)
	}
}

// renewed is the session after an answer.
func (s Session) renewed(resp *fasthttp.Response) Session {
	cookie := fasthttp.AcquireCookie()
	defer fasthttp.ReleaseCookie(cookie)
	for _, raw := range resp.Header.Cookies() {
		if cookie.ParseBytes(raw) != nil {
			continue
		}
		switch string(cookie.Key()) {
		case sessionCookie:
			s.session = string(cookie.Value())
		case csrfCookie:
			s.csrf = string(cookie.Value())
		}
	}
	return s
}
