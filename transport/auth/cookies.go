package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Names fixed by the interface.
const (
	SessionCookie = "svc_session"
	CSRFCookie    = "svc_csrf"
	CSRFHeader    = "X-CSRF-Token"
)

// Signer signs the references that browsers hold. Immutable.
type Signer struct {
	sign, csrf []byte
	now        func() time.Time
	parser     *jwt.Parser
}

// NewSigner derives its keys from one secret.
func NewSigner(secret string, now func() time.Time) *Signer {
	derive := func(label string) []byte {
		m := hmac.New(sha256.New, []byte(secret))
		m.Write([]byte(label))
		return m.Sum(nil)
	}
	return &Signer{
		sign: derive("atelier session cookie"), csrf: derive("atelier csrf token"), now: now,
		parser: jwt.NewParser(jwt.WithValidMethods([]string{"HS256"}), jwt.WithExpirationRequired(), jwt.WithTimeFunc(now)),
	}
}

// Cookie returns the signed reference to a session.
func (s *Signer) Cookie(sessionID string, expires time.Time) (string, error) {
	return jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
		ID: sessionID, IssuedAt: jwt.NewNumericDate(s.now()), ExpiresAt: jwt.NewNumericDate(expires),
	}).SignedString(s.sign)
}

// errCookie is the only thing told about a cookie that is not good.
var errCookie = errors.New("cookie does not verify")

// SessionID returns the session a cookie refers to.
func (s *Signer) SessionID(cookie string) (string, error) {
	if len(cookie) > 1024 {
		return "", errCookie
	}
	var c jwt.RegisteredClaims
	if _, err := s.parser.ParseWithClaims(cookie, &c, func(*jwt.Token) (any, error) { return s.sign, nil }); err != nil || c.ID == "" {
		return "", errCookie
	}
	return c.ID, nil
}

// CSRF returns the token that belongs to a session.
func (s *Signer) CSRF(sessionID string) string {
	m := hmac.New(sha256.New, s.csrf)
	m.Write([]byte(sessionID))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// CheckCSRF compares in constant time.
func (s *Signer) CheckCSRF(sessionID, token string) bool {
	return hmac.Equal([]byte(s.CSRF(sessionID)), []byte(token))
}
