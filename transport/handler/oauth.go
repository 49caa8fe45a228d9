package handler

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"

	"github.com/valyala/fasthttp"

	"atelier/actors/participant"
	"atelier/transport/httpapi"
)

// accessToken is the token endpoint of OAuth 2.0 for the client_credentials grant (RFC 6749,
// section 4.4). The client authenticates with its participant id and the secret of one of its keys,
// in the form or by HTTP Basic.
func (c *call) accessToken() error {
	if len(c.Request.Header.ContentType()) == 0 || !c.Type("application/x-www-form-urlencoded") {
		return errFormType
	}
	b, err := c.readBody()
	if err != nil {
		return err
	}
	form, err := url.ParseQuery(string(b))
	if err != nil {
		return c.oauthError(fasthttp.StatusBadRequest, "invalid_request", "the form is malformed")
	}
	for _, name := range []string{"grant_type", "client_id", "client_secret", "scope"} {
		if len(form[name]) > 1 {
			return c.oauthError(fasthttp.StatusBadRequest, "invalid_request", name+" is given twice")
		}
	}
	switch form.Get("grant_type") {
	case "":
		return c.oauthError(fasthttp.StatusBadRequest, "invalid_request", "grant_type is required")
	case "client_credentials":
	default:
		return c.oauthError(fasthttp.StatusBadRequest, "unsupported_grant_type", "grant_type must be client_credentials")
	}
	id, secret := form.Get("client_id"), form.Get("client_secret")
	if basicID, basicSecret, ok := basicAuth(string(c.Request.Header.Peek("Authorization"))); ok {
		if form.Get("client_secret") != "" {
			return c.oauthError(fasthttp.StatusBadRequest, "invalid_request", "authenticate in the form or in the Authorization header, not in both")
		}
		if id != "" && id != basicID {
			return c.oauthError(fasthttp.StatusBadRequest, "invalid_request", "client_id in the form differs from the Authorization header")
		}
		id, secret = basicID, basicSecret
	}
	var p *participant.Participant
	keyID, ok := participant.KeyID(c.environment, secret)
	err = c.surely(func() error {
		view, err := c.participants()
		if err != nil {
			return err
		}
		if p = view.Authenticate(keyID, []byte(secret)); !ok || p == nil || p.Id != id || p.Environment != c.environment {
			return errUnauthorized
		}
		return nil
	})
	if errors.Is(err, errUnauthorized) {
		return c.oauthError(fasthttp.StatusUnauthorized, "invalid_client", "the client is unknown or its secret is wrong")
	}
	if err != nil {
		return err
	}
	c.who = p
	if wait := c.Limiter.Allow(p.Id); wait > 0 {
		return httpapi.ErrTooMany(wait)
	}
	for s := range strings.FieldsSeq(form.Get("scope")) {
		if !participant.HasScope(p, s) {
			return c.oauthError(fasthttp.StatusBadRequest, "invalid_scope", "the client does not have this scope")
		}
	}
	// A narrower scope is granted on request, because the token can be for a part of the client
	// that must not see credentials.
	scope := strings.Join(p.Scopes, " ")
	if asked := form.Get("scope"); strings.TrimSpace(asked) != "" {
		scope = strings.Join(scopesOf(p, asked), " ")
	}
	signed, err := c.sign(p, keyID, scope, c.Now())
	if err != nil {
		return err
	}
	c.Response.Header.Set("Pragma", "no-cache")
	return c.JSON(accessToken{signed, "Bearer", int(accessTokenLife.Seconds()), scope})
}

// accessToken is the response from the token endpoint (RFC 6749, section 5.1).
type accessToken struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type" const:"Bearer"`
	ExpiresIn   int    `json:"expires_in" range:"any"`
	Scope       string `json:"scope"`
}

// oauthError returns an error whose response has the members that OAuth clients expect (RFC 6749,
// section 5.2), together with the members of the handler's own errors.
func (c *call) oauthError(status int, name, description string) error {
	ours := "invalid_request"
	if status == fasthttp.StatusUnauthorized {
		ours = "unauthorized"
	}
	return &refusal{status: status, code: ours, content: description, oauth: name}
}

// basicAuth parses client_id and client_secret from a Basic header (RFC 6749, section 2.3.1: both
// are form-encoded inside it). ok is false for another scheme. Malformed credentials are returned
// as "", so that they match no client.
func basicAuth(header string) (id, secret string, ok bool) {
	scheme, value, ok := strings.Cut(header, " ")
	if !ok || !strings.EqualFold(scheme, "Basic") {
		return "", "", false
	}
	b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(value))
	if err != nil {
		return "", "", true // malformed credentials, but an attempt
	}
	id, secret, _ = strings.Cut(string(b), ":")
	if id, err = url.QueryUnescape(id); err != nil {
		return "", "", true
	}
	if secret, err = url.QueryUnescape(secret); err != nil {
		return "", "", true
	}
	return id, secret, true
}
