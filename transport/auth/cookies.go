package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Names that are part of the API.
const (
	SessionCookie = "svc_session"
	CSRFCookie    = "svc_csrf"
	CSRFHeader    = "X-CSRF-Token"
	// DeviceCookie marks a browser in which the owner, a facilitator or an assistant has logged in,
	// so that others' failed logins do not lock it out.
	DeviceCookie = "svc_device"
	// SignInCookie is the cookie that a browser keeps while its person signs in at the identity
	// provider.
	SignInCookie = "svc_signin"
	// AttendeeCookie marks, per codelab, the browser of an attendee, so that others' wrong codes do
	// not lock it out.
	AttendeeCookie = "svc_attendee"
)

// DeviceLifetime is the lifetime of device cookies and attendee cookies.
const DeviceLifetime = 180 * 24 * time.Hour

// Account returns the keyed fingerprint of an admin account, which shows whether the password has
// changed. Without the secret it reveals nothing about the password.
func Account(secret, id, password string) []byte {
	m := hmac.New(sha256.New, derive(secret, "atelier admin account"))
	idSum := sha256.Sum256([]byte(id))
	m.Write(idSum[:])
	m.Write([]byte(password))
	return m.Sum(nil)
}

func derive(secret, label string) []byte {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte(label))
	return m.Sum(nil)
}

// Signer signs the cookies that browsers store. A Signer is immutable.
type Signer struct {
	session, device, attendee, csrf, signIn []byte
	personal                                map[Purpose][]byte
	now                                     func() time.Time
	parser                                  *jwt.Parser
}

// NewSigner returns a Signer with keys derived from one secret. The Signer's device cookies are
// valid for one account only, see Account.
func NewSigner(secret string, account []byte, now func() time.Time) *Signer {
	personal := map[Purpose][]byte{}
	for _, p := range purposes {
		personal[p] = derive(secret, "atelier personal secret for "+string(p))
	}
	return &Signer{
		session: derive(secret, "atelier session cookie"), csrf: derive(secret, "atelier csrf token"),
		attendee: derive(secret, "atelier attendee cookie"), signIn: derive(secret, "atelier sign-in cookie"),
		device: derive(string(derive(secret, "atelier device cookie")), string(account)), personal: personal, now: now,
		parser: jwt.NewParser(jwt.WithValidMethods([]string{"HS256"}), jwt.WithExpirationRequired(), jwt.WithTimeFunc(now)),
	}
}

// Cookie returns the signed reference to a session.
func (s *Signer) Cookie(sessionID string, expires time.Time) (string, error) {
	return s.sign(s.session, sessionID, expires)
}

// SessionID returns the session to which a cookie refers.
func (s *Signer) SessionID(cookie string) (string, error) { return s.open(s.session, cookie) }

// Device returns the cookie that marks a device, and its expiry.
func (s *Signer) Device(id string) (cookie string, expires time.Time, err error) {
	expires = s.now().Add(DeviceLifetime)
	cookie, err = s.sign(s.device, id, expires)
	return cookie, expires, err
}

// DeviceID returns the device marked by a cookie, or "".
func (s *Signer) DeviceID(cookie string) string {
	id, err := s.open(s.device, cookie)
	if err != nil {
		return ""
	}
	return id
}

// SignIn returns the cookie for a sign-in at the identity provider, and its expiry. attempt is the
// cookie's content, and life is its lifetime.
func (s *Signer) SignIn(attempt []byte, life time.Duration) (cookie string, expires time.Time, err error) {
	expires = s.now().Add(life)
	cookie, err = s.sign(s.signIn, base64.RawURLEncoding.EncodeToString(attempt), expires)
	return cookie, expires, err
}

// SignInOf returns the content of a sign-in cookie, or nil if the cookie is invalid or expired.
func (s *Signer) SignInOf(cookie string) []byte {
	id, err := s.open(s.signIn, cookie)
	if err != nil {
		return nil
	}
	attempt, err := base64.RawURLEncoding.DecodeString(id)
	if err != nil {
		return nil
	}
	return attempt
}

// Attendee returns the cookie that marks a browser as the browser of an attendee of this
// generation, and the cookie's expiry.
func (s *Signer) Attendee(id string, generation uint32) (cookie string, expires time.Time, err error) {
	expires = s.now().Add(DeviceLifetime)
	cookie, err = s.sign(s.attendee, fmt.Sprint(id, ".", generation), expires)
	return cookie, expires, err
}

// WasAttendee returns the id and the generation of the attendee marked by a cookie. For an invalid
// or expired cookie it returns "" and 0.
func (s *Signer) WasAttendee(cookie string) (id string, generation uint32) {
	mark, err := s.open(s.attendee, cookie)
	id, number, ok := strings.Cut(mark, ".")
	n, err2 := strconv.ParseUint(number, 10, 32)
	if err != nil || err2 != nil || !ok {
		return "", 0
	}
	return id, uint32(n)
}

func (s *Signer) sign(key []byte, id string, expires time.Time) (string, error) {
	return jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
		ID: id, IssuedAt: jwt.NewNumericDate(s.now()), ExpiresAt: jwt.NewNumericDate(expires),
	}).SignedString(key)
}

// errCookie is the only error for invalid cookies, regardless of the fault.
var errCookie = errors.New("cookie does not verify")

func (s *Signer) open(key []byte, cookie string) (string, error) {
	if len(cookie) > 1024 {
		return "", errCookie
	}
	var c jwt.RegisteredClaims
	if _, err := s.parser.ParseWithClaims(cookie, &c, func(*jwt.Token) (any, error) { return key, nil }); err != nil || c.ID == "" {
		return "", errCookie
	}
	return c.ID, nil
}

// csrfToken is the token that pages send when they act in a session.
type csrfToken [43]byte

// CSRF returns a session's CSRF token.
func (s *Signer) CSRF(sessionID string) string {
	t := s.csrfOf(sessionID)
	return string(t[:])
}

func (s *Signer) csrfOf(sessionID string) (t csrfToken) {
	m := hmac.New(sha256.New, s.csrf)
	m.Write([]byte(sessionID))
	base64.RawURLEncoding.Encode(t[:], m.Sum(nil))
	return t
}

// CSRF returns the CSRF token of the caller's session, or "" without a session.
func (i *Identity) CSRF() string {
	if i.csrf == nil {
		return ""
	}
	return string(i.csrf[:])
}

// ShowsCSRF reports whether a request has its session's token in both header and cookie. It
// compares in constant time.
func (i *Identity) ShowsCSRF(header, cookie []byte) bool {
	return i.csrf != nil && hmac.Equal(i.csrf[:], header) && hmac.Equal(i.csrf[:], cookie)
}
