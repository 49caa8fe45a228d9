package handler

import (
	"errors"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/durable"
	"atelier/actors/token"
	"atelier/actors/token/credential"
	"atelier/transport/httpapi"
)

// refusal is a response from the error table (RULES.md, "Refusals").
type refusal struct {
	status  int
	code    string
	content string
	retry   time.Duration
	oauth   string // OAuth's error code, at its token endpoint
}

func (e *refusal) Error() string { return e.content }

// body returns the response body.
func (e *refusal) body() any {
	ours := problem{e.code, e.content}
	if e.oauth == "" {
		return ours
	}
	return oauthProblem{e.oauth, e.content, ours}
}

// problem is the body of every refusal.
type problem struct {
	Code    string `json:"code"`
	Content string `json:"content"`
}

// oauthProblem is the body of the token endpoint's refusals (RFC 6749, section 5.2).
type oauthProblem struct {
	Error       string `json:"error"`
	Description string `json:"error_description" optional:"true"`
	problem
}

func invalid(content string) error {
	return &refusal{status: fasthttp.StatusBadRequest, code: "invalid_request", content: content}
}

var (
	errFormType     = &refusal{status: fasthttp.StatusUnsupportedMediaType, code: "invalid_request", content: "the body must be application/x-www-form-urlencoded"}
	errUnauthorized = &refusal{status: fasthttp.StatusUnauthorized, code: "unauthorized", content: "a valid bearer token is required"}
	errScope        = &refusal{status: fasthttp.StatusForbidden, code: "insufficient_scope", content: "this key's scopes do not allow the operation"}
	errNotForThem   = &refusal{status: fasthttp.StatusForbidden, code: "participant_not_authorized", content: "the caller is not allowed to act for this identity"}
	errNotAcked     = &refusal{status: fasthttp.StatusForbidden, code: "participant_not_authorized", content: "the caller has not acknowledged the security duties of receiving credentials"}
	errNoKey        = &refusal{status: fasthttp.StatusNotFound, code: "not_found", content: "no encryption key is published for this identity"}
)

// unavailable returns the response if nothing was recorded, or if it is uncertain whether anything
// was.
func unavailable(retry time.Duration) *refusal {
	return &refusal{status: fasthttp.StatusServiceUnavailable, code: "unavailable", content: "this cannot be recorded right now; try again", retry: retry}
}

// refusals maps token refusals to responses.
var refusals = map[token.Refusal]*refusal{
	token.NotFound:        {status: fasthttp.StatusNotFound, code: "token_not_found", content: "there is no such token"},
	token.BindingMismatch: {status: fasthttp.StatusForbidden, code: "binding_mismatch", content: "the token is bound to another checkout"},
	token.IsExpired:       {status: fasthttp.StatusGone, code: "token_expired", content: "the token has expired; tokenize again"},
	token.IsUsed:          {status: fasthttp.StatusGone, code: "token_used", content: "the token was used; tokenize again"},
	token.IsRevoked:       {status: fasthttp.StatusGone, code: "token_revoked", content: "the token was revoked, locked, or its checkout session has ended"},
	token.IsSessionEnded:  {status: fasthttp.StatusConflict, code: "session_ended", content: "the checkout session has ended"},
	token.IsConflict:      {status: fasthttp.StatusConflict, code: "idempotency_conflict", content: "this Idempotency-Key was used with another request"},
}

// refusalOf is the only mapping from errors to responses. known is false for unexpected errors.
func refusalOf(err error) (r *refusal, known bool) {
	var own *refusal
	var onTheWay *httpapi.Error
	var ofToken token.Refusal
	var shape *credential.Shape
	var refused *credential.Refused
	var rejected *durable.Rejection
	switch {
	case errors.As(err, &own):
		return own, true
	case errors.As(err, &onTheWay):
		return &refusal{status: onTheWay.Status, code: onTheWay.Code, content: onTheWay.Text, retry: onTheWay.Retry}, true
	case errors.As(err, &ofToken):
		return refusals[ofToken], true
	case errors.As(err, &shape):
		return &refusal{status: fasthttp.StatusBadRequest, code: "invalid_request", content: shape.Text}, true
	case errors.As(err, &refused):
		return &refusal{status: fasthttp.StatusUnprocessableEntity, code: "credential_invalid", content: refused.Text}, true
	case errors.As(err, &rejected):
		return &refusal{status: fasthttp.StatusBadRequest, code: "invalid_request", content: rejected.Text}, true
	case errors.Is(err, durable.ErrReadOnly):
		return unavailable(30 * time.Second), true
	case errors.Is(err, durable.ErrBusy), errors.Is(err, durable.ErrUnavailable), errors.Is(err, durable.ErrTimeout),
		errors.Is(err, durable.ErrClosed), errors.Is(err, durable.ErrFenced), errors.Is(err, durable.ErrQuarantined),
		errors.Is(err, durable.ErrConflict): // other operations on the same token or session were faster, repeatedly
		return unavailable(time.Second), true
	case errors.Is(err, token.ErrDamaged):
		return unavailable(5 * time.Minute), true
	}
	// After any other error it is uncertain whether anything was recorded.
	return unavailable(5 * time.Second), false
}
