package rest

import (
	"errors"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"atelier/actors/durable"
	"atelier/transport/wire"
)

// statusError is an error of the transport itself.
type statusError struct {
	status int
	text   string
	retry  time.Duration
}

func (e *statusError) Error() string { return e.text }

var (
	errLogin       = &statusError{status: fasthttp.StatusUnauthorized, text: "login required"}
	errForbidden   = &statusError{status: fasthttp.StatusForbidden, text: "access denied"}
	errCSRF        = &statusError{status: fasthttp.StatusForbidden, text: "the X-CSRF-Token header is missing or does not belong to this session"}
	errMediaType   = &statusError{status: fasthttp.StatusUnsupportedMediaType, text: "the body must be application/json"}
	errMultipart   = &statusError{status: fasthttp.StatusUnsupportedMediaType, text: "the body must be multipart/form-data"}
	errBodyTooBig  = &statusError{status: fasthttp.StatusRequestEntityTooLarge, text: "the body is too large"}
	errNoOperation = &statusError{status: fasthttp.StatusNotFound, text: "there is no such operation"}
	errMethod      = &statusError{status: fasthttp.StatusMethodNotAllowed, text: "this method is not allowed here"}
)

// Refusal is an error with a status of its own; retry is when to try again, 0
// when that is not said.
func Refusal(status int, text string, retry time.Duration) error {
	return &statusError{status, text, retry}
}

func errTooMany(wait time.Duration) error {
	return &statusError{status: fasthttp.StatusTooManyRequests, text: "too many requests; try again later", retry: wait}
}

// statusOf is the one table from errors to the status codes of the interface.
// Texts of rejections are meant for the caller; any other text stays here.
func statusOf(err error) (status int, text string, retry time.Duration) {
	var own *statusError
	var rejected *durable.Rejection
	switch {
	case errors.As(err, &own):
		return own.status, own.text, own.retry
	case errors.As(err, &rejected):
		switch rejected.Reason {
		case durable.Invalid:
			return fasthttp.StatusBadRequest, rejected.Text, 0
		case durable.Unauthenticated:
			return fasthttp.StatusUnauthorized, rejected.Text, 0
		case durable.Forbidden:
			return fasthttp.StatusForbidden, rejected.Text, 0
		case durable.Missing:
			return fasthttp.StatusNotFound, rejected.Text, 0
		case durable.Conflict:
			return fasthttp.StatusConflict, rejected.Text, 0
		case durable.Outdated:
			return fasthttp.StatusPreconditionFailed, rejected.Text, 0
		case durable.TooLarge:
			return fasthttp.StatusRequestEntityTooLarge, rejected.Text, 0
		}
	case errors.Is(err, durable.ErrReadOnly):
		return fasthttp.StatusServiceUnavailable, "the server is read-only for now: its disk is nearly full or has failed", 30 * time.Second
	case errors.Is(err, durable.ErrBusy):
		return fasthttp.StatusServiceUnavailable, "the server is busy; try again", time.Second
	case errors.Is(err, durable.ErrTooLarge):
		return errBodyTooBig.status, errBodyTooBig.text, 0
	case errors.Is(err, durable.ErrUnavailable), errors.Is(err, durable.ErrTimeout), errors.Is(err, durable.ErrQuarantined),
		errors.Is(err, durable.ErrClosed), errors.Is(err, durable.ErrFenced):
		return fasthttp.StatusServiceUnavailable, "this cannot be recorded right now; try again", 2 * time.Second
	}
	return fasthttp.StatusInternalServerError, "internal error", 0
}

// fail answers an error.
func (r *Request) fail(err error) {
	status, text, retry := statusOf(err)
	if status >= 500 && status != fasthttp.StatusServiceUnavailable {
		r.api.Logger.Error("request failed", "request_id", r.id, "operation", r.operation(), "error", err)
	}
	r.Response.ResetBody()
	r.Response.Header.Del("X-Codelab-Seq") // an error shows no state
	switch status {
	case fasthttp.StatusUnauthorized, fasthttp.StatusForbidden:
		r.api.denied(r, status)
	}
	writeError(&r.Response, status, text, retry)
}

func writeError(res *fasthttp.Response, status int, text string, retry time.Duration) {
	res.SetStatusCode(status)
	if retry > 0 {
		res.Header.Set("Retry-After", strconv.Itoa(int((retry+time.Second-1)/time.Second)))
	}
	body, _ := wire.Codec.Marshal(struct {
		Error string `json:"error"`
	}{text})
	res.Header.SetContentType("application/json")
	res.SetBody(body)
}
