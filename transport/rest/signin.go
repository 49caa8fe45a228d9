package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/url"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/people"
	"atelier/transport/auth"
	"atelier/transport/auth/oidc"
	"atelier/transport/httpapi"
)

// SignIn is the identity provider with which people can sign in.
type SignIn struct {
	Provider *oidc.Provider
	// Label is the text of the sign-in button. Role is the role of people who sign in for the first
	// time.
	Label, Role string
}

type oidcInfo struct {
	Label string `json:"label" doc:"The text of the button."`
}

func (s *SignIn) info() *oidcInfo {
	if s == nil {
		return nil
	}
	return &oidcInfo{s.Label}
}

var errNoProvider = &httpapi.Error{Status: 404, Text: "this server has no identity provider"}

const (
	// signInPath is the path of the sign-in cookie, which the browser sends only there.
	signInPath = "/api/login/oidc"
	// SignInCallback is the path to which the provider redirects browsers.
	SignInCallback = signInPath + "/callback"
	// signInTime is the time limit for all requests to the provider during one request of a
	// browser.
	signInTime = 25 * time.Second
	// afterSignIn is the default page after a sign-in.
	afterSignIn = "/admin"
)

// beginSignIn redirects to the provider.
func beginSignIn(r *Request) error {
	s := r.api.SignIn
	if s == nil {
		return errNoProvider
	}
	ctx, cancel := context.WithTimeout(context.Background(), signInTime)
	defer cancel()
	to := oidc.Path(r.Query("to"), afterSignIn)
	address, attempt, err := s.Provider.Begin(ctx, to, oidc.Caller{Address: r.ip(), Device: r.device()})
	if err != nil {
		return r.notSignedIn(to, err)
	}
	var kept bytes.Buffer
	enc := json.NewEncoder(&kept)
	enc.SetEscapeHTML(false) // otherwise each & in a path becomes six bytes, and the cookie too large
	if err := enc.Encode(attempt); err != nil {
		return err
	}
	cookie, expires, err := r.api.Auth.Signer.SignIn(kept.Bytes(), oidc.Life)
	if err != nil {
		return err
	}
	r.keepSignIn(cookie, expires)
	r.leadTo(address)
	return nil
}

// finishSignIn creates a session for a person who returns from the provider. The session has a new
// id, even if the browser already had a session.
func finishSignIn(r *Request) error {
	s := r.api.SignIn
	if s == nil {
		return errNoProvider
	}
	if r.IsHead() { // a HEAD request must not use up the provider's code
		return r.NoContent()
	}
	var attempt oidc.Attempt
	if kept := r.api.Auth.Signer.SignInOf(string(r.Cookie(auth.SignInCookie))); json.Unmarshal(kept, &attempt) != nil {
		attempt = oidc.Attempt{}
	}
	to := oidc.Path(attempt.To, afterSignIn)
	r.keepSignIn("", time.Unix(1, 0))
	ctx, cancel := context.WithTimeout(context.Background(), signInTime)
	defer cancel()
	charged := false
	login := r.api.Auth.Failures.Attempt(&auth.Identity{}, attempt.Device, r.ip(), signInPath)
	id, err := s.Provider.Finish(ctx, attempt, oidc.Answer{
		State: r.Query("state"), Code: r.Query("code"), Error: r.Query("error"), Issuer: r.Query("iss"),
	}, oidc.Caller{Address: r.ip(), Charge: func() bool {
		charged = login.Charge() == 0
		return charged
	}})
	if charged && (err == nil || errors.Is(err, oidc.Away)) {
		login.Right()
	}
	if err != nil {
		return r.notSignedIn(to, err)
	}
	p, _, err := r.askPeople(people.SignIn{Issuer: id.Issuer, Subject: id.Subject, Login: id.Email, Name: id.Name, Role: s.Role})
	if err != nil {
		return r.notSignedIn(to, err)
	}
	if err := r.letIn(auth.Login{Person: p}); err != nil {
		return err
	}
	r.leadTo(r.prefix().At(to))
	return nil
}

// refusals lists errors for which the app has a text, with their codes.
var refusals = []struct {
	err error
	why string
}{
	{people.ErrDisabled, "disabled"}, {people.ErrDeleted, "deleted"}, {people.ErrOtherLogin, "other_login"},
	{people.ErrNoLogin, "no_login"}, {people.ErrFull, "full"},
}

// notSignedIn redirects to the sign-in page with a reason. For errors of the server itself it sends
// the usual error response.
func (r *Request) notSignedIn(to string, err error) error {
	var why string
	var reason oidc.Reason
	if errors.As(err, &reason) {
		why = string(reason)
	}
	for _, known := range refusals {
		if errors.Is(err, known.err) {
			why = known.why
		}
	}
	if why == "" {
		return err
	}
	level := slog.LevelInfo
	switch {
	// Failures that anybody can cause without the provider are not recorded, so that the audit
	// trail does not grow.
	case errors.Is(err, oidc.Expired), errors.Is(err, oidc.Busy), errors.Is(err, oidc.ErrPaused):
		level = slog.LevelDebug
	case errors.Is(err, oidc.Away):
	// These failures are counted, and the audit trail contains only their number per minute and
	// address.
	case errors.Is(err, oidc.Invalid), errors.Is(err, oidc.Denied):
		if r.api.SignInFailed != nil {
			r.api.SignInFailed(why, r.ip())
		}
	default:
		if err := r.audit("admin_login_failed", "anonymous", "", map[string]string{"by": "oidc", "why": why}); err != nil {
			return err
		}
	}
	text := err.Error() // may quote the provider's answer
	r.api.Logger.Log(context.Background(), level, "a sign-in with the identity provider was refused", "why", why, "error", text[:min(len(text), 200)])
	r.leadTo(r.prefix().At("/login?") + url.Values{"why": {why}, "next": {to}}.Encode())
	return nil
}

// leadTo redirects the browser.
func (r *Request) leadTo(address string) {
	r.Response.Header.Set("Location", address)
	r.Response.Header.Set("Cache-Control", "no-store")
	r.SetStatusCode(fasthttp.StatusFound)
}

// keepSignIn sets the sign-in cookie. The cookie is Lax, because browsers do not send Strict
// cookies when they return from another site.
func (r *Request) keepSignIn(value string, expires time.Time) {
	c := r.cookie(auth.SignInCookie, value, expires)
	defer fasthttp.ReleaseCookie(c)
	c.SetPath(r.prefix().At(signInPath))
	c.SetHTTPOnly(true)
	c.SetSameSite(fasthttp.CookieSameSiteLaxMode)
	r.Response.Header.SetCookie(c)
}
