package api

import "github.com/valyala/fasthttp"

// Names fixed by the API.
const (
	sessionCookie = "svc_session"
	csrfCookie    = "svc_csrf"
	csrfHeader    = "X-CSRF-Token"
)

// Session contains a person's cookies. The zero value is anonymous.
type Session struct {
	session, csrf string
}

// Cookie returns the value of the Cookie header, "" if anonymous.
func (s Session) Cookie() string {
	if s.session == "" {
		return ""
	}
	return sessionCookie + "=" + s.session + "; " + csrfCookie + "=" + s.csrf
}

// Headers returns the header lines of the session, each with its CR LF, for a client that writes
// its own requests. It returns "" if anonymous.
func (s Session) Headers() string {
	if s.session == "" {
		return ""
	}
	return "Cookie: " + s.Cookie() + "\r\n" + csrfHeader + ": " + s.csrf + "\r\n"
}

// sign adds this session to the request.
func (s Session) sign(req *fasthttp.Request) {
	if s.session == "" {
		return
	}
	req.Header.Set(fasthttp.HeaderCookie, s.Cookie())
	if !req.Header.IsGet() {
		req.Header.Set(csrfHeader, s.csrf)
	}
}

// renewed returns the session with the cookies that a response sets.
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
