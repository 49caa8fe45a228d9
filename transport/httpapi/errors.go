package httpapi

import (
	"errors"
	"time"

	"github.com/valyala/fasthttp"
)

// Error is an error with an HTTP status. Its text is for the caller.
type Error struct {
	Status int
	// Code identifies the error in APIs with error codes.
	Code string
	Text string
	// Retry is the value of Retry-After; 0 omits it.
	Retry time.Duration
}

func (e *Error) Error() string { return e.Text }

// Refusal returns an Error without a code.
func Refusal(status int, text string, retry time.Duration) error {
	return &Error{Status: status, Text: text, Retry: retry}
}

// Refusals of the pipeline itself (transport/rest/RULES.md, "Ids, times, text and bodies").
var (
	ErrMediaType   = &Error{Status: fasthttp.StatusUnsupportedMediaType, Code: "invalid_request", Text: "the body must be application/json"}
	ErrEncoding    = &Error{Status: fasthttp.StatusUnsupportedMediaType, Code: "invalid_request", Text: "the body must not be encoded: Content-Encoding is not supported here"}
	ErrTooLarge    = &Error{Status: fasthttp.StatusRequestEntityTooLarge, Code: "invalid_request", Text: "the body is too large"}
	ErrBroken      = &Error{Status: fasthttp.StatusBadRequest, Code: "invalid_request", Text: "the body broke off"}
	ErrBusy        = &Error{Status: fasthttp.StatusServiceUnavailable, Code: "unavailable", Text: "too many requests are being read; try again", Retry: 2 * time.Second}
	ErrPath        = &Error{Status: fasthttp.StatusBadRequest, Code: "invalid_request", Text: "the path has an invalid percent-encoding"}
	ErrNoOperation = &Error{Status: fasthttp.StatusNotFound, Code: "not_found", Text: "there is no such operation"}
	ErrMethod      = &Error{Status: fasthttp.StatusMethodNotAllowed, Code: "method_not_allowed", Text: "this method is not allowed here"}
)

// ErrTooMany returns the error for a caller above a rate limit. wait is the value of Retry-After.
func ErrTooMany(wait time.Duration) error {
	return &Error{Status: fasthttp.StatusTooManyRequests, Code: "rate_limited", Text: "too many requests; try again later", Retry: wait}
}

// ErrPanic replaces the value of a panic.
var ErrPanic = errors.New("panic")
